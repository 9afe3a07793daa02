import { StrataError } from '../../domain/errors.ts';
import type { Assembly } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { correctionFor } from '../measure/calibration.ts';
import { measure, regionTotal } from '../measure/meter.ts';
import { partsOf } from '../view/breakdown.ts';
import type { FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { cutPointsOf } from '../view/order.ts';
import { FIRST_REDUCTION, NO_REDUCTION, type Reduction, reductionSteps } from '../view/reduce.ts';
import { buildView, type Fitted, type ViewRequest } from '../view/view.ts';

/** Tokens of the label and the message around the newest ask. */
const ASK_OVERHEAD = 64;

/** The view as it is, or with the first reduction if the background tier is reached. That reduction loses nothing. */
export function reduceIfDue(prefixes: FixedPrefixBuilder, request: ViewRequest): Fitted {
  const plain = evaluate(prefixes, request, NO_REDUCTION);
  return plain.measurement.tier === 'none' ? plain : evaluate(prefixes, request, FIRST_REDUCTION);
}

/**
 * Reduces the view to `limitTokens` when nothing more may leave the tail: step by step, the newest ask last. Throws
 * `WINDOW_TOO_SMALL` if even that is not enough.
 */
export function reduceToFit(prefixes: FixedPrefixBuilder, request: ViewRequest, limitTokens: number): Fitted {
  const { windowTokens, thresholds } = request.profile;
  const fitted = reduceBelow(prefixes, request, { limitTokens, wantedTokens: limitTokens * thresholds.emergency });
  const { used } = fitted.measurement;
  if (used > limitTokens) throw new StrataError('WINDOW_TOO_SMALL', { usedTokens: used, windowTokens });
  return fitted;
}

/** Reduces the view below the wanted tokens, as far as that is possible. */
export function reduceBelow(
  prefixes: FixedPrefixBuilder,
  request: ViewRequest,
  { limitTokens, wantedTokens: wanted }: { readonly limitTokens: number; readonly wantedTokens: number },
): Fitted {
  let fitted = evaluate(prefixes, request, FIRST_REDUCTION);
  let leastAskTokens = Number.POSITIVE_INFINITY;
  for (const step of reductionSteps(limitTokens)) {
    fitted = evaluate(prefixes, request, step.reduction);
    leastAskTokens = Math.max(1, Math.floor(step.askShare * wanted));
    if (fitted.measurement.used >= wanted)
      fitted = withShorterAsk(prefixes, fitted, { leastAskTokens, wanted }) ?? fitted;
    if (fitted.measurement.used < wanted) return fitted;
  }
  if (fitted.view.askTokens <= leastAskTokens + ASK_OVERHEAD) return fitted;
  return evaluate(prefixes, request, { ...fitted.reduction, askTokens: leastAskTokens });
}

/**
 * The view with fewer sections for its newest message if only these exceed `limitTokens`, so that no message has to
 * leave. Null if they do not.
 */
export function lighten(prefixes: FixedPrefixBuilder, fitted: Fitted, limitTokens: number): Fitted | null {
  const { used, volatile } = fitted.measurement;
  const roomTokens = limitTokens - (used - volatile) - 1;
  if (volatile === 0 || roomTokens < 0) return null;
  const volatileTokens = Math.floor(roomTokens / fitted.correction);
  return evaluate(prefixes, fitted.request, { ...fitted.reduction, volatileTokens });
}

/** What one text may take of a window that is too full, largest first. */
const TEXT_SHARES = [1 / 4, 1 / 8] as const;

/**
 * The view with its long texts and results of tools shortened, if that brings it below `fullTokens`, so that no message
 * has to leave. Null if it does not. What the running turn has read is shortened only if it would not fit alone.
 */
export function shortenTexts(
  prefixes: FixedPrefixBuilder,
  fitted: Fitted,
  { limitTokens, fullTokens }: { readonly limitTokens: number; readonly fullTokens: number },
): Fitted | null {
  const isBelow = ({ measurement }: Fitted) => measurement.used < fullTokens;
  const { request } = fitted;
  if (request.steps.length > 0) {
    const [mildest] = reductionSteps(limitTokens);
    if (mildest === undefined || fitted.measurement.used - mostToLeave(fitted) < fullTokens) return null;
    const shorter = evaluate(prefixes, request, mildest.reduction);
    return isBelow(shorter) ? shorter : null;
  }
  for (const share of TEXT_SHARES) {
    const textTokens = Math.floor(limitTokens * share);
    const shorter = evaluate(prefixes, request, { ...FIRST_REDUCTION, textTokens });
    if (isBelow(shorter)) return shorter;
  }
  return null;
}

/** The least of a view that a message too large for any view keeps, while messages before it stay. */
export const HUGE_ASK_SHARE = 1 / 4;

/**
 * The view with its newest message shortened, if it is too large even when everything before it leaves: then nothing has
 * to. Null if it is not, or if too little of it would remain.
 */
export function shortenAsk(prefixes: FixedPrefixBuilder, fitted: Fitted, fullTokens: number): Fitted | null {
  if (fitted.measurement.used - mostToLeave(fitted) < fullTokens) return null;
  const leastAskTokens = Math.ceil((fullTokens * HUGE_ASK_SHARE) / fitted.correction);
  const shorter = withShorterAsk(prefixes, fitted, { leastAskTokens, wanted: fullTokens });
  return shorter !== null && shorter.measurement.used < fullTokens ? shorter : null;
}

/** Corrected tokens that gaps can take out of the view, and the sections for the newest message. */
function mostToLeave({ request, measurement, correction }: Fitted): number {
  const last = cutPointsOf(request, correction).at(-1);
  return (last?.tokens ?? 0) * correction + measurement.volatile;
}

/** Shortens the newest ask by the excess, if enough of it would remain. */
function withShorterAsk(
  prefixes: FixedPrefixBuilder,
  fitted: Fitted,
  { leastAskTokens, wanted }: { readonly leastAskTokens: number; readonly wanted: number },
): Fitted | null {
  const over = Math.ceil((fitted.measurement.used - wanted) / fitted.correction) + 1;
  const askTokens = fitted.view.askTokens - over - ASK_OVERHEAD;
  if (askTokens < leastAskTokens) return null;
  return evaluate(prefixes, fitted.request, { ...fitted.reduction, askTokens });
}

export function evaluate(prefixes: FixedPrefixBuilder, request: ViewRequest, reduction: Reduction): Fitted {
  const view = buildView(prefixes, request, reduction);
  const correction = correctionFor(request.snapshot.conversation, request.profile.modelId);
  return { request, view, correction, reduction, measurement: measure(view.regions, request.profile, correction) };
}

/** From what an assembly was built; null for an engine that does not build its views here. */
export function fittedOf(assembly: Assembly): Fitted | null {
  return built.get(assembly) ?? null;
}

const built = new WeakMap<Assembly, Fitted>();

/** `parts` are computed only on access, so a turn does not wait for them. */
export function toAssembly(fitted: Fitted, snapshot: ContextSnapshot = fitted.request.snapshot): Assembly {
  const { view, measurement } = fitted;
  const assembly = {
    system: view.system,
    messages: view.messages,
    tools: view.tools,
    measurement,
    estimatedTokens: regionTotal(view.regions),
    get parts() {
      return partsOf(fitted);
    },
    snapshot,
    recalled: view.recalled,
  };
  built.set(assembly, fitted);
  return assembly;
}
