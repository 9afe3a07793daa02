import { z } from 'zod';
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

/** Readings further apart are a jump: the clock was set, or the bot was off. */
const MAX_STEP_MS = DAY_MS;
/** How long a clock must go on after a jump before it is believed. */
const PROOF_MS = DAY_MS;

const readingsSchema = z.object({
  last: z.number(),
  /** The first one after the newest jump. */
  since: z.number(),
  /** The last one that counted before that; null if there was none. */
  before: z.number().nullable(),
});
type Readings = z.infer<typeof readingsSchema>;

/**
 * What is deleted cannot be restored, so a clock that is wrong for less than a day deletes nothing, however often the
 * bot is started meanwhile. Until a day after a jump of the clock, ages count from the last reading before it.
 */
export function createRetention({ services, retentionDays }: RetentionOptions): Retention {
  const { clock, state } = services;
  return {
    async expire(signal) {
      const known = readingsSchema.safeParse(await state.get(NAMESPACE, KEY)).data;
      const readings = readOnce(known, clock.now());
      await state.set(NAMESPACE, KEY, readings);
      const now = sureTime(readings);
      if (now !== null) await expireAt(services, { now, days: retentionDays(), signal });
    },
  };
}

function readOnce(known: Readings | undefined, reading: number): Readings {
  if (known === undefined) return { last: reading, since: reading, before: null };
  if (Math.abs(reading - known.last) <= MAX_STEP_MS) return { ...known, last: reading };
  // A clock that is set back was wrong. Forwards, the bot may have been off again.
  const isDoubtful = reading < known.last && !isProven(known);
  return { last: reading, since: reading, before: isDoubtful ? known.before : known.last };
}

function isProven({ last, since }: Readings): boolean {
  return last - since >= PROOF_MS;
}

/** Not later than the true time; null if nothing is known about it yet. */
function sureTime(readings: Readings): number | null {
  const { last, before } = readings;
  if (isProven(readings)) return last;
  return before === null ? null : Math.min(before, last);
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
