import { reduceIfDue } from '../../context/fit/fit.ts';
import { lastReported } from '../../context/measure/calibration.ts';
import { withReported } from '../../context/measure/meter.ts';
import { createFixedPrefixBuilder } from '../../context/view/fixed-prefix.ts';
import { restingView } from '../../context/view/view.ts';
import type { ContextProfile, Measurement } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Services } from '../../services.ts';

/** Measures the view of a conversation as stored. */
export type MeasureView = (profile: ContextProfile, snapshot: ContextSnapshot) => MeasuredView;

export interface MeasuredView {
  readonly measurement: Measurement;
  /** Factor for estimates. */
  readonly correction: number;
  /** Tokens for people to read: a view above the window is not sent, so this is at most the window. */
  readonly shownTokens: number;
}

export function createMeasureView(services: Pick<Services, 'prompts' | 'agents'>): MeasureView {
  const prefixes = createFixedPrefixBuilder(services);
  return (profile, snapshot) => {
    const { calibration, revision } = snapshot.conversation;
    const { measurement, correction } = reduceIfDue(prefixes, restingView(profile, snapshot));
    // The provider counted the last view including the sections of its newest message; since then the view has only
    // grown.
    const reported = lastReported(calibration, { model: profile.modelId, revision }) ?? 0;
    const unseen = Math.ceil(snapshot.omitted.tokens * correction);
    const estimated = measurement.used - measurement.reserve + unseen;
    const whole = withReported(measurement, Math.max(reported, estimated), profile);
    return {
      measurement: { ...whole, estimated: true },
      correction,
      shownTokens: Math.min(whole.used, profile.windowTokens),
    };
  };
}
