import type { ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';
import { isNewer } from '../wire.ts';

const NAMESPACE = 'discord.beginnings';

/** The first stored message of each conversation; older messages can only be quoted. */
export interface FirstMessages {
  /** The first stored message, or `messageId` if there is none yet or it is older. Writes nothing. */
  of(conversation: ConversationKey, messageId: string): Promise<string>;
  /** The message was stored, and `of` has returned it. */
  keep(conversation: ConversationKey, messageId: string): Promise<void>;
}

/** Asks the store each time, because it deletes the value with the conversation. */
export function createFirstMessages(state: StateStore): FirstMessages {
  return {
    async of(conversation, messageId) {
      const first = await state.get(NAMESPACE, conversation);
      return typeof first !== 'string' || isNewer(first, messageId) ? messageId : first;
    },
    keep: (conversation, messageId) => state.set(NAMESPACE, conversation, messageId),
  };
}
