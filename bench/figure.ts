/** One line of the table: a figure of ours beside a baseline that was measured in the same run. */
export interface Figure {
  readonly figure: string;
  readonly unit: Unit;
  /** Null where nothing comparable exists: the bar stands alone then. */
  readonly baseline: { readonly of: string; readonly value: number } | null;
  readonly ours: number;
  /** What has to hold, of our figure or of its ratio to the baseline. Null for a figure that is only shown. */
  readonly bar: Bar | null;
}

export type Unit = 'ms' | 's' | 'a second' | 'MB' | 'bytes' | 'share' | 'count';

export interface Bar {
  readonly of: 'ours' | 'ratio';
  readonly is: 'below' | 'at most' | 'above' | 'at least' | 'exactly';
  readonly value: number;
}

/** What one file of `rows/` gives. `notes` say what was done, and what a figure does not show. */
export interface RowResult {
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  /** Figures at several sizes, in Markdown. */
  readonly tables?: readonly string[];
}

export interface RowOptions {
  /** Fewer rounds and smaller stores: for a first look. The bars are meant for a whole run. */
  readonly quick: boolean;
}

/** Ours over the baseline; null without a baseline, or where it is zero. */
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
