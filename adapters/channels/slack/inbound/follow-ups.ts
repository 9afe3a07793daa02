import { z } from 'zod';
import type { Author, ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';
import { mentionsBot, type Self } from '../map.ts';
import { isDirect } from '../places/place.ts';
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
   * one by another bot.
   */
  includes(said: Said): Promise<boolean>;
  /** The message was stored. Remembers the author of a mention. */
  keep(said: Said): Promise<void>;
}

export interface Said {
  readonly conversation: ConversationKey;
  readonly place: { readonly channelId: string; readonly threadTs: string | null };
  readonly author: Author;
  readonly message: WireMessage;
}

export function createFollowUps(state: StateStore, self: Self): FollowUps {
  // Read each time: the store deletes it with the conversation.
  const peopleIn = async (conversation: ConversationKey) =>
    peopleSchema.parse(await state.get(NAMESPACE, conversation));
  return {
    async includes(said) {
      const { conversation, author, message } = said;
      if (!mayFollowUp(said)) return false;
      if (mentionsBot(message, self)) return true;
      return mentionedIds(message.text ?? '').length === 0 && (await peopleIn(conversation)).includes(author.id);
    },
    async keep(said) {
      const { conversation, author, message } = said;
      if (!mayFollowUp(said) || !mentionsBot(message, self)) return;
      const people = await peopleIn(conversation);
      if (people.includes(author.id)) return;
      await state.set(NAMESPACE, conversation, [...people, author.id].slice(-MAX_PEOPLE));
    },
  };
}

function mayFollowUp({ place, author }: Said): boolean {
  return place.threadTs !== null && !isDirect(place.channelId, null) && author.kind !== 'bot';
}
