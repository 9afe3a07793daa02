import { type Client, Events } from 'discord.js';
import { type ChannelSink, type Cursor, describe, type Log, workspaceOf } from '../../../../src/index.ts';
import { type KeyPlace, keyOf, PLATFORM, placeOfKey, targetOf } from '../place.ts';
import type { Places } from '../places.ts';

export interface LeavingParts {
  readonly bot: string;
  readonly sink: ChannelSink;
  readonly places: Places;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Deletes what is kept of places that the bot was removed from, and of those that are gone. */
export interface Leaving {
  /** Looks for servers, channels and threads that went away while nobody was connected. */
  review(cursors: readonly Cursor[]): Promise<void>;
  listen(client: Client): void;
  drained(): Promise<void>;
}

export function createLeaving(parts: LeavingParts): Leaving {
  let running: Promise<void> = Promise.resolve();
  const queue = (work: () => Promise<void>): Promise<void> => {
    running = running.then(work).catch((error: unknown) => {
      parts.log.error('What was kept of a place that is gone could not be deleted', { cause: describe(error) });
    });
    return running;
  };
  return {
    review: (cursors) => queue(() => leaveGone(parts, cursors)),
    listen(client) {
      client.on(Events.ChannelDelete, ({ id }) => queue(() => leave(parts, ({ channelId }) => channelId === id)));
      client.on(Events.ThreadDelete, ({ id }) => queue(() => leave(parts, ({ threadId }) => threadId === id)));
      client.on(Events.GuildDelete, ({ id }) => queue(() => leaveGuild(parts, id)));
    },
    drained: () => running,
  };
}

async function leave({ bot, sink }: LeavingParts, isMeant: (place: KeyPlace) => boolean): Promise<void> {
  for (const { conversation } of await sink.cursors(PLATFORM)) {
    const place = placeOfKey(conversation);
    if (place.bot === bot && isMeant(place)) await sink.left(conversation);
  }
}

async function leaveGuild({ bot, sink }: LeavingParts, guildId: string): Promise<void> {
  const anywhere = keyOf(bot, { guildId, channelId: guildId, threadId: null });
  await sink.left({ workspace: workspaceOf(anywhere) });
}

async function leaveGone(parts: LeavingParts, cursors: readonly Cursor[]): Promise<void> {
  const left = new Set<string>();
  for (const { conversation } of cursors) {
    if (parts.signal.aborted) return;
    const place = placeOfKey(conversation);
    const { guildId } = place;
    if (guildId === null || left.has(guildId)) continue;
    if (!parts.places.isIn(guildId)) {
      left.add(guildId);
      await leaveGuild(parts, guildId);
    } else if (await parts.places.isDeleted(targetOf(place))) {
      await parts.sink.left(conversation);
    }
  }
}
