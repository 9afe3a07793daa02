import { z } from 'zod';
import type { Clock, ConversationKey, StateStore } from '../../../../src/adapter-kit.ts';
import { earliestTs } from '../places/place.ts';
import type { WireMessage } from '../wire.ts';

const NAMESPACE = 'slack.plain';

const noteSchema = z.object({
  nonce: z.string(),
  at: z.number(),
  /** The message; null until Slack has returned it. */
  ts: z.string().nullable().default(null),
});

interface PlainPost {
  readonly conversation: ConversationKey;
  readonly nonce: string;
}

/** Posts in words alone have no nonce at Slack. A note from before the post, and its words, identify them. */
export interface PlainPosts {
  /** Called before the post. Only the newest post of a conversation may be in doubt, so one note is enough. */
  note(post: PlainPost): Promise<void>;
  /** The post is this message. */
  sent(post: PlainPost, ts: string): Promise<void>;
  /** The newest of a conversation that is known to Slack; null if there is none. */
  newest(conversation: ConversationKey): Promise<string | null>;
  /** A test of whether a message of the bot is this post. */
  finder(post: PlainPost, text: string): Promise<(message: WireMessage) => boolean>;
}

export function createPlainPosts(state: StateStore, clock: Clock): PlainPosts {
  const noteIn = async (conversation: ConversationKey) =>
    noteSchema.safeParse(await state.get(NAMESPACE, conversation)).data ?? null;
  const noteOf = async ({ conversation, nonce }: PlainPost) => {
    const note = await noteIn(conversation);
    return note?.nonce === nonce ? note : null;
  };
  return {
    async note(post) {
      const { conversation, nonce } = post;
      if ((await noteOf(post)) === null) await state.set(NAMESPACE, conversation, { nonce, at: clock.now(), ts: null });
    },
    async sent(post, ts) {
      const note = await noteOf(post);
      if (note !== null && note.ts !== ts) await state.set(NAMESPACE, post.conversation, { ...note, ts });
    },
    newest: async (conversation) => (await noteIn(conversation))?.ts ?? null,
    async finder(post, text) {
      const note = await noteOf(post);
      if (note === null) return () => false;
      const since = Number(earliestTs(note.at));
      const words = wordsOf(text);
      return (message) => !message.metadata && Number(message.ts) >= since && wordsOf(message.text ?? '') === words;
    },
  };
}

/** Slack adds links and writes pictographs as names, so only letters and digits count. */
function wordsOf(text: string): string {
  return text
    .replace(/<([^<>\n]+)>/g, (_, inner: string) => inner.slice(inner.indexOf('|') + 1))
    .replace(/:[a-z0-9_+-]+:/g, '')
    .replace(/&(?:amp|lt|gt);|[^\p{L}\p{N}]/gu, '');
}
