import type { Thresholds, Tier } from '../../ports/engine.ts';

/** The tier for a share of the window. A threshold is reached at exactly its value. */
export function tierOf(ratio: number, thresholds: Thresholds): Tier {
  if (ratio >= thresholds.emergency) return 'emergency';
  if (ratio >= thresholds.aggressive) return 'aggressive';
  return ratio >= thresholds.background ? 'background' : 'none';
}

/** Share of the tail's tokens that leaves the view at a tier. */
export const CUT_FRACTIONS = { background: 0.3, aggressive: 0.5, emergency: 0.5 } as const satisfies Record<
  Exclude<Tier, 'none'>,
  number
>;
