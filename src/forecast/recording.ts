import type { AgentSettings } from '../config/schema.ts';
import { entryMessageOf, hasToolTraffic } from '../context/view/entry-message.ts';
import { cutPoints } from '../context/view/order.ts';
import { nearbySeq } from '../context/view/view.ts';
import type { Entry } from '../domain/message.ts';
import type { Conversation } from '../ports/store.ts';
import { totals } from '../util/totals.ts';
import type { RecordedQuestion } from './questions.ts';

/** A stored conversation with running totals, so that the tokens of any range are known without reading it. */
export interface Recording {
  readonly conversation: Conversation;
  readonly entries: readonly Entry[];
  /** 1 without entries. */
  readonly firstSeq: number;
  /** As in `totals`. */
  readonly storedTokens: readonly number[];
  readonly viewTokens: readonly number[];
  /** The same with shortened tool traffic. */
  readonly shortTokens: readonly number[];
  readonly toolEntries: readonly number[];
  /** The indices of the entries with which a view may begin after a cut, ascending. */
  readonly starts: readonly number[];
  /** Messages that ask about the past, by seq. */
  readonly questions: ReadonlyMap<number, RecordedQuestion>;
}

export type RecordingSettings = Pick<AgentSettings, 'timezone' | 'tool_results'>;

export interface RecordingOptions extends RecordingSettings {
  /** Default: none. */
  readonly questions?: Recording['questions'];
}

export function recordingOf(
  conversation: Conversation,
  entries: readonly Entry[],
  { timezone: timeZone, tool_results: { old_bytes: oldBytes }, questions = new Map() }: RecordingOptions,
): Recording {
  const replySeq = nearbySeq(entries);
  const tokensWith = (stubBytes: number | null) => (entry: Entry) => {
    const options = { stubBytes, textTokens: Number.POSITIVE_INFINITY, replySeq, timeZone };
    return entry.role === 'notice' ? 0 : entryMessageOf(entry, options).tokens;
  };
  return {
    conversation,
    entries,
    firstSeq: entries[0]?.seq ?? 1,
    storedTokens: totals(entries, ({ tokens }) => tokens),
    viewTokens: totals(entries, tokensWith(null)),
    shortTokens: totals(entries, tokensWith(oldBytes)),
    toolEntries: totals(entries, (entry) => (hasToolTraffic(entry) ? 1 : 0)),
    starts: cutPoints(entries, NOTHING_WAITS).map(({ entries: removed }) => removed),
    questions,
  };
}

const NOTHING_WAITS = { answeredUpto: 0, replyDueSeq: 0, replyDueFrom: 0 };
