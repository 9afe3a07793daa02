import { type Client, Events, GatewayDispatchEvents, Routes } from 'discord.js';
import { type ConversationKey, type Cursor, describe } from '../../../../src/adapter-kit.ts';
import {
  type KeyPlace,
  keyOf,
  PLATFORM,
  placeOfKey,
  placeOfWorkspace,
  targetOf,
  workspaceOfGuild,
} from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { isClosedOrDeleted, isNotIn } from '../web/retry.ts';
import { removedMembersSchema } from '../wire.ts';
import type { Unread } from './unread.ts';

export interface LeavingOptions extends Pick<BotServices, 'bot' | 'sink' | 'places' | 'rest' | 'log' | 'signal'> {
  readonly unread: Unread;
}

/** Deletes the data of places that were deleted or that the bot was removed from. */
export interface Leaving {
  /**
   * Checks for servers, channels and threads that disappeared while the bot was offline. Only recently active threads:
   * Discord does not list them all, and each check costs a request.
   */
  review(isMeant: (guildId: string) => boolean, recent: readonly Cursor[]): Promise<void>;
  listen(client: Client): void;
  /** The library knows nothing of the members of threads. */
  packet(type: string, data: unknown): void;
  drained(): Promise<void>;
}

export function createLeaving(options: LeavingOptions): Leaving {
  let running: Promise<void> = Promise.resolve();
  const queue = (work: () => Promise<void>): Promise<void> => {
    running = running.then(work).catch((error: unknown) => logFailure(options, error));
    return running;
  };
  return {
    review: (isMeant, recent) => queue(() => leaveGone(options, isMeant, recent)),
    listen(client) {
      client.on(Events.ChannelDelete, (channel) => {
        if (channel.isDMBased()) return undefined;
        return queue(() => leaveChannel(options, { guildId: channel.guildId, channelId: channel.id }));
      });
      client.on(Events.ThreadDelete, ({ id, guildId }) => queue(() => leaveThread(options, { guildId, threadId: id })));
      client.on(Events.GuildDelete, ({ id }) => queue(() => leaveGuild(options, id)));
    },
    packet(type, data) {
      const removal =
        type === GatewayDispatchEvents.ThreadMembersUpdate ? removedMembersSchema.safeParse(data).data : null;
      if (!removal?.removed_member_ids.includes(options.places.self(null).userId)) return;
      void queue(() => leaveThread(options, { guildId: removal.guild_id, threadId: removal.id }, isShut));
    },
    drained: () => running,
  };
}

function logFailure({ log }: LeavingOptions, error: unknown): void {
  log.error('The data of a removed channel or server could not be deleted', { cause: describe(error) });
}

/** Only if Discord confirms it: a list of servers may lack one for other reasons. */
async function leaveGuild({ bot, sink, rest, unread }: LeavingOptions, guildId: string): Promise<void> {
  try {
    await rest.get(Routes.guild(guildId));
  } catch (error) {
    if (!isNotIn(error)) throw error;
    const workspace = workspaceOfGuild(bot, guildId);
    for await (const { conversation } of sink.conversations.within(workspace))
      await unread.done(channelOf(conversation));
    await sink.left({ workspace });
  }
}

/** Nothing of it will be read any more. */
async function leave({ sink, unread }: LeavingOptions, conversation: ConversationKey): Promise<void> {
  await sink.left(conversation);
  await unread.done(channelOf(conversation));
}

function channelOf(conversation: ConversationKey): string {
  return targetOf(placeOfKey(conversation));
}

async function leaveChannel(
  options: LeavingOptions,
  { guildId, channelId }: { readonly guildId: string; readonly channelId: string },
): Promise<void> {
  const { bot, sink } = options;
  const scope = keyOf(bot, { guildId, channelId, threadId: null });
  for await (const { conversation } of sink.conversations.within(scope)) await leave(options, conversation);
}

type IsLeft = (options: LeavingOptions, place: KeyPlace) => Promise<boolean>;

/** Discord may omit the parent channel of the thread. */
async function leaveThread(
  options: LeavingOptions,
  { guildId, threadId }: { readonly guildId: string; readonly threadId: string },
  isLeft: IsLeft = async () => true,
): Promise<void> {
  const { bot, sink } = options;
  for await (const { conversation } of sink.conversations.within(workspaceOfGuild(bot, guildId))) {
    const place = placeOfKey(conversation);
    if (place.threadId === threadId && (await isLeft(options, place))) await leave(options, conversation);
  }
}

/** Whether Discord no longer shows a private thread, although it shows its channel: the bot was removed from it. */
async function isShut({ places, rest }: LeavingOptions, { channelId, threadId, isClosed }: KeyPlace): Promise<boolean> {
  if (isClosed !== true || threadId === null || !places.isVisible(channelId)) return false;
  try {
    await rest.get(Routes.channel(threadId));
    return false;
  } catch (error) {
    if (!isClosedOrDeleted(error)) throw error;
    return true;
  }
}

async function leaveGone(
  options: LeavingOptions,
  isMeant: (guildId: string) => boolean,
  recent: readonly Cursor[],
): Promise<void> {
  const { sink, places, bot, signal } = options;
  for await (const workspace of sink.conversations.workspaces(PLATFORM)) {
    if (signal.aborted) return;
    const { bot: owner, guildId } = placeOfWorkspace(workspace);
    if (owner !== bot || guildId === null || !isMeant(guildId)) continue;
    if (places.isIn(guildId)) await leaveGoneChannels(options, guildId);
    else await leaveGuild(options, guildId).catch((error: unknown) => logFailure(options, error));
  }
  for (const { conversation } of recent) {
    if (signal.aborted) return;
    await leaveGoneThread(options, conversation).catch((error: unknown) => logFailure(options, error));
  }
}

async function leaveGoneThread(options: LeavingOptions, conversation: ConversationKey): Promise<void> {
  const { places } = options;
  const place = placeOfKey(conversation);
  if (place.guildId === null || place.threadId === null || !places.isIn(place.guildId)) return;
  if ((await places.isDeleted(targetOf(place))) || (await isShut(options, place))) await leave(options, conversation);
}

/** Each channel is checked once, with all its threads. */
async function leaveGoneChannels(options: LeavingOptions, guildId: string): Promise<void> {
  const { sink, places, bot, signal } = options;
  let last = { channelId: '', isGone: false };
  for await (const { conversation } of sink.conversations.within(workspaceOfGuild(bot, guildId))) {
    if (signal.aborted) return;
    const { channelId } = placeOfKey(conversation);
    if (channelId !== last.channelId) last = { channelId, isGone: await places.isDeleted(channelId) };
    if (last.isGone) await leave(options, conversation);
  }
}
