import { z } from 'zod';
import { type ConversationKey, createRecentMap } from '../../../../src/adapter-kit.ts';
import type { BotServices } from '../services.ts';
import type { WireAppContext } from '../wire.ts';

const NAMESPACE = 'slack.viewing';
const MAX_KNOWN = 5_000;

/** The channel that a person is viewing while they write to the bot, as reported by Slack's agent surface. */
export interface UserContexts {
  /** Null if the person views nothing, or no channel. */
  setViewed(userId: string, channelId: string | null): Promise<void>;
  /** The note before the person's next message; null if nothing has changed since the last one. */
  noteFor(conversation: ConversationKey, userId: string): Promise<string | null>;
}

export function createUserContexts({
  workspace,
  state,
  places,
}: Pick<BotServices, 'workspace' | 'state' | 'places'>): UserContexts {
  const known = createRecentMap<string, string>(MAX_KNOWN);
  const noted = createRecentMap<ConversationKey, string>(MAX_KNOWN);
  const keyOf = (userId: string) => `${workspace.teamId}:${userId}`;
  const now = async (userId: string): Promise<string> => {
    const key = keyOf(userId);
    const value = known.get(key) ?? z.string().safeParse(await state.get(NAMESPACE, key)).data ?? '';
    // They may have switched channels during the query.
    const newest = known.get(key) ?? value;
    known.set(key, newest);
    return newest;
  };
  return {
    async setViewed(userId, channelId) {
      const key = keyOf(userId);
      const next = channelId ?? '';
      const before = known.get(key);
      // Synchronously, because the next message may ask before the store responds.
      known.set(key, next);
      if ((before ?? (await state.get(NAMESPACE, key)) ?? '') !== next) await state.set(NAMESPACE, key, next);
    },
    async noteFor(conversation, userId) {
      const channelId = await now(userId);
      if (channelId === (noted.get(conversation) ?? '')) return null;
      noted.set(conversation, channelId);
      // For a channel that the bot cannot see, there is no name to mention.
      const name = channelId === '' ? null : (await places.channel(channelId))?.name;
      return name ? `[the sender is looking at #${name}]` : null;
    },
  };
}

const messageContextSchema = z.object({ channel_id: z.string() });

/** The first viewed channel, or the channel of a viewed message. Slack orders by relevance. */
export function channelIn(context: WireAppContext | null | undefined): string | null {
  for (const { type, value } of context?.entities ?? []) {
    if (type.endsWith('/channel_id') && typeof value === 'string') return value;
    const message = messageContextSchema.safeParse(value).data;
    if (message !== undefined) return message.channel_id;
  }
  return null;
}
