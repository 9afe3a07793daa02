import type { Entry } from '../../domain/message.ts';
import { maxCandidates } from '../../memory/admission/candidate.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import { answerTokens } from './room.ts';
import { type Span, sourceTokens, tokensOf } from './span.ts';

/** A summary takes about this share of its source. A short source has a minimum: names and numbers need their space. */
const SUMMARY_SHARE = 0.2;
const CONDENSED_SHARE = 0.5;
const MIN_SUMMARY_TOKENS = 54;
const MAX_SHARE_OF_ANSWER = 0.5;
/** One memory as a tool call. */
const MEMORY_TOKENS = 80;
const WORDS_PER_TOKEN = 0.75;

/** The target length of a summary of messages. */
export function targetWords(windowTokens: number, sourceTokens: number): number {
  return wordsFor(windowTokens, sourceTokens * SUMMARY_SHARE);
}

/** The target length of a summary of summaries, which are dense already. */
export function condensedWords(windowTokens: number, sourceTokens: number): number {
  return wordsFor(windowTokens, sourceTokens * CONDENSED_SHARE);
}

/** The window of the model that writes, and the settings for the window that reads the summary. */
export interface Writer {
  readonly windowTokens: number;
  readonly profile: Pick<ContextProfile, 'stackShare' | 'windowTokens'>;
}

/** What a prompt asks for: a summary of this length, and the memories next to it. */
export interface SummarySize extends MemoryRules {
  readonly targetWords: number;
}

/** For measuring a prompt before its source is known. */
export const MAX_WORDS = 1000;
/** Before a shorter transcript, the examples would take more tokens than they are worth. */
const MIN_SOURCE_FOR_EXAMPLES = 4000;

/** What to ask for of these messages. */
export function summarySize({ windowTokens, profile }: Writer, span: Span): SummarySize {
  const { maxMemories, examples } = memoryRules(windowTokens, span.entries);
  return {
    targetWords: Math.min(maxStackedWords(profile), targetWords(windowTokens, sourceTokens(span))),
    maxMemories,
    examples: examples && tokensOf(span.lines) >= MIN_SOURCE_FOR_EXAMPLES,
  };
}

/** The words to ask for of summaries of this size. */
export function condensedSize({ windowTokens, profile }: Writer, sourceTokens: number): number {
  return Math.min(maxStackedWords(profile), condensedWords(windowTokens, sourceTokens));
}

export function tokensOfWords(words: number): number {
  return words / WORDS_PER_TOKEN;
}

/** At least this many summaries fit the stack's share of the window, so that few are condensed at a time. */
const STACKED_SUMMARIES = 5;

/** The maximum target length of a summary in this window. */
function maxStackedWords({ stackShare, windowTokens }: Pick<ContextProfile, 'stackShare' | 'windowTokens'>): number {
  const tokens = Math.max(MIN_SUMMARY_TOKENS, (stackShare * windowTokens) / STACKED_SUMMARIES);
  return Math.floor((tokens * WORDS_PER_TOKEN) / 10) * 10;
}

function wordsFor(windowTokens: number, wantedTokens: number): number {
  const most = answerTokens(windowTokens) * MAX_SHARE_OF_ANSWER;
  const tokens = Math.min(most, Math.max(MIN_SUMMARY_TOKENS, wantedTokens));
  return rounded(tokens * WORDS_PER_TOKEN);
}

function rounded(words: number): number {
  return Math.round(words / 10) * 10;
}

/** In a small window the transcript needs the space. */
const MIN_WINDOW_FOR_EXAMPLES = 8000;

export interface MemoryRules {
  readonly maxMemories: number;
  readonly examples: boolean;
}

export function memoryRules(windowTokens: number, entries: readonly Pick<Entry, 'role'>[]): MemoryRules {
  return {
    maxMemories: maxMemories(windowTokens, entries),
    examples: windowTokens >= MIN_WINDOW_FOR_EXAMPLES,
  };
}

/** As many memories as are accepted from these entries, if the answer has room for them. */
function maxMemories(windowTokens: number, entries: readonly Pick<Entry, 'role'>[]): number {
  const room = Math.floor((answerTokens(windowTokens) * MAX_SHARE_OF_ANSWER) / MEMORY_TOKENS);
  return Math.max(1, Math.min(maxCandidates(entries), room));
}
