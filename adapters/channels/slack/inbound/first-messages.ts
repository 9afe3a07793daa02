import type { ConversationKey, StateStore } from '../../../../src/index.ts';

const NAMESPACE = 'slack.beginnings';
const MAX_KNOWN = 5_000;

/** The first message that was kept of each conversation of a thread: before it stands what the thread is about. */
export interface Beginnings {
  /** The first one; `ts` itself when there is none yet. Nothing is written. */
  of(conversation: ConversationKey, ts: string): Promise<string>;
  /** The message was stored. */
  keep(conversation: ConversationKey, ts: string): Promise<void>;
}

export function createFirstMessages(state: StateStore): Beginnings {
  const known = new Map<ConversationKey, string>();
  const remember = (conversation: ConversationKey, ts: string): void => {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(conversation, ts);
  };
  return {
    async of(conversation, ts) {
      const first = known.get(conversation) ?? (await state.get(NAMESPACE, conversation));
      if (typeof first !== 'string') return ts;
      remember(conversation, first);
      return first;
    },
    async keep(conversation, ts) {
      if (known.has(conversation)) return;
      if ((await state.get(NAMESPACE, conversation)) === undefined) await state.set(NAMESPACE, conversation, ts);
      remember(conversation, ts);
    },
  };
}
