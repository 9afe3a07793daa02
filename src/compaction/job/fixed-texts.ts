import { shorten } from '../../context/measure/truncate.ts';
import type { SeqRange } from '../../domain/message.ts';
import type { Summary } from '../../ports/summary-store.ts';

/** Summaries that no model writes. Pure. */

/** Everything in the range was deleted. */
export function nothingLeft({ fromSeq, toSeq }: SeqRange): string {
  return `[System: nothing is left of the messages #${fromSeq} to #${toSeq}]`;
}

export function isNothingLeft({ text, fromSeq, toSeq }: Pick<Summary, 'text' | 'fromSeq' | 'toSeq'>): boolean {
  return text === nothingLeft({ fromSeq, toSeq });
}

/** The model refuses to summarise the range. */
export function notSummarised({ fromSeq, toSeq }: SeqRange): string {
  return `[System: the messages #${fromSeq} to #${toSeq} could not be summarised]`;
}

/** A shorter excerpt says nothing. */
const MIN_EXCERPT_TOKENS = 48;

/** The beginning and the end of each part, in about half of its tokens. */
export function shortened(parts: readonly Pick<Summary, 'text' | 'tokens'>[]): string {
  return parts
    .map(({ text, tokens }) => shorten(text, Math.max(MIN_EXCERPT_TOKENS, Math.floor(tokens / 2))))
    .join('\n');
}
