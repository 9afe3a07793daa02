import { z } from 'zod';
import { type ConversationKey, createRecentMap, type StateStore } from '../../../../src/adapter-kit.ts';
import { isDirect, placeOfKey } from './place.ts';

const NAMESPACE = 'slack.threads';
const POSTS = 'slack.posts';

const keptSchema = z.object({ threadTs: z.string().nullable() });

export interface Newest {
  readonly threadTs: string | null;
  readonly userId: string;
  readonly ts: string;
}

/** The thread and author of the newest message of a conversation: where and to whom the bot answers. */
export interface Threads {
  /** Call it before the message is stored, so that no reply can be earlier. */
  setNewest(conversation: ConversationKey, newest: Newest): Promise<void>;
  /** Call it if no message was stored: nothing else would delete what is kept. */
  forget(conversation: ConversationKey): Promise<void>;
  /** The current thread for posts: that of the key, otherwise of the newest message. */
  of(conversation: ConversationKey): Promise<string | null>;
  /**
   * The thread of one post: the same for every attempt, whatever was said since. `first`: its position if it exists
   * already.
   */
  forPost(conversation: ConversationKey, nonce: string, first?: string | null): Promise<string | null>;
  /** The newest message that this process has seen; null if unknown. */
  newestOf(conversation: ConversationKey): string | null;
  /** The last author; null if unknown. */
  personOf(conversation: ConversationKey): string | null;
}

const postSchema = z.object({ nonce: z.string(), threadTs: z.string().nullable() });
const MAX_KNOWN = 5_000;

export function createThreads(state: StateStore): Threads {
  const known = createRecentMap<ConversationKey, Newest>(MAX_KNOWN);
  const of = async (conversation: ConversationKey): Promise<string | null> => {
    if (!spansThreads(conversation)) return placeOfKey(conversation).threadTs;
    const newest = known.get(conversation) ?? keptSchema.safeParse(await state.get(NAMESPACE, conversation)).data;
    return newest?.threadTs ?? null;
  };
  return {
    async setNewest(conversation, newest) {
      known.set(conversation, newest);
      if (!spansThreads(conversation)) return;
      // Read each time: the store deletes it with the conversation.
      const before = keptSchema.safeParse(await state.get(NAMESPACE, conversation)).data;
      if (before?.threadTs === newest.threadTs) return;
      await state.set(NAMESPACE, conversation, { threadTs: newest.threadTs });
    },
    async forget(conversation) {
      known.delete(conversation);
      if (spansThreads(conversation)) await state.delete(NAMESPACE, conversation);
    },
    of,
    async forPost(conversation, nonce, first) {
      if (!spansThreads(conversation)) return placeOfKey(conversation).threadTs;
      // Posts of a conversation go out one at a time, so the next one shows that the previous one is settled.
      const kept = postSchema.safeParse(await state.get(POSTS, conversation)).data;
      if (kept?.nonce === nonce) return kept.threadTs;
      const threadTs = first === undefined ? await of(conversation) : first;
      await state.set(POSTS, conversation, { nonce, threadTs });
      return threadTs;
    },
    newestOf: (conversation) => known.get(conversation)?.ts ?? null,
    personOf: (conversation) => known.get(conversation)?.userId ?? null,
  };
}

/** Only if many threads of a direct message form one conversation, the key does not determine the thread. */
function spansThreads(conversation: ConversationKey): boolean {
  const { channelId, threadTs } = placeOfKey(conversation);
  return threadTs === null && isDirect(channelId, null);
}
