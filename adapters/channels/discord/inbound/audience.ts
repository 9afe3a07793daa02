import { type Client, Events, type Role } from 'discord.js';
import {
  type Audience,
  type ChannelSink,
  type ConversationKey,
  type Cursor,
  describe,
  type Log,
} from '../../../../src/index.ts';
import { type KeyPlace, placeOfKey } from '../place.ts';
import type { Places } from '../places.ts';

export interface AudienceParts {
  readonly sink: ChannelSink;
  readonly places: Places;
  readonly log: Log;
}

/** Keeps the bot told of who can read a conversation. */
export interface AudienceWatch {
  /** The bot knows the conversation with this audience. */
  told(conversation: ConversationKey, audience: Audience): void;
  /** Looks at conversations that may have changed while nobody was connected. */
  review(cursors: readonly Cursor[]): Promise<void>;
  listen(client: Client): void;
  drained(): Promise<void>;
}

export function createAudienceWatch(parts: AudienceParts): AudienceWatch {
  const known = new Map<ConversationKey, Audience>();
  let running: Promise<void> = Promise.resolve();
  /** One change after the other; a failure is logged and stops no other. */
  const queue = (work: () => Promise<void>): void => {
    running = running.then(work).catch((error: unknown) => {
      parts.log.error('A change of a place was not taken up', { cause: describe(error) });
    });
  };
  const review = async (conversation: ConversationKey): Promise<void> => {
    const { channelId, threadId, guildId, isClosed } = placeOfKey(conversation);
    // Neither a direct message nor a private thread ever opens; once out of sight the thread would look like its channel.
    if (guildId === null || isClosed) return;
    const place = parts.places.peek(threadId ?? channelId) ?? parts.places.peek(channelId);
    const before = known.get(conversation) ?? 'public';
    if (place === null || place.audience === before) return;
    await parts.sink.audienceChanged(conversation, place.audience);
    known.set(conversation, place.audience);
  };
  const reviewAll = (isMeant: (place: KeyPlace) => boolean) =>
    queue(async () => {
      for (const conversation of known.keys()) if (isMeant(placeOfKey(conversation))) await review(conversation);
    });
  return {
    told: (conversation, audience) => known.set(conversation, audience),
    async review(cursors) {
      for (const { conversation } of cursors) {
        if (!known.has(conversation)) known.set(conversation, 'public');
        await review(conversation);
      }
    },
    listen(client) {
      const channelIs = (id: string) => (place: KeyPlace) => place.channelId === id;
      client.on(Events.ChannelUpdate, (_, channel) => reviewAll(channelIs(channel.id)));
      client.on(Events.GuildRoleUpdate, (_, role: Role) => {
        if (role.id === role.guild.id) reviewAll((place) => place.guildId === role.guild.id);
      });
    },
    drained: () => running,
  };
}
