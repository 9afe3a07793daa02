import { z } from 'zod';
import type { Author, ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';
import { mentionsBot, type Self } from '../map.ts';
import { isDirect } from '../place.ts';
import { mentionedIds } from '../text.ts';
import type { WireMessage } from '../wire.ts';

const NAMESPACE = 'slack.asked';
/** Per thread; the oldest are dropped first. */
const MAX_PEOPLE = 100;

const peopleSchema = z.array(z.string()).catch([]);

/** People who have asked the bot in a thread of a channel. Their next message there needs no mention. */
export interface FollowUps {
  /**
   * Whether the message continues an exchange with the bot. A message that mentions somebody else does not, nor does
   * one by another bot. Remembers the authors of mentions.
   */
  includes(said: Said): Promise<boolean>;
}

export interface Said {
  readonly conversation: ConversationKey;
  readonly place: { readonly channelId: string; readonly threadTs: string | null };
  readonly author: Author;
  readonly message: WireMessage;
}

export function createFollowUps(state: StateStore, self: Self): FollowUps {
  return {
    async includes({ conversation, place, author, message }) {
      const isInThread = place.threadTs !== null && !isDirect(place.channelId, null);
      if (!isInThread || author.kind === 'bot') return false;
      // Read each time: the store deletes it with the conversation.
      const people = peopleSchema.parse(await state.get(NAMESPACE, conversation));
      const isKnown = people.includes(author.id);
      if (!mentionsBot(message, self)) return isKnown && mentionedIds(message.text ?? '').length === 0;
      if (isKnown) return true;
      await state.set(NAMESPACE, conversation, [...people, author.id].slice(-MAX_PEOPLE));
      return true;
    },
  };
}
