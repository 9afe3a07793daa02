import { setTimeout as sleep } from 'node:timers/promises';
import { streamSSE } from 'hono/streaming';
import type { ConversationKey, Inspection } from '../../../src/adapter-kit.ts';
import type { PageApp } from './environment.ts';

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
const PAUSE_MS = 1000;
const HEARTBEAT_MS = 25_000;

/**
 * Tells viewers what changed. Each viewer keeps a bounded set of names and nothing else, so one that sleeps holds nothing
 * back; the events of the bot are heard only while somebody looks.
 */
export function createLive(watch: Inspection['watch'], heartbeatMs: number = HEARTBEAT_MS): Live {
  const viewers = new Set<(conversation: ConversationKey) => void>();
  let stop = (): void => undefined;
  return {
    join() {
      if (viewers.size >= MAX_VIEWERS) return null;
      let changes: Set<ConversationKey> | null = new Set();
      let wake = (): void => undefined;
      const hear = (conversation: ConversationKey): void => {
        changes?.add(conversation);
        if (changes !== null && changes.size > MAX_CHANGES) changes = null;
        wake();
      };
      if (viewers.size === 0) {
        stop = watch((conversation) => {
          for (const viewer of viewers) viewer(conversation);
        });
      }
      viewers.add(hear);
      return {
        async next(signal) {
          if (changes?.size === 0) {
            const woken = new Promise<void>((resolve) => {
              wake = resolve;
            });
            await Promise.race([woken, sleep(heartbeatMs, undefined, { ref: false, signal }).catch(() => undefined)]);
          }
          const seen = changes;
          changes = new Set();
          return seen;
        },
        leave() {
          if (viewers.delete(hear) && viewers.size === 0) stop();
          wake();
        },
      };
    },
  };
}

/** Server-sent events: at most one message per second and viewer. */
export function addLive(app: PageApp, live: Live): void {
  app.get('/live', (c) => {
    const viewer = live.join();
    if (viewer === null) return c.text('There are too many viewers.\n', 503);
    return streamSSE(c, async (stream) => {
      const gone = new AbortController();
      stream.onAbort(() => {
        gone.abort();
        viewer.leave();
      });
      try {
        while (!gone.signal.aborted) {
          const changes = await viewer.next(gone.signal);
          if (gone.signal.aborted) break;
          // Resolves when the connection takes more, so a viewer that reads nothing waits here.
          await stream.writeSSE(messageOf(changes));
          await sleep(PAUSE_MS, undefined, { ref: false });
        }
      } finally {
        viewer.leave();
      }
    });
  });
}

function messageOf(changes: Changes): { readonly event: string; readonly data: string } {
  if (changes === null) return { event: 'refresh', data: '' };
  if (changes.size === 0) return { event: 'alive', data: '' };
  return { event: 'changed', data: JSON.stringify([...changes]) };
}
