import type { ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';

const NAMESPACE = 'slack.beginnings';
const MAX_KNOWN = 5_000;

/** The first stored message of each thread's conversation, which gets the start of the thread as context. */
export interface Beginnings {
  /** The first message, stored or about to be; if there is none, `ts` itself from now on. */
  of(conversation: ConversationKey, ts: string): Promise<string>;
  /** The message was stored. */
  keep(conversation: ConversationKey, ts: string): Promise<void>;
  /** The message was not stored, so another one may be the first. */
  release(conversation: ConversationKey, ts: string): void;
}

export function createFirstMessages(state: StateStore): Beginnings {
  const known = new Map<ConversationKey, string>();
  const coming = new Map<ConversationKey, string>();
  const remember = (conversation: ConversationKey, ts: string): void => {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(conversation, ts);
  };
  return {
    async of(conversation, ts) {
      const first = known.get(conversation) ?? coming.get(conversation) ?? (await state.get(NAMESPACE, conversation));
      if (typeof first === 'string') return first;
      // Another message may have come first during the query.
      const next = known.get(conversation) ?? coming.get(conversation) ?? ts;
      if (next === ts) coming.set(conversation, ts);
      return next;
    },
    async keep(conversation, ts) {
      if (known.has(conversation)) return;
      const first = await state.get(NAMESPACE, conversation);
      if (first === undefined) await state.set(NAMESPACE, conversation, ts);
      remember(conversation, typeof first === 'string' ? first : ts);
      coming.delete(conversation);
    },
    release(conversation, ts) {
      if (coming.get(conversation) === ts) coming.delete(conversation);
    },
  };
}
