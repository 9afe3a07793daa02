import { z } from 'zod';
import { FINISH_REASONS } from '../ports/model.ts';
import { oneLine } from '../util/text/foreign-text.ts';
import { cleanText } from '../util/text/text.ts';

/** What hooks may pass on and return. Plugins may be plain JavaScript, so everything from them is validated. */

/** Far more than people or models write at once. */
const MAX_TEXT = 1_000_000;
/** Limit for texts that people read. */
const MAX_SPOKEN = 200_000;
const MAX_REASON = 300;

const text = z
  .string()
  .max(MAX_TEXT)
  .transform((given) => given.toWellFormed());
const readable = z.string().max(MAX_SPOKEN).transform(cleanText);
const spoken = readable.refine((given) => given.trim() !== '', 'expected a text');
const reason = z
  .string()
  .default('')
  .transform((given) => oneLine(given.toWellFormed()).slice(0, MAX_REASON) || 'no reason given');
const refusal = <Kind extends string>(kind: Kind) => z.strictObject({ kind: z.literal(kind), reason });

const attachment = z.strictObject({
  kind: z.literal('attachment'),
  name: text,
  mediaType: text,
  sizeBytes: z.number().nonnegative(),
  reference: text,
});
const heard = { text, attachments: z.array(attachment) };

const count = z.number().nonnegative();
const tokens = {
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  hourCacheWriteTokens: count.exactOptional(),
};
const usage = z.strictObject({
  ...tokens,
  reasoningTokens: count.exactOptional(),
  ownPasses: z.strictObject(tokens).exactOptional(),
});
const call = z.strictObject({ callId: z.string(), tool: z.string(), input: z.json() });
const userContent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text }),
  z.strictObject({ kind: z.literal('image'), mediaType: z.string(), url: z.string() }),
]);
const toolResult = z.strictObject({ callId: z.string(), tool: z.string(), text, isError: z.boolean() });
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.array(userContent) }),
  z.strictObject({ role: z.literal('assistant'), text, calls: z.array(call) }),
  z.strictObject({ role: z.literal('tool'), results: z.array(toolResult) }),
]);

const importance = z.number().min(0).max(1).nullable();
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export const shapes = {
  inbound: {
    change: z.strictObject({ text: heard.text.exactOptional(), attachments: heard.attachments.exactOptional() }),
    result: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('keep'), ...heard }),
      refusal('drop'),
      z.strictObject({ kind: z.literal('answer'), text: spoken }),
    ]),
  },
  model: {
    change: z.strictObject({
      system: z.array(z.strictObject({ text, cacheBreak: z.boolean() })).exactOptional(),
      messages: z.array(message).exactOptional(),
    }),
    result: z.strictObject({
      text: text.default(''),
      calls: z.array(call).default([]),
      finish: z.enum(FINISH_REASONS).default('stop'),
      usage: usage.default(NO_USAGE),
    }),
  },
  tool: {
    change: z.strictObject({ input: z.json().exactOptional() }),
    result: z.strictObject({ text, isError: z.boolean().default(false) }),
  },
  post: {
    change: z.strictObject({ text: readable.exactOptional() }),
    result: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('post'), text: readable }),
      refusal('hold'),
    ]),
  },
  compaction: {
    change: z.strictObject({}),
    result: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('summary'), text: spoken }),
      refusal('refuse'),
    ]),
  },
  memory: {
    change: z.strictObject({ text: spoken.exactOptional(), importance: importance.exactOptional() }),
    result: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('save'), text: spoken, importance: importance.default(null) }),
      refusal('refuse'),
    ]),
  },
} as const;
