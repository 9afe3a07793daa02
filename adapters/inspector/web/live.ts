import { setTimeout as sleep } from 'node:timers/promises';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { ConversationKey, Inspection } from '../../../src/adapter-kit.ts';
import type { PageApp, PageContext } from './environment.ts';

/** What has changed since the last message to a viewer. Null stands for anything. */
export type Changes = ReadonlySet<ConversationKey> | null;

export interface LiveViewer {
  /** Resolves when something has changed, or after the heartbeat with an empty set. */
  next(signal: AbortSignal): Promise<Changes>;
  leave(): void;
}

export interface Live {
  /** Null if there are too many viewers. */
  join(): LiveViewer | null;
}

const MAX_VIEWERS = 200;
/** A viewer that is further behind loads the page again. */
const MAX_CHANGES = 50;

export interface LiveTimes {
  /** Between two messages to a viewer. */
  readonly pauseMs: number;
  readonly heartbeatMs: number;
  /** A viewer that reads nothing for so long is cut off. */
  readonly stallMs: number;
}
const TIMES: LiveTimes = { pauseMs: 1000, heartbeatMs: 25_000, stallMs: 30_000 };

/**
 * Tells viewers what changed. All share one bounded list of names, and each keeps only its place in it: an event of the
 * bot costs the same whatever the number of viewers, and one that sleeps holds nothing back. The events are heard only
 * while somebody looks.
 */
export function createLive(watch: Inspection['watch'], { heartbeatMs }: Pick<LiveTimes, 'heartbeatMs'> = TIMES): Live {
  const list = createChangeList();
  const viewers = new Set<object>();
  const waiting = new Set<() => void>();
  let stop = (): void => undefined;
  const hear = (conversation: ConversationKey): void => {
    list.add(conversation);
    for (const wake of waiting) wake();
  };
  return {
    join() {
      if (viewers.size >= MAX_VIEWERS) return null;
      if (viewers.size === 0) stop = watch(hear);
      const self = {};
      viewers.add(self);
      let seen = list.version();
      return {
        async next(signal) {
          if (seen === list.version()) await wokenWithin(waiting, heartbeatMs, signal);
          const changes = list.since(seen);
          seen = list.version();
          return changes;
        },
        leave() {
          if (viewers.delete(self) && viewers.size === 0) stop();
        },
      };
    },
  };
}

interface ChangeList {
  add(conversation: ConversationKey): void;
  version(): number;
  /** Null if more has changed than the list holds. */
  since(version: number): Changes;
}

function createChangeList(): ChangeList {
  /** The newest version of each conversation, oldest first. */
  const versions = new Map<ConversationKey, number>();
  let version = 0;
  let forgotten = 0;
  return {
    add(conversation) {
      version += 1;
      versions.delete(conversation);
      versions.set(conversation, version);
      const [oldest] = versions;
      if (versions.size <= MAX_CHANGES || oldest === undefined) return;
      versions.delete(oldest[0]);
      forgotten = oldest[1];
    },
    version: () => version,
    since(seen) {
      if (seen < forgotten) return null;
      return new Set([...versions].filter(([, at]) => at > seen).map(([conversation]) => conversation));
    },
  };
}

/** Resolves with the next change, after the time, or with the signal. */
async function wokenWithin(waiting: Set<() => void>, ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const wake = (): void => over.abort();
  waiting.add(wake);
  signal.addEventListener('abort', wake, { once: true });
  try {
    if (!signal.aborted) await sleep(ms, undefined, { ref: false, signal: over.signal }).catch(() => undefined);
  } finally {
    waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}

export interface LiveOptions {
  readonly live: Live;
  /** False once the session of the viewer has ended. */
  readonly isSignedIn: (c: PageContext) => boolean;
  readonly times?: LiveTimes;
}

/** Server-sent events: at most one message per second and viewer. */
export function addLive(app: PageApp, { live, isSignedIn, times = TIMES }: LiveOptions): void {
  app.get('/live', (c) => {
    // A stream that nobody reads would keep its place.
    if (c.req.method === 'HEAD') return c.body(null);
    const viewer = live.join();
    if (viewer === null) return c.text('There are too many viewers.\n', 503);
    return streamSSE(c, async (stream) => {
      const gone = new AbortController();
      stream.onAbort(() => gone.abort());
      try {
        while (!gone.signal.aborted) {
          const changes = await viewer.next(gone.signal);
          if (gone.signal.aborted || !isSignedIn(c)) break;
          if (!(await isRead(stream, changes, times.stallMs))) {
            c.env.incoming.socket.destroy();
            break;
          }
          await sleep(times.pauseMs, undefined, { ref: false });
        }
      } finally {
        viewer.leave();
      }
    });
  });
}

/** Whether the connection has taken the message in time. Until then, nothing else is written to it. */
async function isRead(stream: SSEStreamingApi, changes: Changes, stallMs: number): Promise<boolean> {
  const inTime = new AbortController();
  const late = sleep(stallMs, false, { ref: false, signal: inTime.signal }).catch(() => true);
  try {
    return await Promise.race([stream.writeSSE(messageOf(changes)).then(() => true), late]);
  } finally {
    inTime.abort();
  }
}

function messageOf(changes: Changes): { readonly event: string; readonly data: string } {
  if (changes === null) return { event: 'refresh', data: '' };
  if (changes.size === 0) return { event: 'alive', data: '' };
  return { event: 'changed', data: JSON.stringify([...changes]) };
}
