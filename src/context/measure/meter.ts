import type { ContextProfile, Measurement } from '../../ports/engine.ts';
import { tierOf } from './tiers.ts';

/** Uncorrected estimates of the four regions of a view. */
export interface Regions {
  readonly fixed: number;
  readonly stack: number;
  readonly tail: number;
  readonly volatile: number;
}

type Window = Pick<ContextProfile, 'windowTokens' | 'reserveTokens' | 'thresholds'>;

/** The one measurement of a view: estimates with the learned correction, plus the reserve for the answer. */
export function measure(regions: Regions, profile: Window, correction: number): Measurement {
  const fixed = Math.ceil(regions.fixed * correction);
  const stack = Math.ceil(regions.stack * correction);
  const tail = Math.ceil(regions.tail * correction);
  const volatile = Math.ceil(regions.volatile * correction);
  const parts = { fixed, stack, tail, volatile, reserve: profile.reserveTokens };
  return complete(parts, fixed + stack + tail + volatile, { profile, estimated: true });
}

/** The same view after the provider has counted it: exact, whatever the estimates were. */
export function withReported(measurement: Measurement, reported: number, profile: Window): Measurement {
  return reported > 0 ? complete(measurement, reported, { profile, estimated: false }) : measurement;
}

/** The same view with more tokens in its tail. */
export function grownBy(measurement: Measurement, tokens: number, profile: Window): Measurement {
  if (tokens === 0) return measurement;
  const input = measurement.used - measurement.reserve + tokens;
  return complete({ ...measurement, tail: measurement.tail + tokens }, input, { profile, estimated: true });
}

function complete(
  parts: Pick<Measurement, 'fixed' | 'stack' | 'tail' | 'volatile' | 'reserve'>,
  input: number,
  { profile, estimated }: { readonly profile: Window; readonly estimated: boolean },
): Measurement {
  const { fixed, stack, tail, volatile, reserve } = parts;
  const used = input + reserve;
  const ratio = used / profile.windowTokens;
  // The sections for the newest message are gone with the next one, so compaction cannot reduce them.
  const tier = tierOf((used - volatile) / profile.windowTokens, profile.thresholds);
  return { fixed, stack, tail, volatile, reserve, used, window: profile.windowTokens, ratio, tier, estimated };
}

export function regionTotal(regions: Regions): number {
  return regions.fixed + regions.stack + regions.tail + regions.volatile;
}
