import type { MessageEdit } from '../../ports/channel.ts';
import { createRecentMap } from '../../util/recent-map.ts';

const MAX_KNOWN = 5_000;

/**
 * When the newest edit of each message was made. A platform may deliver an edit again after a later one, and a history
 * that a channel reads may be older than the events that arrive at the same time. Kept in memory.
 */
export interface NewestEdits {
  /** Whether a later edit of the message is known. */
  isOverdue(edit: Pick<MessageEdit, 'conversation' | 'externalId' | 'at'>): boolean;
}

export function createNewestEdits(): NewestEdits {
  const known = createRecentMap<string, number>(MAX_KNOWN);
  return {
    isOverdue({ conversation, externalId, at }) {
      const name = `${conversation} ${externalId}`;
      const newest = known.get(name);
      if (newest !== undefined && newest > at) return true;
      known.set(name, at);
      return false;
    },
  };
}
