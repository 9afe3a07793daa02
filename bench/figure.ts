/** One row of the table: a figure of Strata next to a baseline measured in the same run. */
export interface Figure {
  readonly figure: string;
  readonly unit: Unit;
  /** Null if nothing comparable exists; the bar then applies to the figure alone. */
  readonly baseline: { readonly of: string; readonly value: number } | null;
  readonly ours: number;
  /** The condition for Strata's figure or its ratio to the baseline. Null for a figure that is only shown. */
  readonly bar: Bar | null;
}

export type Unit = 'ms' | 's' | 'a second' | 'MB' | 'bytes' | 'share' | 'count';

export interface Bar {
  readonly of: 'ours' | 'ratio';
  readonly is: 'below' | 'at most' | 'above' | 'at least' | 'exactly';
  readonly value: number;
}

/** The result of one file in `rows/`. `notes` say what was done, and what a figure does not show. */
export interface RowResult {
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  /** Figures at several sizes, in Markdown. */
  readonly tables?: readonly string[];
}

export interface RowOptions {
  /** Fewer rounds and smaller stores, for a first look. The bars apply to a full run. */
  readonly quick: boolean;
}

/** Strata's figure divided by the baseline; null without a baseline, or if it is zero. */
export function ratioOf({ baseline, ours }: Figure): number | null {
  return baseline === null || baseline.value === 0 ? null : ours / baseline.value;
}

/** Null without a bar. */
export function holds(figure: Figure): boolean | null {
  if (figure.bar === null) return null;
  const value = figure.bar.of === 'ours' ? figure.ours : ratioOf(figure);
  if (value === null) return false;
  switch (figure.bar.is) {
    case 'below':
      return value < figure.bar.value;
    case 'at most':
      return value <= figure.bar.value;
    case 'above':
      return value > figure.bar.value;
    case 'at least':
      return value >= figure.bar.value;
    case 'exactly':
      return value === figure.bar.value;
    default:
      return figure.bar.is satisfies never;
  }
}
