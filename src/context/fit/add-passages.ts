import type { PassageSection } from '../../ports/sections.ts';
import { estimateText } from '../measure/tokens.ts';
import { autoRecallTokens } from '../profile/shares.ts';
import type { FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { reductionSteps } from '../view/reduce.ts';
import type { Fitted, ViewRequest } from '../view/view.ts';
import { evaluate } from './fit.ts';
import { fitPassages, isPassages } from './passages.ts';
import { shortenTail } from './shorter-tail.ts';

/** The request without passages, which are chosen when the rest of the view is known. */
export function withoutPassages<Request extends Pick<ViewRequest, 'volatile'>>(request: Request): Request {
  return { ...request, volatile: request.volatile.filter((section) => !isPassages(section)) };
}

/**
 * Adds earlier messages, below the emergency threshold. If the view has no space for their share, this one request
 * leaves out the oldest messages of its tail, or shortens long ones.
 */
export function addPassages(
  prefixes: FixedPrefixBuilder,
  fitted: Fitted,
  { volatile }: Pick<ViewRequest, 'volatile'>,
): Fitted {
  const section = volatile.find(isPassages);
  if (section === undefined || fitted.reduction.volatileTokens === 0) return fitted;
  const roomy = withSpace(prefixes, fitted, section);
  const shown = passagesIn(roomy, section, emergencyTokens(roomy) - roomy.measurement.used);
  if (shown === null) return fitted;
  const { request, reduction } = roomy;
  return evaluate(prefixes, { ...request, volatile: [shown, ...request.volatile] }, reduction);
}

function passagesIn({ request, correction }: Fitted, section: PassageSection, spaceTokens: number) {
  const { profile, snapshot, volatile } = request;
  const firstSeq = snapshot.tail[0]?.seq ?? snapshot.conversation.nextSeq;
  return fitPassages(section, { profile, others: volatile, freeTokens: spaceTokens / correction, firstSeq });
}

function withSpace(prefixes: FixedPrefixBuilder, fitted: Fitted, section: PassageSection): Fitted {
  const { request, correction, measurement } = fitted;
  const wantedTokens = emergencyTokens(fitted) - spaceFor(fitted, section);
  if (measurement.used <= wantedTokens) return fitted;
  const reduction = { ...fitted.reduction, volatileTokens: Number.POSITIVE_INFINITY };
  const { fitting } = shortenTail(request, {
    correction,
    wantedTokens,
    evaluate: (shorter) => evaluate(prefixes, shorter, reduction),
  });
  return fitting ?? withShorterTexts(prefixes, request, wantedTokens) ?? fitted;
}

/** What the passages would take of their share. A larger share than the usual one gets only free space. */
function spaceFor(fitted: Fitted, section: PassageSection): number {
  const { profile } = fitted.request;
  const shown = passagesIn(fitted, section, profile.windowTokens);
  const tokens = shown === null ? 0 : estimateText(shown.text);
  return Math.min(tokens, autoRecallTokens(profile.windowTokens)) * fitted.correction;
}

function withShorterTexts(prefixes: FixedPrefixBuilder, request: ViewRequest, wantedTokens: number): Fitted | null {
  for (const { reduction } of reductionSteps(request.profile.windowTokens)) {
    if (reduction.volatileTokens === 0) return null;
    const fitted = evaluate(prefixes, request, reduction);
    if (fitted.measurement.used <= wantedTokens) return fitted;
  }
  return null;
}

function emergencyTokens({ request: { profile } }: Fitted): number {
  return profile.windowTokens * profile.thresholds.emergency;
}
