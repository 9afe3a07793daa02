import {
  type Channel,
  ChannelType,
  type Client,
  type GuildBasedChannel,
  PermissionFlagsBits,
  type PermissionsBitField,
} from 'discord.js';
import { createRecentMap, type HeardBy } from '../../../../src/adapter-kit.ts';
import { isDeleted, isOutOfReach } from '../web/retry.ts';
import { isNewer, snowflakeAt, type WireMessage } from '../wire.ts';
import type { Place } from './place.ts';

/** The gateway's knowledge of servers and channels. */
export interface Places {
  /**
   * Null if the bot cannot see the channel. Asks Discord for unknown channels; rejects if that fails. A channel of a kind
   * that the library does not know is a private place in `guildId`.
   */
  find(channelId: string, guildId: string | null): Promise<Place | null>;
  /** The same, from the cache only. */
  peek(channelId: string): Place | null;
  /** The permissions that it takes to read the channel and its history. */
  readingOf(channelId: string): bigint;
  /** Whether the bot may write in the channel, as far as its roles and the channel's settings show. True if unknown. */
  mayWrite(channelId: string): boolean;
  /** Whether the bot may see the channel, and knows it. */
  isVisible(channelId: string): boolean;
  /** The title of the post that the message begins in a forum; null for every other message. */
  titleOf(message: Pick<WireMessage, 'id' | 'channel_id'>): string | null;
  /** The newest message of the channel according to Discord; null if unknown. */
  newestMessage(channelId: string): string | null;
  /** The newest message of the shard's servers according to Discord; null if unknown. */
  newestOf(shardId: number): string | null;
  /** Channels and threads of the shard with newer messages than this one, newest first. */
  activeSince(shardId: number, messageId: string): readonly ActivePlace[];
  /** The servers of the shard that the bot is in. */
  guildsOf(shardId: number): readonly string[];
  /** Whether the bot is in the server, even if it is currently unavailable. */
  isIn(guildId: string): boolean;
  /** Whether the bot is in the server, and the server is available. */
  isAvailable(guildId: string): boolean;
  /** Messages of the server before this one do not concern the bot: it was not there. */
  joinedAfter(guildId: string): string;
  /** Whether the channel no longer exists. An invisible one may exist. */
  isDeleted(channelId: string): Promise<boolean>;
  shardOf(guildId: string | null): number;
  self(guildId: string | null): Self;
  /** The names that all readers of a place may see; in direct messages, those that everyone in a server can see. */
  namesIn(place: Located): Names;
}

/** The bot itself, as others address it. */
export interface Self {
  readonly userId: string;
  /** Roles that address the bot, such as the one that Discord created for it. */
  readonly roleIds: readonly string[];
}

/** The names for the ids in a text. Null if unknown. */
export interface Names {
  readonly channel: (id: string) => string | null;
  readonly role: (id: string) => string | null;
}

type Located = Pick<Place, 'guildId' | 'channelId' | 'threadId'>;

export interface ActivePlace {
  readonly place: Place;
  /** Messages before this one do not concern the bot. */
  readonly since: string;
}

const MAX_ODD = 1_000;
const MAX_DIRECT = 1_000;

export function createPlaces(clientNow: () => Client | null): Places {
  const shardOf = (guildId: string | null): number => {
    const count = clientNow()?.options.shardCount ?? 1;
    return guildId === null ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count));
  };
  const cached = (id: string): Channel | null => clientNow()?.channels.cache.get(id) ?? null;
  const activeSince = (shardId: number, messageId: string) =>
    [...(clientNow()?.channels.cache.values() ?? [])]
      .flatMap((channel) => activeFrom(channel, messageId))
      .filter(({ place }) => shardOf(place.guildId) === shardId)
      .toSorted((one, other) => (isNewer(one.newest, other.newest) ? -1 : 1));
  return {
    find: createFinder(clientNow),
    peek(channelId) {
      const channel = cached(channelId);
      return channel === null ? null : placeFrom(channel);
    },
    readingOf(channelId) {
      const channel = cached(channelId);
      return channel === null ? READING : readingOf(channel);
    },
    mayWrite(channelId) {
      const channel = cached(channelId);
      return channel === null || channel.isDMBased() || mayWriteIn(channel);
    },
    isVisible: (channelId) => isVisible(cached(channelId)),
    titleOf({ id, channel_id: channelId }) {
      // Only the first message of a post has the id of its own thread.
      const channel = id === channelId ? cached(channelId) : null;
      return channel?.isThread() ? channel.name : null;
    },
    newestMessage(channelId) {
      const channel = cached(channelId);
      return channel !== null && 'lastMessageId' in channel ? (channel.lastMessageId ?? null) : null;
    },
    newestOf: (shardId) => activeSince(shardId, '0')[0]?.newest ?? null,
    activeSince,
    guildsOf: (shardId) => [...(clientNow()?.guilds.cache.keys() ?? [])].filter((id) => shardOf(id) === shardId),
    isAvailable: (guildId) => clientNow()?.guilds.cache.get(guildId)?.available ?? false,
    isIn: (guildId) => clientNow()?.guilds.cache.has(guildId) ?? false,
    joinedAfter: (guildId) => snowflakeAt(clientNow()?.guilds.cache.get(guildId)?.joinedTimestamp ?? 0),
    async isDeleted(channelId) {
      if (cached(channelId) !== null) return false;
      try {
        // Without a result, it is of a kind that the library does not know.
        await clientNow()?.channels.fetch(channelId);
        return false;
      } catch (error) {
        return isDeleted(error);
      }
    },
    shardOf,
    self: (guildId) => selfIn(clientNow(), guildId),
    namesIn: (here) => ({
      channel: (id) => {
        const channel = cached(id);
        return channel !== null && isKnownIn(channel, here) && 'name' in channel ? channel.name : null;
      },
      role: (id) =>
        clientNow()
          ?.guilds.cache.get(here.guildId ?? '')
          ?.roles.cache.get(id)?.name ?? null,
    }),
  };
}

