import { describe } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import { MAX_PAUSE_MS } from '../ports/conversation-changes.ts';
import type { MaintainRequest } from '../ports/engine.ts';
import { isPaused } from '../util/async/pause.ts';
import { createRepeatedReport } from '../util/errors/repeated-report.ts';
import { createRecentMap } from '../util/recent-map.ts';
import { HOUR_MS } from '../util/time/time.ts';
import { createRetention, type Retention, type RetentionOptions } from './retention.ts';

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
}

export interface SweeperOptions extends RetentionOptions {
  maintain(request: MaintainRequest): Promise<unknown>;
  /** Default 2 s. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 2000;
const EXPIRY_INTERVAL_MS = HOUR_MS;
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
      loop = sweepUntil(options, createRetention(options), end.signal);
    },
    async stop({ deadlineMs }) {
      end.abort();
      unsubscribe();
      await loop;
      await extractAtShutdown(options, [...recent.keys()], deadlineMs);
    },
    sweep: () => sweep(options),
  };
}

async function sweepUntil(options: SweeperOptions, retention: Retention, signal: AbortSignal): Promise<void> {
  const { clock, random } = options.services;
  let expireAt = clock.now();
  /** A deletion of many messages takes long, so the sweeps do not wait for it; null when it has ended. */
  let expiring: Promise<void> | null = null;
  const report = createRepeatedReport(options.services);
  while (!signal.aborted) {
    await sweep(options).catch(report);
    if (!isPaused(expireAt, { now: clock.now(), maxMs: EXPIRY_INTERVAL_MS }) && expiring === null) {
      expireAt = clock.now() + EXPIRY_INTERVAL_MS;
      expiring = retention
        .expire(signal)
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
