import { describe, isStoreAway } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import { MAX_PAUSE_MS } from '../ports/conversation-changes.ts';
import type { MaintainRequest } from '../ports/engine.ts';
import type { Services } from '../services.ts';
import { pagesOf } from '../util/async/conversation-pages.ts';
import { isPaused } from '../util/async/pause.ts';
import { createRecentMap } from '../util/recent-map.ts';
import { DAY_MS, HOUR_MS } from '../util/time/time.ts';

/**
 * Finds conversations with due, unclaimed maintenance, after a lost kick, a wiped queue or a killed worker, and kicks
 * them. It does no work itself, so it costs nothing while nothing is due.
 */
export interface Sweeper {
  /** Sweeps at once, then every few seconds. */
  start(): void;
  /** Stops sweeping, then extracts the memories of this process's conversations, as far as the deadline allows. */
  stop(options: { readonly deadlineMs: number }): Promise<void>;
  /** One sweep: kicks what is due. */
  sweep(): Promise<void>;
  /** Deletes entries and tool results beyond their retention. */
  expire(): Promise<void>;
}

export interface SweeperOptions {
  readonly services: Services;
  maintain(request: MaintainRequest): Promise<unknown>;
  /** How long messages are kept; 0 keeps them forever. Read on each sweep. */
  retentionDays(): number;
  /** Default 2 s. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 2000;
const EXPIRY_INTERVAL_MS = HOUR_MS;
/** Full tool results are kept for some days after the call; their excerpts stay in the transcript. */
const BLOB_DAYS = 30;
const DUE_AT_ONCE = 100;
/** Number of conversations, newest first, that are read for memories at shutdown, and how many concurrently. */
const MAX_RECENT = 200;
const AT_SHUTDOWN = 4;

export function createSweeper(options: SweeperOptions): Sweeper {
  const { events } = options.services;
  const end = new AbortController();
  const recent = createRecentMap<ConversationKey, number>(MAX_RECENT);
  const unsubscribe = events.on(({ kind, conversation, at }) => {
    if (kind === 'message.accepted' && conversation !== null) recent.set(conversation, at);
  });
  let loop: Promise<void> = Promise.resolve();
  return {
    start() {
      loop = sweepUntil(options, end.signal);
    },
    async stop({ deadlineMs }) {
      end.abort();
      unsubscribe();
      await loop;
      await extractAtShutdown(options, [...recent.keys()], deadlineMs);
    },
    sweep: () => sweep(options),
    expire: () => expire(options),
  };
}

async function sweepUntil(options: SweeperOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, events } = options.services;
  let expireAt = clock.now();
  /** A deletion of many messages takes long, so the sweeps do not wait for it; null when it has ended. */
  let expiring: Promise<void> | null = null;
  const report = (error: unknown) =>
    events.emit({ kind: 'error.internal', conversation: null, message: describe(error) });
  while (!signal.aborted) {
    await sweep(options).catch(report);
    if (!isPaused(expireAt, { now: clock.now(), maxMs: EXPIRY_INTERVAL_MS }) && expiring === null) {
      expireAt = clock.now() + EXPIRY_INTERVAL_MS;
      expiring = expire(options, signal)
        .catch(report)
        .finally(() => {
          expiring = null;
        });
    }
    // Jitter separates the sweeps of several processes.
    const waitMs = (options.intervalMs ?? INTERVAL_MS) * (0.75 + random.next() / 2);
    await clock.sleep(waitMs, { signal }).catch(() => undefined);
  }
  await expiring;
}

async function sweep({ services }: SweeperOptions): Promise<void> {
  const { store, queue, clock } = services;
  const due = await store.conversations.due('maintenance', { now: clock.now(), limit: DUE_AT_ONCE });
  for (const { id } of due) queue.kick(id);
}

async function expire({ services, retentionDays }: SweeperOptions, signal?: AbortSignal): Promise<void> {
  const { store, clock, events } = services;
  const now = clock.now();
  const days = retentionDays();
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

/** Short conversations never fill a window, so their memories are extracted before the process ends. */
async function extractAtShutdown(
  { services, maintain }: SweeperOptions,
  recent: readonly ConversationKey[],
  deadlineMs: number,
): Promise<void> {
  const { store, clock, log } = services;
  const signal = AbortSignal.timeout(Math.max(1, deadlineMs));
  const waiting = recent.toReversed();
  const work = async (): Promise<void> => {
    for (let key = waiting.shift(); key !== undefined && !signal.aborted; key = waiting.shift()) {
      const conversation = await store.conversations.find(key);
      if (conversation === null || conversation.extractedUpto >= conversation.nextSeq - 1) continue;
      const now = clock.now();
      if (isPaused(conversation.nextAttemptAt, { now, maxMs: MAX_PAUSE_MS })) continue;
      const request = { conversationId: conversation.id, trigger: 'shutdown', instruction: null, signal } as const;
      await maintain(request).catch((error: unknown) => log.warn('shutdown.extraction', { error: describe(error) }));
    }
  };
  await Promise.all(Array.from({ length: AT_SHUTDOWN }, work));
}
