import { hasRoom, isWarm } from '../context/cuts/publication.ts';
import { parsePrint } from '../context/record/request-print.ts';
import type { ContextProfile } from '../ports/engine.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import type { Run } from './job/maintenance-context.ts';
import type { Look } from './job/next-work.ts';

/** A summary waits only for the cached prefix of a running conversation, and while the view has room for its messages. */
export async function waitingOf(
  { shared, claim }: Run,
  {
    trigger,
    stored,
    profile,
  }: Pick<Look, 'trigger'> & { readonly stored: ContextSnapshot; readonly profile: ContextProfile },
): Promise<Pick<Look, 'isCached' | 'canWait'>> {
  const { store, clock } = shared.services;
  const last = parsePrint(await store.journal.cache.lastRequest(claim.conversationId));
  const isCached = last?.reports === true;
  if (!isCached || trigger === 'manual') return { isCached, canWait: false };
  const { used, volatile } = shared.measureView(profile, stored).measurement;
  return { isCached, canWait: isWarm(last, profile, clock.now()) && hasRoom(profile, used - volatile) };
}

export async function publish({ shared, claim }: Run): Promise<boolean> {
  return (await shared.services.store.summaries.publish(claim.conversationId)) === 'committed';
}
