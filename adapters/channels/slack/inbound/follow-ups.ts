import { z } from 'zod';
import type { Author, ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';
import { mentionsBot, type Self } from '../map.ts';
import { isDirect } from '../place.ts';
import { mentionedIds } from '../text.ts';
import type { WireMessage } from '../wire.ts';

const NAMESPACE = 'slack.asked';
const MAX_KNOWN = 5_000;
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
  const known = new Map<ConversationKey, readonly string[]>();
  const peopleOf = async (conversation: ConversationKey): Promise<readonly string[]> => {
    const people = known.get(conversation) ?? peopleSchema.parse(await state.get(NAMESPACE, conversation));
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(conversation, people);
    return people;
  };
  return {
    async includes({ conversation, place, author, message }) {
      const isInThread = place.threadTs !== null && !isDirect(place.channelId, null);
      if (!isInThread || author.kind === 'bot') return false;
      const people = await peopleOf(conversation);
      const isKnown = people.includes(author.id);
      if (!mentionsBot(message, self)) return isKnown && mentionedIds(message.text ?? '').length === 0;
      if (isKnown) return true;
      const grown = [...people, author.id].slice(-MAX_PEOPLE);
      await state.set(NAMESPACE, conversation, grown);
      known.set(conversation, grown);
      return true;
    },
  };
}
