import { MAX_TAIL_ENTRIES } from '../context/cuts/plan.ts';
import { measure } from '../context/measure/meter.ts';
import type { FixedPrefixBuilder } from '../context/view/fixed-prefix.ts';
import { recentTurnsFrom } from '../context/view/view.ts';
import type { ContextProfile, Measurement } from '../ports/engine.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';
import { between } from '../util/totals.ts';
import type { Recording } from './recording.ts';

/** A conversation at one moment of a forecast. */
export interface Moment {
  /** Number of stored entries. */
  readonly end: number;
  /** Index of the first entry of the tail. */
  readonly start: number;
  readonly stack: readonly Summary[];
}

export interface ViewContext {
  readonly recording: Recording;
  readonly profile: ContextProfile;
  readonly prefixes: FixedPrefixBuilder;
  /** Factor for estimates. */
  readonly correction: number;
}

/** What the store would return at this moment. */
export function snapshotAt({ recording }: Pick<ViewContext, 'recording'>, moment: Moment): ContextSnapshot {
  const { conversation, entries, firstSeq: first, storedTokens } = recording;
  const { start, end, stack } = moment;
  const from = Math.max(start, end - MAX_TAIL_ENTRIES);
  const nextSeq = first + end;
  const compactedUpto = first + start - 1;
  const { calibration } = conversation;
  let tail: ContextSnapshot['tail'] | null = null;
  return {
    conversation: {
      ...conversation,
      nextSeq,
      compactedUpto,
      contextFrom: first,
      extractedUpto: Math.max(compactedUpto, first - 1),
      // Nobody waits for a reply, and the provider has not counted this view.
      answeredUpto: nextSeq,
      replyDueSeq: 0,
      replyDueFrom: 0,
      calibration: calibration === null ? null : { ...calibration, revision: -1 },
    },
    stack,
    // Most moments need no more than the totals.
    get tail() {
      tail ??= entries.slice(from, end);
      return tail;
    },
    omitted: { entries: from - start, tokens: between(storedTokens, start, from) },
  };
}

/** The measurement of the view between two turns. From the first threshold on, older tool traffic is shortened. */
export function measureAt(context: ViewContext, moment: Moment): Measurement {
  const { recording, profile, prefixes, correction } = context;
  const { start, end, stack } = moment;
  const regions = {
    fixed: prefixes.prefix(profile, { correction, share: 1 }).tokens,
    stack: prefixes.layers(profile, stack, 0).reduce((sum, { tokens }) => sum + tokens, 0),
    tail: between(recording.viewTokens, start, end),
    volatile: 0,
  };
  const plain = measure(regions, profile, correction);
  if (plain.tier === 'none' || between(recording.toolEntries, start, end) === 0) return plain;
  const from = recentTurnsFrom(recording.entries, profile.toolResults, moment);
  const tail = between(recording.shortTokens, start, from) + between(recording.viewTokens, from, end);
  return measure({ ...regions, tail }, profile, correction);
}
