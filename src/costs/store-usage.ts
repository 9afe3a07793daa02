import { describe, isStoreAway } from '../domain/errors.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { Events } from '../ports/events.ts';
import type { UsageRow } from '../ports/journal.ts';
import type { Conversation, Store } from '../ports/store.ts';
import { backoffMs } from '../util/async/backoff.ts';

interface Keeping {
  readonly store: Pick<Store, 'journal'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
}

/** Together, four minutes: most failovers take less. */
const MAX_TRIES = 8;

/**
 * Stores what calls cost, separately from the work that made them, because they cost the same if it fails. Resolves after
 * the first attempt; while the store is unreachable, others follow. Never rejects: losing a row would lose no memory.
 */
export async function storeUsage(
  services: Keeping,
  payer: Pick<Conversation, 'id' | 'key'>,
  usage: readonly UsageRow[],
): Promise<void> {
  if (usage.length === 0) return;
  const store = () => services.store.journal.addUsage(payer.id, usage);
  const failed = (error: unknown) =>
    services.events.emit({ kind: 'error.internal', conversation: payer.key, message: describe(error) });
  await store().catch((error: unknown) => {
    tryAgain(services, store, error).catch(failed);
  });
}

async function tryAgain(
  { clock, random }: Pick<Keeping, 'clock' | 'random'>,
  store: () => Promise<void>,
  first: unknown,
): Promise<void> {
  const { signal } = new AbortController();
  let error = first;
  for (let failures = 1; isStoreAway(error) && failures < MAX_TRIES; failures += 1) {
    await clock.sleep(backoffMs({ failures, chance: random.next(), retryAfterMs: null }), { signal });
    try {
      return await store();
    } catch (next) {
      error = next;
    }
  }
  throw error;
}
