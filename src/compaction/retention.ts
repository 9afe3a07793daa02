import { describe, isStoreAway } from '../domain/errors.ts';
import type { Services } from '../services.ts';
import { pagesOf } from '../util/async/conversation-pages.ts';
import { DAY_MS } from '../util/time/time.ts';

export interface RetentionOptions {
  readonly services: Services;
  /** How long messages are kept; 0 keeps them forever. Read each time. */
  retentionDays(): number;
}

/** Deletes entries and tool results beyond their retention. */
export interface Retention {
  expire(signal?: AbortSignal): Promise<void>;
}

/** Full tool results are kept for some days after the call; their excerpts stay in the transcript. */
const BLOB_DAYS = 30;
const NAMESPACE = 'retention';
const KEY = 'clock';

/**
 * What is deleted cannot be restored, so a clock that is wrong once deletes nothing: ages count from the earlier of its
 * last two readings. The first one of a process is compared with the last one before its start.
 */
export function createRetention({ services, retentionDays }: RetentionOptions): Retention {
  const { clock, state } = services;
  let lastReading: unknown = null;
  return {
    async expire(signal) {
      const before = lastReading ?? (await state.get(NAMESPACE, KEY));
      const reading = clock.now();
      lastReading = reading;
      await state.set(NAMESPACE, KEY, reading);
      if (typeof before !== 'number') return;
      await expireAt(services, { now: Math.min(before, reading), days: retentionDays(), signal });
    },
  };
}

interface Expiry {
  readonly now: number;
  readonly days: number;
  readonly signal: AbortSignal | undefined;
}

async function expireAt({ store, events }: Services, { now, days, signal }: Expiry): Promise<void> {
  await store.blobs.expire(now - Math.min(BLOB_DAYS, days > 0 ? days : BLOB_DAYS) * DAY_MS);
  if (days <= 0) return;
  const before = now - days * DAY_MS;
  const all = pagesOf(store.conversations, { order: 'key', scope: { within: null }, withChildren: true });
  for await (const { id, key: conversation, createdAt } of all) {
    if (signal?.aborted === true) return;
    if (createdAt >= before) continue;
    await store.conversations.change(id, { kind: 'expire', before, now }).catch((error: unknown) => {
      if (isStoreAway(error)) throw error;
      // One damaged conversation must not stop the deletion in those after it.
      events.emit({ kind: 'error.internal', conversation, message: describe(error) });
    });
  }
}
