import type { ContextEngine, MaintainRequest, MaintainResult } from '../ports/engine.ts';
import type { Conversation } from '../ports/store.ts';
import type { Services } from '../services.ts';

type DoneServices = Pick<Services, 'store' | 'clock'>;

/** The claim is released at once. */
const LEASE_MS = 6000;

/**
 * Maintenance by an engine that does not keep account of it in the store, or has none. Without that account the
 * conversation would stay due: every sweep would find it again, and a hundred of these would hide all others.
 */
export async function maintainAndNote(
  services: DoneServices,
  engine: Pick<ContextEngine, 'maintain'>,
  request: MaintainRequest,
): Promise<MaintainResult> {
  const before = await services.store.conversations.get(request.conversationId);
  const result = await engine.maintain(request);
  if (before !== null) await noteDone(services, before);
  return result;
}

/** Unless the engine, or another process, has claimed it since. */
async function noteDone({ store, clock }: DoneServices, before: Conversation): Promise<void> {
  const { conversations } = store;
  const { id: conversationId, maintainAt, maintenanceEpoch, nextSeq } = before;
  const now = clock.now();
  if (maintainAt === null || maintainAt > now) return;
  if ((await conversations.get(conversationId))?.maintenanceEpoch !== maintenanceEpoch) return;
  const won = await conversations.claim({ work: 'maintenance', conversationId, now, leaseMs: LEASE_MS });
  if (won === null) return;
  // It stays due for what has arrived since.
  const done = { work: 'maintenance', kind: 'done', seenNextSeq: nextSeq, maintainAt: null } as const;
  await conversations.release(won.claim, done);
}
