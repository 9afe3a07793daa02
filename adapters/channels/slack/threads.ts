import { z } from 'zod';
import type { ConversationKey, StateStore } from '../../../src/index.ts';
import { placeOfKey } from './place.ts';

const NAMESPACE = 'slack.threads';

const newestSchema = z.object({ threadTs: z.string().nullable(), userId: z.string() });
export type Newest = z.infer<typeof newestSchema>;

/** Where the newest message of a conversation stands, and whose it is: where and to whom the bot answers. */
export interface Threads {
  /** Told before the message is stored, so that no reply can be earlier. */
  told(conversation: ConversationKey, newest: Newest): Promise<void>;
  /** The thread to post into: that of the key, else of the newest message. */
  of(conversation: ConversationKey): Promise<string | null>;
  /** Who spoke last; null when that is not known. */
  personOf(conversation: ConversationKey): string | null;
}

const MOST_KNOWN = 5_000;

export function createThreads(state: StateStore): Threads {
  const known = new Map<ConversationKey, Newest>();
  const remember = (conversation: ConversationKey, newest: Newest): void => {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(conversation, newest);
  };
  return {
    async told(conversation, newest) {
      const before = known.get(conversation);
      remember(conversation, newest);
      const { channelId, threadTs } = placeOfKey(conversation);
      // Only where many threads are one conversation does the key not say where to answer.
      if (threadTs !== null || !channelId.startsWith('D') || before?.threadTs === newest.threadTs) return;
      await state.set(NAMESPACE, conversation, newest);
    },
    async of(conversation) {
      const { threadTs, channelId } = placeOfKey(conversation);
      if (threadTs !== null) return threadTs;
      if (!channelId.startsWith('D')) return null;
      const newest = known.get(conversation) ?? newestSchema.safeParse(await state.get(NAMESPACE, conversation)).data;
      return newest?.threadTs ?? null;
    },
    personOf: (conversation) => known.get(conversation)?.userId ?? null,
  };
}
