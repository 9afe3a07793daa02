import type { ConversationKey } from '../domain/message.ts';
import type { Services } from '../services.ts';

/** A disk seldom takes more than a second. */
const LATE_MS = 5_000;

/** Reports messages that the disk has not confirmed. Until it does, they are not acknowledged and get no reply. */
export interface DiskWatch {
  /** Settles as `durable` does. */
  over(durable: Promise<void>, conversation: ConversationKey): Promise<void>;
}

interface Waiting {
  readonly conversation: ConversationKey;
  readonly since: number;
}

export function createDiskWatch({ clock, events }: Pick<Services, 'clock' | 'events'>): DiskWatch {
  // In order of arrival, because a set keeps insertion order.
  const waiting = new Set<Waiting>();
  let isWatching = false;
  /** One timer serves all messages. A stall is reported again whenever it has become twice as long. */
  const watch = async () => {
    const { signal } = new AbortController();
    isWatching = true;
    try {
      for (let dueMs = LATE_MS; waiting.size > 0; ) {
        await clock.sleep(LATE_MS, { signal });
        const [oldest] = waiting;
        const durationMs = oldest === undefined ? 0 : clock.now() - oldest.since;
        if (durationMs < LATE_MS) dueMs = LATE_MS;
        if (oldest === undefined || durationMs < dueMs) continue;
        events.emit({ kind: 'store.stalled', conversation: oldest.conversation, durationMs });
        dueMs = 2 * durationMs;
      }
    } finally {
      isWatching = false;
    }
  };
  return {
    async over(durable, conversation) {
      const one = { conversation, since: clock.now() };
      waiting.add(one);
      if (!isWatching) watch().catch(() => undefined);
      try {
        await durable;
      } finally {
        waiting.delete(one);
      }
    },
  };
}
