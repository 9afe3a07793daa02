import type { ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';
import { isNewer } from '../wire.ts';

const NAMESPACE = 'discord.beginnings';
const MAX_KNOWN = 5_000;

/** The first stored message of each conversation; older messages can only be quoted. */
export interface Beginnings {
  /** The first stored message, or `messageId` if there is none yet or it is older. Writes nothing. */
  of(conversation: ConversationKey, messageId: string): Promise<string>;
  /** The message was stored. */
  keep(conversation: ConversationKey, messageId: string): Promise<void>;
}

export function createFirstMessages(state: StateStore): Beginnings {
  const known = new Map<ConversationKey, string>();
  const remember = (conversation: ConversationKey, first: string): void => {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(conversation, first);
  };
  const of = async (conversation: ConversationKey, messageId: string): Promise<string> => {
    const first = known.get(conversation) ?? (await state.get(NAMESPACE, conversation));
    if (typeof first !== 'string') return messageId;
    remember(conversation, first);
    return isNewer(first, messageId) ? messageId : first;
  };
  return {
    of,
    async keep(conversation, messageId) {
      if ((await of(conversation, messageId)) !== messageId || known.get(conversation) === messageId) return;
      await state.set(NAMESPACE, conversation, messageId);
      remember(conversation, messageId);
    },
  };
}
