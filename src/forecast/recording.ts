import { entryMessageOf, hasToolTraffic } from '../context/entry-message.ts';
import { nearbySeq } from '../context/view.ts';
import type { Entry } from '../domain/message.ts';
import type { Conversation } from '../ports/store.ts';

/** A stored conversation with running totals, so that the tokens of any range are known without reading it. */
export interface Recording {
  readonly conversation: Conversation;
  readonly entries: readonly Entry[];
  /** Each has the total of all entries before the index. */
  readonly storedTokens: readonly number[];
  readonly viewTokens: readonly number[];
  readonly toolEntries: readonly number[];
}

export function recordingOf(conversation: Conversation, entries: readonly Entry[], timeZone: string): Recording {
  const replySeq = nearbySeq(entries);
  const options = { stubBytes: null, textTokens: Number.POSITIVE_INFINITY, replySeq, timeZone };
  return {
    conversation,
    entries,
    storedTokens: totals(entries, ({ tokens }) => tokens),
    viewTokens: totals(entries, (entry) => (entry.role === 'notice' ? 0 : entryMessageOf(entry, options).tokens)),
    toolEntries: totals(entries, (entry) => (hasToolTraffic(entry) ? 1 : 0)),
  };
}

function totals(entries: readonly Entry[], of: (entry: Entry) => number): readonly number[] {
  const sums = [0];
  let sum = 0;
  for (const entry of entries) {
    sum += of(entry);
    sums.push(sum);
  }
  return sums;
}

export function between(totals: readonly number[], from: number, end: number): number {
  return (totals[end] ?? 0) - (totals[from] ?? 0);
}
