import { MEMORY_TOOL, SUMMARY_TOOL } from '../compaction/answer/answer.ts';
import { fillingLimit, limitFor } from '../compaction/answer/audit.ts';
import type { Reasoner } from '../compaction/ask/reasoning.ts';
import {
  condensedSize,
  MAX_WORDS,
  memoryRules,
  type SummarySize,
  summarySize,
  tokensOfWords,
} from '../compaction/job/answer-size.ts';
import { isStructured } from '../compaction/job/job.ts';
import { sideTokensFor, transcriptTokens } from '../compaction/job/room.ts';
import { headSpan, type Span, sourceTokens, tokensOf } from '../compaction/job/span.ts';
import type { AgentSettings } from '../config/schema.ts';
import type { Condensation } from '../context/cuts/plan.ts';
import { estimateBlock, estimateRequest, estimateText } from '../context/measure/tokens.ts';
import { renderSummary } from '../context/view/layers.ts';
import type { Entry, SummaryId } from '../domain/message.ts';
import type { ContextProfile } from '../ports/engine.ts';
import type { ToolSpec } from '../ports/model.ts';
import type { Summary } from '../ports/summary-store.ts';
import { promptSourceOf, type RenderedPrompt } from '../prompts/variables.ts';
import type { Services } from '../services.ts';
import { memoize } from '../util/async/memoize.ts';

export interface Summarising {
  readonly services: Pick<Services, 'prompts'>;
  readonly agent: AgentSettings;
  readonly profile: ContextProfile;
  /** The model that would write the summaries. */
  readonly reader: Reasoner;
  readonly lengths: Lengths;
}

/** The length of summaries of messages, and of summaries of summaries, as a share of their target length. */
export interface Lengths {
  readonly messages: number;
  readonly summaries: number;
}

/** A summary of the expected length, and the tokens of the call that would write it. */
export interface Written {
  readonly summary: Summary;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const TOOLS = [SUMMARY_TOOL, MEMORY_TOOL];

/** Summarises as much of the head of the entries as one call can read. */
export function writeSummary(
  context: Summarising,
  entries: readonly Entry[],
  { kind, hasStack }: { readonly kind: 'compact' | 'fill'; readonly hasStack: boolean },
): Written {
  const { reader, profile, agent } = context;
  const { windowTokens } = reader;
  const rules = memoryRules(windowTokens, []);
  const room = sizedOnce(context, 'room', () =>
    transcriptTokens(reader, compactor(context, { targetWords: MAX_WORDS, ...rules }), TOOLS),
  );
  const span = headSpan(entries, room, agent.timezone);
  const spanTokens = tokensOf(span.lines);
  const source = sourceTokens(span);
  const size = summarySize({ windowTokens, profile }, span);
  // The memories and summaries before a transcript soon take all of their room.
  const besideTokens = hasStack ? 2 * sideTokensFor(windowTokens, spanTokens) : 0;
  const limit = kind === 'compact' ? limitFor(source) : fillingLimit(source);
  return {
    ...written(
      context,
      { ...placeOf(span), level: 0 },
      Math.min(tokensOfWords(size.targetWords) * context.lengths.messages, limit),
    ),
    inputTokens: compactTokens(context, size) + spanTokens + besideTokens,
  };
}

function compactTokens(context: Summarising, size: SummarySize): number {
  return sizedOnce(context, JSON.stringify(size), () =>
    callTokens(context, compactor(context, size), { tools: TOOLS, task: 'compact' }),
  );
}

export function writeCondensed(context: Summarising, { parts: children, ...place }: Condensation): Written {
  const source = children.reduce((sum, { tokens }) => sum + tokens, 0);
  const { windowTokens } = context.reader;
  const words = condensedSize({ windowTokens, profile: context.profile }, source);
  const variables = { strict: '', instruction: '', targetWords: words, structured: isStructured(context) };
  const frameTokens = sizedOnce(context, `condenser ${words}`, () => {
    const prompt = context.services.prompts.render('condenser', variables, promptSourceOf(context.agent));
    return callTokens(context, prompt, { tools: [], task: 'condense' });
  });
  return {
    ...written(context, place, Math.min(tokensOfWords(words) * context.lengths.summaries, limitFor(source))),
    inputTokens: frameTokens + source,
  };
}

function placeOf({ fromSeq, toSeq }: Span): Pick<Summary, 'fromSeq' | 'toSeq'> {
  return { fromSeq, toSeq };
}

function compactor(context: Summarising, size: SummarySize): RenderedPrompt {
  const variables = { tools: true, strict: '', instruction: '', structured: isStructured(context), ...size };
  return context.services.prompts.render('compactor', variables, promptSourceOf(context.agent));
}

/** The same prompts and labels come again and again in one forecast. */
const sizesOf = memoize((_: Summarising) => new Map<string, number>(), new WeakMap());

function sizedOnce(context: Summarising, key: string, size: () => number): number {
  const known = sizesOf(context);
  const tokens = known.get(key) ?? size();
  known.set(key, tokens);
  return tokens;
}

/** The tokens of a call without the lines of its transcript. */
function callTokens(
  { services, agent }: Summarising,
  prompt: RenderedPrompt,
  { tools, task }: { readonly tools: readonly ToolSpec[]; readonly task: string },
): number {
  const frame = { nonce: '00000000', task, before: [], known: [], namesakes: [], lines: [] };
  const { text } = services.prompts.render('transcript', frame, promptSourceOf(agent));
  return estimateRequest({
    system: [{ text: prompt.text, cacheBreak: false }],
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    tools,
  });
}

/** One word takes about one token. */
const FILLER = 'word ';

function written(
  { services, agent }: Summarising,
  place: Pick<Summary, 'level' | 'fromSeq' | 'toSeq'>,
  targetTokens: number,
): Pick<Written, 'summary' | 'outputTokens'> {
  const { level, fromSeq, toSeq } = place;
  const id = `forecast-${level}-${fromSeq}-${toSeq}` as SummaryId;
  const layer = { id, level, fromSeq, toSeq, text: '' };
  const labelTokens = estimateBlock({ text: renderSummary(services, layer, promptSourceOf(agent)) });
  const text = FILLER.repeat(Math.max(1, Math.floor(targetTokens))).trimEnd();
  const tokens = labelTokens + estimateText(text);
  return { summary: { ...layer, ...BLANK, kind: 'summary', text, tokens }, outputTokens: estimateText(text) };
}

/** What a forecast leaves open about a summary. */
const BLANK = {
  conversationId: 0,
  model: null,
  promptHash: null,
  stale: false,
  supersededBy: null,
  createdAt: 0,
  lost: {},
} as const;
