import type { Entry } from '../../domain/message.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { type CutLimits, type CutPoint, cutPoints, type Omitted } from '../view/order.ts';

/** More entries than any window holds: limits what it costs to open a conversation that was never compacted. */
export const MAX_TAIL_ENTRIES = 4000;

/** The range to remove from the tail, and its size. */
export interface Cut extends CutPoint {
  readonly fromSeq: number;
}

export interface CutRequest extends CutLimits {
  /** Share of the tail's tokens that should leave. */
  readonly fraction: number;
  /** More leaves where the share is less than so many tokens. */
  readonly atLeastTokens?: number;
  /** A cut of fewer tokens is not considered. Default 0. */
  readonly minTokens?: number;
  readonly omitted?: Omitted;
}

/** A cut at the end of a turn may miss the target by half before cuts between two messages are considered. */
const TOLERANCE = 0.5;

/**
 * Where to cut the tail so that about `fraction` of its tokens leave: at least one message and `minTokens`, never the
 * current turn. Null if no cut is possible.
 */
export function planCut(tail: readonly Entry[], request: CutRequest): Cut | null {
  const first = tail[0];
  if (first === undefined) return null;
  const omitted = request.omitted ?? { entries: 0, tokens: 0 };
  const total = tail.reduce((sum, entry) => sum + entry.tokens, omitted.tokens);
  const target = Math.max(total * request.fraction, request.atLeastTokens ?? 0);
  const { minTokens = 0 } = request;
  const points = cutPoints(tail, request, omitted).filter(({ tokens }) => tokens >= minTokens);
  const turnEnd = nearest(
    points.filter((point) => point.clean),
    target,
  );
  const anywhere = nearest(points, target);
  const chosen = turnEnd !== null && Math.abs(turnEnd.tokens - target) <= target * TOLERANCE ? turnEnd : anywhere;
  return chosen === null ? null : { ...chosen, fromSeq: first.seq - omitted.entries };
}

/** The cut closest to the target; of two equal ones the cleaner, then the later one. */
function nearest(points: readonly CutPoint[], target: number): CutPoint | null {
  let best: CutPoint | null = null;
  for (const point of points) {
    const difference = best === null ? -1 : Math.abs(point.tokens - target) - Math.abs(best.tokens - target);
    if (difference < 0 || (difference === 0 && (point.clean || best?.clean === false))) best = point;
  }
  return best;
}

/** Summaries to condense into one of the next level. */
export interface Condensation {
  readonly parts: readonly Summary[];
  readonly level: number;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The maximum number of summaries to condense at once, and the lengths of runs of one level that come first, best first. */
const MAX_PARTS = 4;
const RUN_LENGTHS = [4, 3, 2] as const;
/** Summaries of different levels are condensed together, so many at once, if the stack exceeds its share by this factor. */
const MIXED_PARTS = 3;
const MIXED_EXCESS = 1.5;

/**
 * The oldest run of summaries of one level if the stack exceeds its share. Long runs come before short ones, so that
 * detail fades evenly. If every level stands alone, the neighbours of the lowest levels are condensed together. Gaps and
 * stale summaries are not condensed. Null if there is nothing to do.
 */
export function planCondense(
  stack: readonly Summary[],
  budget: {
    /** Maximum share of the window for the stack. */
    readonly share: number;
    readonly windowTokens: number;
    /** Factor for estimates. */
    readonly correction: number;
  },
): Condensation | null {
  const tokens = stack.reduce((sum, item) => sum + item.tokens, 0) * budget.correction;
  if (tokens <= budget.share * budget.windowTokens) return null;
  const neighbours = runsOf(stack, () => true);
  const ofOneLevel = neighbours.flatMap((run) => runsOf(run, (previous, item) => previous.level === item.level));
  for (const length of RUN_LENGTHS) {
    const run = ofOneLevel.find((candidate) => candidate.length >= length);
    if (run !== undefined) return condensationOf(run.slice(0, MAX_PARTS));
  }
  if (tokens <= budget.share * budget.windowTokens * MIXED_EXCESS) return null;
  return condensationOf(lowest(neighbours.flatMap((run) => windowsOf(run, Math.min(run.length, MIXED_PARTS)))));
}

/** Of at least two parts; null if there are none. */
function condensationOf(parts: readonly Summary[]): Condensation | null {
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined) return null;
  const level = Math.max(...parts.map((part) => part.level)) + 1;
  return { parts, level, fromSeq: first.fromSeq, toSeq: last.toSeq };
}

/** Runs of neighbours that can be condensed; `joins` decides whether an item belongs to the run before it. */
function runsOf(
  stack: readonly Summary[],
  joins: (previous: Summary, item: Summary) => boolean,
): readonly (readonly Summary[])[] {
  const runs: Summary[][] = [];
  let run: Summary[] = [];
  for (const item of stack) {
    const previous = run.at(-1);
    const usable = item.kind === 'summary' && !item.stale;
    if (usable && previous !== undefined && previous.toSeq + 1 === item.fromSeq && joins(previous, item)) {
      run.push(item);
      continue;
    }
    run = usable ? [item] : [];
    runs.push(run);
  }
  return runs;
}

function windowsOf(run: readonly Summary[], length: number): readonly (readonly Summary[])[] {
  return length < 2 ? [] : run.slice(0, run.length - length + 1).map((_, index) => run.slice(index, index + length));
}

/** The neighbours whose highest level is the lowest; of equal ones the longest run, then the oldest. */
function lowest(candidates: readonly (readonly Summary[])[]): readonly Summary[] {
  const highest = (parts: readonly Summary[]) => Math.max(...parts.map((part) => part.level));
  return candidates.toSorted((a, b) => highest(a) - highest(b) || b.length - a.length)[0] ?? [];
}
