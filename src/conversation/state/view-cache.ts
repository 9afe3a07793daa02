import { MAX_TAIL_ENTRIES } from '../../context/cuts/plan.ts';
import { recognise } from '../../context/view/entry-reuse.ts';
import type { ConversationKey, Entry } from '../../domain/message.ts';
import type { ContextSnapshot, Extended, Store } from '../../ports/store.ts';
import { extendSnapshot } from './snapshot.ts';

/**
 * A process's cached view of one conversation. It is never authoritative: every response of the store is checked
 * against it, and if in doubt, the cache is discarded.
 */
export interface ViewCache {
  /** The view, read again after the cache was discarded. Null before the first message. */
  current(): Promise<ContextSnapshot | null>;
  /** Extends the cache by what this process has just stored. */
  extend(extended: Extended, entries: readonly Entry[]): void;
  drop(): void;
}

export function createViewCache(store: Pick<Store, 'conversations' | 'transcript'>, key: ConversationKey): ViewCache {
  let copy: ContextSnapshot | null = null;
  /** From the last cached view, which may be outdated. */
  let known: readonly Entry[] = [];
  let changes = 0;
  const forget = () => {
    changes += 1;
    known = copy?.tail ?? known;
    copy = null;
  };
  return {
    async current() {
      if (copy !== null) return copy;
      const before = changes;
      const conversation = await store.conversations.find(key);
      if (conversation === null) return null;
      const found = await store.transcript.context(conversation.id, { maxEntries: MAX_TAIL_ENTRIES });
      const read = found === null ? null : recognise(found, known);
      // Changes during this read may be missing from the result, so it is not cached.
      if (before !== changes) return read;
      copy = read;
      known = [];
      return read;
    },
    extend(extended, entries) {
      const longer = extendSnapshot(copy, extended, entries);
      if (longer === null) return forget();
      changes += 1;
      copy = longer;
    },
    drop: forget,
  };
}