function selfIn(client: Client | null, guildId: string | null): Self {
  const userId = client?.user?.id ?? '';
  const guild = guildId === null ? undefined : client?.guilds.cache.get(guildId);
  const own = guild?.roles.cache.filter((role) => role.tags?.botId === userId);
  return { userId, roleIds: own === undefined ? [] : [...own.keys()] };
}

function createFinder(clientNow: () => Client | null): Places['find'] {
  /** Channels of kinds that the library does not know. */
  const odd = createRecentMap<string, true>(MAX_ODD);
  /** The library would keep each of them for good, and most people use the bot once. */
  const direct = createRecentMap<string, Place | null>(MAX_DIRECT);
  return async (channelId, guildId) => {
    const channels = clientNow()?.channels;
    if (channels === undefined) return null;
    const kept = direct.get(channelId);
    if (kept !== undefined) return kept;
    const known = channels.cache.get(channelId);
    const oddPlace = guildId === null ? null : { guildId, channelId, threadId: null, ...UNKNOWN };
    if (known === undefined && odd.has(channelId)) return oddPlace;
    try {
      const channel = known ?? (await channels.fetch(channelId));
      if (channel?.isDMBased()) {
        direct.set(channelId, placeFrom(channel));
        channels.cache.delete(channelId);
      }
      if (channel !== null) return placeFrom(channel);
    } catch (error) {
      // Deleted or invisible: either way not a place of this bot.
      if (isOutOfReach(error)) return null;
      throw error;
    }
    odd.set(channelId, true);
    return oddPlace;
  };
}

/** Anyone can write the id of a private channel, or of one in another server. That must not reveal its name. */
function isKnownIn(channel: Channel, here: Located): boolean {
  const place = placeFrom(channel);
  if (place === null) return false;
  const isHere = place.channelId === here.channelId && (!place.isClosed || place.threadId === here.threadId);
  return isHere || (isListed(channel, place) && (here.guildId === null || place.guildId === here.guildId));
}

/** Whether everyone in its server sees the name: of a channel in its list, even if they cannot read or join it. */
function isListed(channel: Channel, { audience }: Place): boolean {
  if (channel.isDMBased() || channel.isThread()) return audience === 'public';
  return everyoneIn(channel)?.has(PermissionFlagsBits.ViewChannel) ?? false;
}

function activeFrom(channel: Channel, messageId: string): readonly (ActivePlace & { readonly newest: string })[] {
  if (channel.isDMBased() || !channel.isTextBased()) return [];
  // A server may leave the field out.
  const newest = channel.lastMessageId ?? null;
  const place = placeFrom(channel);
  if (place === null || newest === null || !isNewer(newest, messageId)) return [];
  const joined = snowflakeAt(channel.guild.joinedTimestamp);
  return [{ place, newest, since: isNewer(joined, messageId) ? joined : messageId }];
}

export function placeFrom(channel: Channel): Place | null {
  if (channel.isDMBased()) return { guildId: null, channelId: channel.id, threadId: null, audience: 'dm' };
  if (!channel.isThread()) {
    return { guildId: channel.guildId, channelId: channel.id, threadId: null, ...readersOf(channel) };
  }
  const { parent, parentId, guildId, id, type } = channel;
  if (parentId === null) return null;
  const thread = { guildId, channelId: parentId, threadId: id };
  if (type === ChannelType.PrivateThread) return { ...thread, isClosed: true, audience: 'private' };
  return { ...thread, ...(parent === null ? UNKNOWN : readersOf(parent)) };
}

/** During an outage of its server, a channel may be known without the data that determines who reads it. */
const UNKNOWN: HeardBy = { audience: 'private', isAudienceAssumed: true };

const VOICE: ReadonlySet<ChannelType> = new Set([ChannelType.GuildVoice, ChannelType.GuildStageVoice]);
const READING = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

/** The chat of a voice channel is only for people who may join. */
function readingOf({ type }: Channel): bigint {
  return VOICE.has(type) ? READING | PermissionFlagsBits.Connect : READING;
}

/** Public means that everyone in the server can read the channel and its history, whatever their age. */
function readersOf(channel: GuildBasedChannel): HeardBy {
  const everyone = everyoneIn(channel);
  if (everyone === null) return UNKNOWN;
  const isAgeRestricted = 'nsfw' in channel && channel.nsfw;
  return { audience: everyone.has(readingOf(channel)) && !isAgeRestricted ? 'public' : 'private' };
}

function isVisible(channel: Channel | null): boolean {
  return channel !== null && !channel.isDMBased() && channel.viewable;
}

function mayWriteIn(channel: GuildBasedChannel): boolean {
  const { me } = channel.guild.members;
  const own = me === null ? null : channel.permissionsFor(me);
  if (me === null || own === null || own.has(PermissionFlagsBits.Administrator)) return true;
  if (me.isCommunicationDisabled()) return false;
  if (!channel.isThread()) return own.has(PermissionFlagsBits.SendMessages);
  const isLocked = channel.locked === true && !own.has(PermissionFlagsBits.ManageThreads);
  return own.has(PermissionFlagsBits.SendMessagesInThreads) && !isLocked;
}

function everyoneIn(channel: GuildBasedChannel): Readonly<PermissionsBitField> | null {
  const role = channel.guild.roles.cache.get(channel.guild.id);
  return role === undefined ? null : channel.permissionsFor(role, false);
}
