import type { ConversationKey, StateStore } from '../../../src/index.ts';
import { isNewer } from './wire.ts';

const NAMESPACE = 'discord.beginnings';
const MOST_KNOWN = 5_000;

/** The first message that was kept of each conversation: what is older can only be quoted. */
export interface Beginnings {
  /** Remembers `messageId` as the first one when there is none yet. */
  of(conversation: ConversationKey, messageId: string): Promise<string>;
}

export function createBeginnings(state: StateStore): Beginnings {
  const known = new Map<ConversationKey, string>();
  const keep = (conversation: ConversationKey, first: string): string => {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(conversation, first);
    return first;
  };
  return {
    async of(conversation, messageId) {
      const first = known.get(conversation) ?? (await state.get(NAMESPACE, conversation));
      if (typeof first === 'string' && !isNewer(first, messageId)) return keep(conversation, first);
      await state.set(NAMESPACE, conversation, messageId);
      return keep(conversation, messageId);
    },
  };
}
