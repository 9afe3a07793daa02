import type { ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';

const NAMESPACE = 'slack.beginnings';

/** The first stored message of each thread's conversation, which gets the start of the thread as context. */
export interface FirstMessages {
  /** The first message, stored or about to be; if there is none, `ts` itself from now on. */
  of(conversation: ConversationKey, ts: string): Promise<string>;
  /** The message was stored. */
  keep(conversation: ConversationKey, ts: string): Promise<void>;
  /** The message was not stored, so another one may be the first. */
  release(conversation: ConversationKey, ts: string): void;
}

/** Asks the store each time, because it deletes the value with the conversation. */
export function createFirstMessages(state: StateStore): FirstMessages {
  const coming = new Map<ConversationKey, string>();
  return {
    async of(conversation, ts) {
      const first = coming.get(conversation) ?? (await state.get(NAMESPACE, conversation));
      if (typeof first === 'string') return first;
      // Another message may have come first during the query.
      const next = coming.get(conversation) ?? ts;
      if (next === ts) coming.set(conversation, ts);
      return next;
    },
    async keep(conversation, ts) {
      if ((await state.get(NAMESPACE, conversation)) === undefined) await state.set(NAMESPACE, conversation, ts);
      coming.delete(conversation);
    },
    release(conversation, ts) {
      if (coming.get(conversation) === ts) coming.delete(conversation);
    },
  };
}
