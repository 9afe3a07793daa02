import type { AssembleRequest } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { reduceIfDue } from '../fit/fit.ts';
import { commonParts, parsePrint, partsOf, type RequestPrint } from '../record/request-print.ts';
import { recognise } from '../view/entry-reuse.ts';
import type { FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { type Fitted, restingView, type ViewRequest } from '../view/view.ts';
import { isDue } from './due.ts';
import { MAX_TAIL_ENTRIES } from './plan.ts';
import { cachePricesOf, hasRoom, isPublicationDue, isWarm, requestsSince } from './publication.ts';
import { hasReady, publishedView } from './ready.ts';

/** Puts ready summaries into the stack. Null if none of them has a place any more. */
export async function publishReady(
  { store }: Pick<Services, 'store'>,
  snapshot: ContextSnapshot,
): Promise<ContextSnapshot | null> {
  const { id } = snapshot.conversation;
  const outcome = await store.summaries.publish(id);
  if (outcome === 'stale') return null;
  const read = await store.transcript.context(id, { maxEntries: MAX_TAIL_ENTRIES });
  return read === null ? null : recognise(read, snapshot.tail);
}

export interface Publishing {
  readonly services: Pick<Services, 'store' | 'prices'>;
  readonly prefixes: FixedPrefixBuilder;
}

/** Whether the ready summaries are published before this request. A turn that has begun changes only for want of room. */
export async function publishesBefore({ services, prefixes }: Publishing, request: AssembleRequest): Promise<boolean> {
  const { profile, snapshot, now } = request;
  if (!hasReady(snapshot)) return false;
  const whole = reduceIfDue(prefixes, request);
  const usedTokens = usedBy(whole);
  if (!hasRoom(profile, usedTokens)) return true;
  if (request.steps.length > 0) return false;
  const last = parsePrint(await services.store.journal.cache.lastRequest(snapshot.conversation.id));
  const published = reduceIfDue(prefixes, { ...request, snapshot: publishedView(snapshot) });
  return isPublicationDue({
    profile,
    usedTokens,
    publishedTokens: usedBy(published),
    rewrittenTokens: rewrittenBy(published, snapshot),
    isWarm: isWarm(last, profile, now),
    isBroken: last !== null && isBroken(last, whole),
    requests: requestsSince(snapshot),
    prices: cachePricesOf((tokens) => services.prices.costOf(profile.modelId, tokens, now)),
  });
}

/** Corrected tokens of a view between two turns. */
export function restingTokens(prefixes: FixedPrefixBuilder, resting: ViewRequest): number {
  return usedBy(reduceIfDue(prefixes, resting));
}

/** Corrected tokens, without the sections for the newest message. */
function usedBy({ measurement, request, correction }: Fitted): number {
  return measurement.used - measurement.volatile + request.snapshot.omitted.tokens * correction;
}

/** The tail, and the summaries that are new. */
function rewrittenBy({ view, measurement, correction }: Fitted, { stack }: ContextSnapshot): number {
  const stays = new Set(stack.map(({ id }) => id));
  const kept = view.layers.findIndex(({ item }) => !stays.has(item.id));
  const layers = kept < 0 ? [] : view.layers.slice(kept);
  return measurement.tail + layers.reduce((sum, { tokens }) => sum + tokens, 0) * correction;
}

function isBroken(last: RequestPrint, { view }: Fitted): boolean {
  return commonParts(last, { parts: partsOf(view) }) < last.stableParts;
}

/**
 * Whether there is work to do, as if the ready summaries were in their place already; or they have to be published,
 * because the view has no more room. `addedTokens` are about to be stored.
 */
export function isWorkDue(
  prefixes: FixedPrefixBuilder,
  { profile, snapshot }: ViewRequest,
  { usedTokens, addedTokens }: { readonly usedTokens: number; readonly addedTokens: number },
): boolean {
  if (!hasReady(snapshot)) return isDue(profile, snapshot, usedTokens);
  if (!hasRoom(profile, usedTokens)) return true;
  const view = publishedView(snapshot);
  return isDue(profile, view, restingTokens(prefixes, restingView(profile, view)) + addedTokens);
}
