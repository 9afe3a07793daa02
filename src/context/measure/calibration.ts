import type { Calibration, Conversation } from '../../ports/store.ts';

/**
 * Ratios outside these limits are ignored: the provider truncated the prompt silently, or counts something else. Older
 * tokenizers count more than four times as much for scripts that they hardly know.
 */
const LOWEST_RATIO = 0.6;
const HIGHEST_RATIO = 5;
/**
 * Weight of a new sample after the first. It is high because the next request mostly repeats the last one: over
 * recorded conversations the 95th percentile of the error is below 2 %, compared with up to 15 % at a weight of 0.3.
 */
const WEIGHT = 0.7;
const MARGIN = 1.1;
const MARGIN_SAMPLES = 3;

export interface UsageReport {
  readonly model: string;
  /** `estimatedTokens` of the sent assembly. */
  readonly estimated: number;
  /** Input tokens of that one step, never a sum. Zero means that the provider did not report it. */
  readonly reported: number;
  /** The revision of the conversation whose view was sent. */
  readonly revision: number;
}

/** Updates the moving average of reported over estimated tokens with one step. A different model starts over. */
export function learn(calibration: Calibration | null, report: UsageReport): Calibration | null {
  const known = calibration?.model === report.model ? calibration : null;
  if (report.reported <= 0 || report.estimated <= 0) return calibration;
  const sample = clamp(report.reported / report.estimated);
  const samples = (known?.samples ?? 0) + 1;
  const weight = Math.max(WEIGHT, 1 / samples);
  return {
    model: report.model,
    ratio: clamp((1 - weight) * (known?.ratio ?? 1) + weight * sample),
    samples,
    lastInputTokens: report.reported,
    revision: report.revision,
  };
}

function clamp(ratio: number): number {
  return Math.min(HIGHEST_RATIO, Math.max(LOWEST_RATIO, ratio));
}

/** The factor for estimates of the model, with a safety margin while there are few samples. */
export function correctionFor({ calibration }: Pick<Conversation, 'calibration'>, model: string): number {
  if (calibration?.model !== model) return MARGIN;
  return calibration.samples < MARGIN_SAMPLES ? calibration.ratio * MARGIN : calibration.ratio;
}

/** The provider's last count if it is for this model and the view has not changed since; otherwise null. */
export function lastReported(
  calibration: Calibration | null,
  view: { readonly model: string; readonly revision: number },
): number | null {
  const current = calibration?.model === view.model && calibration.revision === view.revision;
  return current && calibration.lastInputTokens > 0 ? calibration.lastInputTokens : null;
}
