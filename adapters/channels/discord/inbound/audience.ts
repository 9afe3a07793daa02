import { type Client, Events, type Role } from 'discord.js';
import { type ChannelSink, describe, type KeptConversation } from '../../../../src/adapter-kit.ts';
import { keyOf, placeOfKey, workspaceOfGuild } from '../places/place.ts';
import type { BotServices } from '../services.ts';

export interface AudienceOptions extends Pick<BotServices, 'bot' | 'places' | 'log'> {
  readonly sink: Pick<ChannelSink, 'audienceChanged' | 'conversations'>;
}

/** Narrows the audience of stored conversations when their place becomes more private. */
export interface AudienceWatch {
  /** Checks servers that may have changed while the bot was offline. */
  review(guildIds: readonly string[]): Promise<void>;
  listen(client: Client): void;
  drained(): Promise<void>;
}

export function createAudienceWatch(options: AudienceOptions): AudienceWatch {
  const { bot } = options;
  let running: Promise<void> = Promise.resolve();
  /** One change at a time; a failure is logged and does not stop the others. */
  const queue = (scope: string): void => {
    running = running
      .then(() => reviewAll(options, scope))
      .catch((error: unknown) => {
        options.log.error('A changed channel could not be updated', { scope, cause: describe(error) });
      });
  };
  return {
    async review(guildIds) {
      for (const guildId of guildIds) await reviewAll(options, workspaceOfGuild(bot, guildId));
    },
    listen(client) {
      client.on(Events.ChannelUpdate, (_, channel) => {
        if (channel.isDMBased()) return;
        queue(keyOf(bot, { guildId: channel.guildId, channelId: channel.id, threadId: null }));
      });
      client.on(Events.GuildRoleUpdate, (_, role: Role) => {
        if (role.id === role.guild.id) queue(workspaceOfGuild(bot, role.guild.id));
      });
    },
    drained: () => running,
  };
}

async function reviewAll(options: AudienceOptions, scope: string): Promise<void> {
  for await (const kept of options.sink.conversations.within(scope)) await review(options, kept);
}

async function review({ places, sink }: AudienceOptions, { conversation, audience }: KeptConversation): Promise<void> {
  const { channelId, threadId, isClosed } = placeOfKey(conversation);
  // A private thread never becomes public. Once invisible, it would look like its channel.
  if (isClosed) return;
  const place = places.peek(threadId ?? channelId) ?? places.peek(channelId);
  if (place === null || place.isAudienceAssumed === true || place.audience === audience) return;
  await sink.audienceChanged(conversation, place.audience);
}
