import { z } from 'zod';
import { EFFORTS } from '../ports/model.ts';
import { modelOrAuto, modelOrNothing, name } from './shapes.ts';

const share = z.number().gt(0).max(1);
export const tokens = z.int().positive();
const shareOrAuto = z.union([share, z.literal('auto')], {
  error: 'expected a share above 0 and at most 1, or "auto"',
});

/** Thresholds are shares of the window; their order is checked after the layers are merged. */
export const compaction = z.strictObject({
  background_threshold: share.describe(
    'Share of the window at which the oldest 30 % of the tail is summarised in the background',
  ),
  aggressive_threshold: share.describe('Share of the window at which the oldest 50 % is summarised'),
  emergency_threshold: share.describe(
    'Share of the window at which the oldest 50 % is removed from the view at once and summarised later',
  ),
  background_target: shareOrAuto.describe(
    'Share of the window that a compaction in the background leaves in use; "auto" takes 30 % of the tail, or more where the next compaction would follow too soon',
  ),
  aggressive_target: shareOrAuto.describe('The same from aggressive_threshold on; "auto" takes 50 % of the tail'),
  emergency_target: shareOrAuto.describe('The same for what is removed at once; "auto" removes 50 % of the tail'),
  message_threshold: z
    .int()
    .min(0)
    .describe('Number of messages after the last summary at which the oldest 30 % are summarised; 0 disables it'),
  fixed_share: shareOrAuto.describe(
    'Share of the window for tools and system sections, which are shortened to fit; "auto" is 0.3 in windows below 16000 tokens and 0.4 in larger ones, or less if the other shares need the space',
  ),
  stack_share: share.describe('Share of the window that summaries can fill before the oldest are condensed'),
  tail_share: shareOrAuto.describe(
    'Share of the window for the newest messages: no compaction removes them; "auto" keeps only the newest message and its answer',
  ),
  reserve_share: share.describe('Maximum share of the window that is reserved for the answer'),
  model: modelOrAuto.describe(
    'Model for summaries and memories, as provider:model; "auto" uses the model of the agent',
  ),
  summary_form: z
    .enum(['prose', 'structured'])
    .describe(
      'Form of summaries: "prose", or "structured" with sections for goal, constraints, progress, decisions, open topics, next steps and critical details',
    ),
  effort: z
    .enum(['auto', ...EFFORTS])
    .describe(
      'Reasoning effort of summaries and memories: none, minimal, low, medium, high, xhigh or max; "auto" leaves it to the provider',
    ),
  timeout_seconds: z.int().min(1).max(3600).describe('Timeout of one summarisation call'),
  idle_minutes: z.number().positive().describe('Idle time of a conversation after which its memories are extracted'),
});

export const memory = z.strictObject({
  recall_limit: z
    .int()
    .min(0)
    .max(50)
    .describe('Maximum number of memories added to the newest message; 0 disables recall'),
  share_public: z.boolean().describe("Lets public channels of a workspace read each other's public memories"),
});

export const recall = z.strictObject({
  tokens: z
    .union([z.int().min(0), z.literal('auto')], { error: 'expected a whole number, or "auto"' })
    .describe(
      'Maximum tokens of memories and earlier messages added to a new message; "auto" is 10 % of the window, up to 2000; 0 disables both',
    ),
  places: z
    .boolean()
    .describe(
      'Also adds earlier messages from the channel and its other public threads, if everyone who reads the answer could read them',
    ),
  rerank_model: modelOrNothing.describe(
    'Model that orders earlier messages, as provider:model with a base_url in [providers]; empty uses none',
  ),
  rerank_with: z
    .enum(['rerank', 'embeddings'])
    .describe('What its server offers: "rerank" for /rerank, "embeddings" for /embeddings'),
  rerank_timeout_ms: z
    .int()
    .min(10)
    .max(30_000)
    .describe('Milliseconds after which a reply continues without that model'),
});

export const toolResults = z.strictObject({
  recent_turns: z
    .int()
    .min(0)
    .describe('Number of recent turns whose tool results stay as they are when the view reaches background_threshold'),
  old_bytes: z
    .int()
    .min(50)
    .describe('Bytes that then remain of a tool result of an older turn; results up to twice as long stay whole'),
  blob_bytes: z.int().min(1000).describe('Size of a tool result above which it moves to the blob store'),
  recent_bytes: z
    .int()
    .min(100)
    .describe('Bytes that remain of it in the conversation, two thirds from its beginning; blob_read reads the rest'),
});

/** A section of one's own in the system prompt. Its text is here or in a file. */
export const section = z.strictObject({
  key: name.describe('Name of the section in /context'),
  text: z.string().optional().describe('Text of the section'),
  file: z.string().min(1).optional().describe('File with the text; relative to this file'),
  priority: z.int().min(0).max(100).optional().describe('From 0 to 100, by default 75; the lowest is cut first'),
  protected: z.boolean().optional().describe('Cut after everything that is not protected'),
  max_tokens: tokens.optional().describe('Maximum tokens of the section, by default 5000'),
});
