import type { ConversationKey } from '../../../domain/message.ts';
import type { Services } from '../../../services.ts';

/** A disk seldom takes more than a second. */
const LATE_MS = 5_000;

/**
 * Reports messages and replies that the disk has not confirmed. Until it does, messages are not acknowledged, and replies
 * not posted.
 */
export interface DiskWatch {
  /** Settles as the write does. */
  watch<Result>(write: Promise<Result>, conversation: ConversationKey): Promise<Result>;
}

interface Waiting {
  readonly conversation: ConversationKey;
  readonly since: number;
}

export function createDiskWatch({ clock, events }: Pick<Services, 'clock' | 'events'>): DiskWatch {
  // In order of arrival, because a set keeps insertion order.
  const waiting = new Set<Waiting>();
  let isWatching = false;
  /** One timer serves all of them. A stall is reported again whenever it has become twice as long. */
  const reportStalls = async () => {
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
    async watch(write, conversation) {
      const one = { conversation, since: clock.now() };
      waiting.add(one);
      if (!isWatching) reportStalls().catch(() => undefined);
      try {
        return await write;
      } finally {
        waiting.delete(one);
      }
    },
  };
}
