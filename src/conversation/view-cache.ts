import { recognise } from '../context/entry-reuse.ts';
import { MAX_TAIL_ENTRIES } from '../context/plan.ts';
import type { ConversationKey, Entry } from '../domain/message.ts';
import type { ContextSnapshot, Conversation, Store } from '../ports/store.ts';
import { extendSnapshot } from './snapshot.ts';

/** A process's copy of one view. Never the truth: every answer of the store is checked against it, and a doubt drops it. */
export interface ViewCache {
  /** The view; read again after the cache was dropped. Null before the first message. */
  current(): Promise<ContextSnapshot | null>;
  /** Carries the copy over what this process just stored. */
  extend(conversation: Conversation, entries: readonly Entry[]): void;
  drop(): void;
}

export function createViewCache(store: Pick<Store, 'conversations' | 'transcript'>, key: ConversationKey): ViewCache {
  let copy: ContextSnapshot | null = null;
  /** Of the last copy, which may be outdated. */
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
      // What was stored or changed while this was read may be missing in it: then it is not kept.
      if (before !== changes) return read;
      copy = read;
      known = [];
      return read;
    },
    extend(conversation, entries) {
      const longer = extendSnapshot(copy, conversation, entries);
      if (longer === null) return forget();
      changes += 1;
      copy = longer;
    },
    drop: forget,
  };
}
