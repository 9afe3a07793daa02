import {
  type ConversationKey,
  type HeardBy,
  type MessageAt,
  makeKey,
  parseKey,
  workspaceOf,
} from '../../../../src/adapter-kit.ts';

export const PLATFORM = 'discord';
const DIRECT = 'dm';

/** A place in Discord's terms. */
export interface Place extends HeardBy {
  /** Null in direct messages. */
  readonly guildId: string | null;
  /** The channel, or the parent channel of the thread. */
  readonly channelId: string;
  readonly threadId: string | null;
  /** A private thread, which only some readers of the channel can read. */
  readonly isClosed?: boolean;
}

/** `discord:GUILD:CHANNEL[:THREAD]`, `discord:dm:CHANNEL`; a named bot comes before the guild (`helper@GUILD`), `~` before a private thread. */
export function keyOf(bot: string, place: Omit<Place, keyof HeardBy>): ConversationKey {
  const { guildId, channelId, threadId, isClosed = false } = place;
  const home = guildId ?? DIRECT;
  const workspace = bot === '' ? home : `${bot}@${home}`;
  return makeKey({ platform: PLATFORM, workspace, channel: channelId, thread: threadId, isClosed });
}

export interface KeyPlace extends Omit<Place, keyof HeardBy> {
  readonly bot: string;
}

export function placeOfKey(key: ConversationKey): KeyPlace {
  const { workspace, channel, thread, isClosed } = parseKey(key);
  const at = workspace.indexOf('@');
  const home = workspace.slice(at + 1);
  return {
    bot: at === -1 ? '' : workspace.slice(0, at),
    guildId: home === DIRECT ? null : home,
    channelId: channel,
    threadId: thread,
    ...(isClosed ? { isClosed } : {}),
  };
}

/** The keys of all conversations of a server begin with it. */
export function workspaceOfGuild(bot: string, guildId: string): string {
  return workspaceOf(keyOf(bot, { guildId, channelId: guildId, threadId: null }));
}

export function placeOfWorkspace(workspace: string): Pick<KeyPlace, 'bot' | 'guildId'> {
  return placeOfKey(parseKey(`${workspace}:-`).key);
}

/** The id for posting to the conversation: threads are channels of their own. */
export function targetOf(place: Pick<Place, 'channelId' | 'threadId'>): string {
  return place.threadId ?? place.channelId;
}

export function linkTo({ conversation, externalId }: MessageAt, site: string): string {
  const place = placeOfKey(conversation);
  return `${site}/channels/${place.guildId ?? '@me'}/${targetOf(place)}/${externalId}`;
}
