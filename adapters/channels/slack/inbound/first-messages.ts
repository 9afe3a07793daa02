import type { ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';

const NAMESPACE = 'slack.beginnings';

/** The first stored message of each thread's conversation, which gets the start of the thread as context. */
export interface FirstMessages {
  /** The first message, stored or about to be; null if there is none. */
  of(conversation: ConversationKey): Promise<string | null>;
  /** The same for a message that is about to be stored: if there is none, it is the first from now on. */
  claim(conversation: ConversationKey, ts: string): Promise<string>;
  /** The first message was stored. */
  keep(conversation: ConversationKey, ts: string): Promise<void>;
  /** The message is stored, or was dropped: then another one may be the first. */
  release(conversation: ConversationKey, ts: string): void;
}

/** Asks the store each time, because it deletes the value with the conversation. */
export function createFirstMessages(state: StateStore): FirstMessages {
  const coming = new Map<ConversationKey, string>();
  const of = async (conversation: ConversationKey): Promise<string | null> => {
    const first = coming.get(conversation) ?? (await state.get(NAMESPACE, conversation));
    return typeof first === 'string' ? first : null;
  };
  return {
    of,
    async claim(conversation, ts) {
      const first = await of(conversation);
      if (first !== null) return first;
      // Another message may have come first during the query.
      const next = coming.get(conversation) ?? ts;
      coming.set(conversation, next);
      return next;
    },
    keep: (conversation, ts) => state.set(NAMESPACE, conversation, ts),
    release(conversation, ts) {
      if (coming.get(conversation) === ts) coming.delete(conversation);
    },
  };
}
