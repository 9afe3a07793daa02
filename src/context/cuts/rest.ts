import type { AssembleRequest } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { reduceBelow, reduceIfDue, shortenAsk, shortenTexts } from '../fit/fit.ts';
import { grownBy } from '../measure/meter.ts';
import type { FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { unstoredGap } from '../view/layers.ts';
import type { Fitted, ViewRequest } from '../view/view.ts';
import { type EmergencyPressure, planEmergency } from './depth.ts';
import { isDue } from './due.ts';
import { hasRoom } from './publication.ts';
import { hasReady, publishedView } from './ready.ts';

/** Gaps opened for one request: each takes half of the tail, so that this many take nearly all of it. */
export const MAX_GAPS = 8;

/**
 * The view between two turns, as the engine would send it: gaps exist in the answer only, and nothing is stored. While
 * a job is due it may exceed the background threshold; with nothing left to do it does not.
 */
export function viewAtRest(prefixes: FixedPrefixBuilder, request: ViewRequest): Fitted {
  const { windowTokens, thresholds } = request.profile;
  const fullTokens = windowTokens * thresholds.emergency;
  const { snapshot: stored } = withRoom(prefixes, request);
  let work = { ...request, snapshot: stored };
  let fitted = wholeView(prefixes, work);
  const whole = fitted.measurement;
  for (let gaps = 0; gaps < MAX_GAPS && fitted.measurement.used >= fullTokens; gaps += 1) {
    const seenTokens = fullTokens - work.snapshot.omitted.tokens * fitted.correction;
    const shorter =
      shortenTexts(prefixes, fitted, { limitTokens: windowTokens, fullTokens: seenTokens }) ??
      shortenAsk(prefixes, fitted, seenTokens);
    if (shorter !== null) {
      fitted = shorter;
      break;
    }
    const pressure = { usedTokens: fitted.measurement.used, correction: fitted.correction };
    const snapshot = imaginedGap({ ...work, ...pressure, now: 0 });
    if (snapshot === null) break;
    work = { ...work, snapshot };
    fitted = wholeView(prefixes, work);
  }
  const { tier, used } = fitted.measurement;
  // No job fills an imagined gap, so the stored conversation decides whether one is due.
  const isSettled = tier === 'none' || hasReady(stored) || isDue(request.profile, stored, whole.used - whole.volatile);
  if (isSettled && used < fullTokens) return fitted;
  const wantedTokens = isSettled ? fullTokens : windowTokens * thresholds.background;
  return filled(reduceBelow(prefixes, work, { limitTokens: windowTokens, wantedTokens }));
}

/** Ready summaries are in their place where the next request would put them there for want of room. */
function withRoom(prefixes: FixedPrefixBuilder, request: ViewRequest): ViewRequest {
  if (!hasReady(request.snapshot)) return request;
  const { used, volatile } = wholeView(prefixes, request).measurement;
  return hasRoom(request.profile, used - volatile)
    ? request
    : { ...request, snapshot: publishedView(request.snapshot) };
}

/** Nothing would be sent if not even the smallest view fits: the window is full. */
function filled(fitted: Fitted): Fitted {
  const { measurement } = fitted;
  const { used, window } = measurement;
  return used <= window ? fitted : { ...fitted, measurement: { ...measurement, used: window, ratio: 1 } };
}

/** The view as it would be with the head of the tail that the snapshot leaves out. */
function wholeView(prefixes: FixedPrefixBuilder, request: ViewRequest): Fitted {
  const fitted = reduceIfDue(prefixes, request);
  const unseen = Math.ceil(request.snapshot.omitted.tokens * fitted.correction);
  return { ...fitted, measurement: grownBy(fitted.measurement, unseen, request.profile) };
}

export type GapRequest = Pick<AssembleRequest, 'snapshot' | 'readUpto' | 'now'> & EmergencyPressure;

/** The snapshot as it would be without the oldest half of its tail. Null when nothing may leave. */
export function imaginedGap({ snapshot, readUpto, now, ...pressure }: GapRequest): ContextSnapshot | null {
  if (hasReady(snapshot)) return publishedView(snapshot);
  const { conversation, stack, tail } = snapshot;
  const cut = planEmergency(snapshot, { ...conversation, readUpto }, pressure);
  if (cut === null) return null;
  const { toSeq } = cut;
  const gap = unstoredGap(cut, { conversationId: conversation.id, text: '', createdAt: now });
  return {
    conversation: { ...conversation, compactedUpto: toSeq },
    stack: [...stack, gap],
    tail: tail.filter(({ seq }) => seq > toSeq),
    omitted: { entries: 0, tokens: 0 },
  };
}
