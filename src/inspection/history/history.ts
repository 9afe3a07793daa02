import type { Entry, SeqRange } from '../../domain/message.ts';
import type { Measurement } from '../../ports/engine.ts';
import { between, totals } from '../../util/totals.ts';
import type { LayerSpan } from './layers.ts';

/** The view as it was when an entry was the newest. */
export interface Moment {
  readonly seq: number;
  readonly at: number;
  readonly fixed: number;
  readonly stack: number;
  readonly tail: number;
  readonly reserve: number;
  readonly used: number;
  /** The first entry that was in the view word for word. */
  readonly tailFrom: number;
  readonly layerIds: readonly string[];
}

export interface HistoryInput {
  /** Consecutive, ascending. */
  readonly entries: readonly Pick<Entry, 'seq' | 'at' | 'tokens' | 'role'>[];
  readonly layers: readonly LayerSpan[];
  readonly measurement: Pick<Measurement, 'fixed' | 'reserve' | 'window'>;
  /** Factor for the stored estimates. */
  readonly correction: number;
  readonly contextFrom: number;
}

const NO_LAYERS: readonly string[] = [];

/**
 * The view after each entry, from what is stored: layers count from their first text until a higher one replaced them.
 * Today's instructions stand for those of that time, and gaps that were filled since are unknown, so it is an estimate.
 */
export function momentsOf({ entries, layers, measurement, correction, contextFrom }: HistoryInput): readonly Moment[] {
  const { fixed, reserve, window } = measurement;
  const before = totals(entries, ({ tokens }) => tokens);
  const [first] = entries;
  return entries.map(({ seq, at }, index) => {
    const live = layers.filter((layer) => layer.since <= at && (layer.leftAt === null || layer.leftAt > at));
    const covered = live.reduce((upto, layer) => Math.max(upto, layer.toSeq), contextFrom - 1);
    const tailFrom = Math.max(covered + 1, first?.seq ?? 1);
    const start = Math.min(index + 1, Math.max(0, tailFrom - (first?.seq ?? 1)));
    const raw = between(before, start, index + 1);
    const stack = Math.ceil(live.reduce((sum, layer) => sum + layer.tokens, 0) * correction);
    const tail = Math.max(0, Math.min(Math.ceil(raw * correction), window - fixed - reserve - stack));
    const layerIds = live.length === 0 ? NO_LAYERS : live.map(({ id }) => id);
    return { seq, at, fixed, stack, tail, reserve, used: fixed + stack + tail + reserve, tailFrom, layerIds };
  });
}

export function within(moments: readonly Moment[], { fromSeq, toSeq }: SeqRange): readonly Moment[] {
  return moments.filter(({ seq }) => seq >= fromSeq && seq <= toSeq);
}

/** At most `count` of them, evenly spread, always with the newest. */
export function sampled(moments: readonly Moment[], count: number): readonly Moment[] {
  if (moments.length <= count) return moments;
  const step = (moments.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => moments[Math.round(index * step)]).filter(
    (moment) => moment !== undefined,
  );
}

/** Tokens that an entry of the recent past added on average; 0 without entries. */
export function growthPerEntry(entries: HistoryInput['entries'], correction: number): number {
  const recent = entries.slice(-RECENT);
  const sum = recent.reduce((total, { tokens }) => total + tokens, 0);
  return recent.length === 0 ? 0 : (sum * correction) / recent.length;
}

/** How many entries tell the present growth. */
export const RECENT = 50;
