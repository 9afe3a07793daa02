import { Routes } from 'discord.js';
import {
  type ConversationKey,
  createLanes,
  type DropReason,
  describe,
  type InboundMessage,
} from '../../../../src/adapter-kit.ts';
import { isKept } from '../../shared/is-kept.ts';
import { hasWaitedTooLong, MAX_WAITING_CHARACTERS } from '../../shared/waiting.ts';
import { unlessAborted } from '../../shared/within.ts';
import { dropEdit, dropMalformed, dropMessage } from '../drops.ts';
import { isAnswer, isBot, isSaid, isWithheld, type MapContext, toInbound, toParts } from '../map.ts';
import { isServed } from '../places/access.ts';
import { keyOf, type Place, placeOfKey } from '../places/place.ts';
import type { Unwritable } from '../places/unwritable.ts';
import type { BotServices } from '../services.ts';
import { isOutOfReach, withRetries } from '../web/retry.ts';
import { editedAt, timeOf, type WireMessage, writtenAt } from '../wire.ts';
import type { AudienceWatch } from './audience.ts';
import { type FileOptions, withFiles } from './files.ts';
import type { FirstConnections } from './first-connections.ts';
import type { FirstMessages } from './first-messages.ts';
import type { Members } from './members.ts';
import { type MessagePacket, readMessage, readPacket } from './packets.ts';
import { needsQuote, withKeptQuotes, withoutExcludedStart } from './quotes.ts';

export interface ReceiverOptions extends BotServices {
  readonly members: Members;
  readonly audiences: AudienceWatch;
  readonly firstMessages: FirstMessages;
  readonly firstConnections: FirstConnections;
  readonly files: FileOptions;
  readonly unwritable: Pick<Unwritable, 'has'>;
  /** Resolves when the missed messages of the channel have been read; newer ones must not overtake them. */
  readonly caughtUp: (channelId: string, shardId: number) => Promise<void>;
  /** Records the newest message to be answered, for the typing sign and drafts. */
  readonly onAsked: (conversation: ConversationKey, externalId: string) => void;
}

/** Passes messages, edits and deletions to the bot, in the order of each channel. */
export interface Receiver extends Later {
  packet(type: string, data: unknown, shardId: number): void;
  drained(): Promise<void>;
}

type Removal = Pick<Extract<MessagePacket, { kind: 'removal' }>, 'channelId' | 'guildId' | 'ids'>;

/** Handles messages read over REST, when their channel's turn has come. */
export interface Later {
  /** Whether the message was stored; false if it was already known or is not to be stored. */
  message(message: WireMessage, options: { readonly isPast: boolean }): Promise<boolean>;
  edited(message: WireMessage): Promise<void>;
  removed(removal: Removal): Promise<void>;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const lanes = createLanes();
  /** Characters of the messages and edits that are not stored yet. */
  let waiting = 0;
  const notice = createOnce(() => options.log.warn(WITHHELD));
  const take = (message: WireMessage, isPast: Incoming['isPast']) =>
    receiveMessage(options, { message, isPast, notice });
  const work = async (packet: MessagePacket, isPast: Incoming['isPast']): Promise<void> => {
    if (packet.kind === 'message') await take(packet.message, isPast);
    else if (packet.kind === 'edit') await receiveUpdate(options, packet, (message) => take(message, isPast));
    else await receiveRemoval(options, packet);
  };
  return {
    packet(type, data, shardId) {
      const packet = options.signal.aborted ? null : readPacket(type, data);
      if (packet === null) return;
      if (packet.kind === 'malformed') return dropMalformed(options.sink, type, packet);
      const { channelId } = packet;
      const size = packet.kind === 'removal' ? 0 : JSON.stringify(packet).length;
      if (waiting + size > MAX_WAITING_CHARACTERS) return options.log.error(TOO_MANY, { channel: channelId });
      waiting += size;
      const since = options.clock.now();
      const isPast = () => hasWaitedTooLong(options, since);
      const read = lanes.run([channelId], async () => {
        await options.caughtUp(channelId, shardId);
        // Reading that has not started when the bot stops happens at the next start.
        if (!options.signal.aborted) await work(packet, isPast);
      });
      const failed = (error: unknown) =>
        options.log.error('An event from Discord could not be processed', {
          channel: channelId,
          cause: describe(error),
        });
      void read.catch(failed).finally(() => {
        waiting -= size;
      });
    },
    message: async (message, { isPast }) => await take(await withMember(options, message), () => isPast),
    edited: (message) => receiveEdit(options, message),
    removed: (removal) => receiveRemoval(options, removal),
    drained: lanes.drained,
  };
}

const TOO_MANY = 'Too many messages from Discord wait for the store, so one is lost';

const WITHHELD =
  'Discord withholds the content of messages that do not mention the bot, so they are not stored. Set message_content = true and enable "Message Content Intent" in the developer portal to read them.';

interface Incoming {
  readonly message: WireMessage;
  /** Whether it is too old to be answered by now. */
  readonly isPast: () => boolean;
  readonly notice: () => void;
}

async function receiveMessage(options: ReceiverOptions, incoming: Incoming): Promise<boolean> {
  const admitted = await admit(options, incoming);
  if (typeof admitted === 'string') {
    dropMessage(options.sink, incoming.message, admitted);
    return false;
  }
  const { inbound, isFirst } = admitted;
  const { conversation, externalId } = inbound;
  const { stored, willReply } = await withRetries(options, 'stored', () => {
    const isUnanswered = incoming.isPast() || options.unwritable.has(incoming.message.channel_id);
    return options.sink.message(isUnanswered ? { ...inbound, isPast: true } : inbound);
  });
  if (willReply) options.onAsked(conversation, externalId);
  if (!isFirst) return stored;
  await withRetries(options, 'stored', async () => {
    // Otherwise it was dropped, or delivered again.
    if (stored || (await isKept(options.sink, conversation))) await begin(options, { conversation, externalId });
  });
  return stored;
}

/** The first message of its conversation is stored. */
async function begin(
  { firstMessages, firstConnections, places }: ReceiverOptions,
  { conversation, externalId }: Pick<InboundMessage, 'conversation' | 'externalId'>,
): Promise<void> {
  await firstMessages.keep(conversation, externalId);
  await firstConnections.over(places.shardOf(placeOfKey(conversation).guildId));
}

interface Admitted {
  readonly inbound: InboundMessage;
  /** No older message of the conversation is stored. */
  readonly isFirst: boolean;
}

/** The message as the bot reads it, or why it is not stored. */
async function admit(options: ReceiverOptions, { message, notice }: Incoming): Promise<Admitted | DropReason> {
  const { settings, places, bot } = options;
  if (message.author.id === places.self(null).userId) return 'own';
  if (!isSaid(message)) return 'note';
  if (isIgnored(options, message)) return 'bot';
  const place = await placeOf(options, message);
  if (place === null) return 'unplaced';
  if (!isAdmitted(options, message, place)) return 'unserved';
  // The privileged intent is not needed in direct messages, and Discord connects no bot that asks for it in vain.
  if (place.guildId !== null && !settings.message_content && isWithheld(message)) {
    notice();
    return 'withheld';
  }
  const conversation = keyOf(bot, place);
  const { read, context, first } = await openMessage(options, { message, place, conversation });
  const inbound = toInbound(read, context);
  return inbound === null ? 'empty' : { inbound, isFirst: first === message.id };
}

function isIgnored({ settings }: ReceiverOptions, message: WireMessage): boolean {
  return isBot(message) && !settings.hear_bots;
}

function isAdmitted({ settings }: ReceiverOptions, { author, member }: WireMessage, place: Place): boolean {
  return isServed(settings, { place, userId: author.id, roleIds: member?.roles ?? [] });
}

/** An update may contain only part of the message. Over REST, a message does not name its server. */
async function receiveUpdate(
  options: ReceiverOptions,
  { channelId, id, guildId, isEdited, message }: Extract<MessagePacket, { kind: 'edit' }>,
  take: (message: WireMessage) => Promise<boolean>,
): Promise<void> {
  const mayBeAnswer = options.clock.now() - timeOf(id) < ANSWERED_WITHIN_MS;
  if (!isEdited && !mayBeAnswer) return;
  const whole = message ?? (await fetchMessage(options, channelId, id));
  if (whole === null) return;
  const placed = { ...whole, guild_id: guildId };
  if (mayBeAnswer && isAnswer(whole) && (await take(placed))) return;
  if (isEdited) await receiveEdit(options, placed);
}

/** A bot that needs longer for its answer first sends an empty one, and has this long to fill it in. */
const ANSWERED_WITHIN_MS = 16 * 60_000;

async function receiveEdit(options: ReceiverOptions, message: WireMessage): Promise<void> {
  if (message.author.id === options.places.self(null).userId || isWithheld(message)) return;
  const place = await placeOf(options, message);
  if (place === null) return;
  // They may have been excluded since the message was stored.
  const isExcluded = isIgnored(options, message) || !isAdmitted(options, await withMember(options, message), place);
  if (isExcluded) return dropEdit(options.sink, message);
  const conversation = keyOf(options.bot, place);
  const { read, context } = await openMessage(options, { message, place, conversation });
  const at = editedAt(message) ?? writtenAt(message);
  const edit = { conversation, externalId: message.id, parts: toParts(read, context), at };
  await withRetries(options, 'stored', () => options.sink.edited(edit));
}

async function receiveRemoval(options: ReceiverOptions, { channelId, guildId, ids }: Removal): Promise<void> {
  const place = await withRetries(options, 'placed', () => options.places.find(channelId, guildId));
  if (place === null) return;
  const conversation = keyOf(options.bot, place);
  await withRetries(options, 'stored', () => options.sink.removed({ conversation, externalIds: ids }));
}

/** A message without a server is a direct message, unless its channel is known to belong to a server. */
async function placeOf(options: ReceiverOptions, message: WireMessage): Promise<Place | null> {
  const known = options.places.peek(message.channel_id);
  if (known !== null) return known;
  const { channel_id: channelId, guild_id: guildId = null } = message;
  if (guildId || message.member)
    return await withRetries(options, 'placed', () => options.places.find(channelId, guildId));
  return { guildId: null, channelId: message.channel_id, threadId: null, audience: 'dm' };
}

/** Over REST, Discord does not report the author's name and roles in the server. */
async function withMember(options: ReceiverOptions, message: WireMessage): Promise<WireMessage> {
  const { guild_id: guildId, author, member } = message;
  if (!guildId || member || isBot(message)) return message;
  const read = () => unlessAborted(options.signal, options.members.of(guildId, author.id));
  return { ...message, member: await withRetries(options, 'read', read) };
}

interface Opening {
  readonly message: WireMessage;
  readonly place: Place;
  readonly conversation: ConversationKey;
}

/** The message with its files, and what is needed to understand it. */
async function openMessage(options: ReceiverOptions, { message, place, conversation }: Opening) {
  const { places, settings, firstMessages } = options;
  const self = places.self(place.guildId);
  const first = await withRetries(options, 'read', () => firstMessages.of(conversation, message.id));
  const quotes = needsQuote(message, { settings, place, self, first });
  const imageBytes = settings.attachments.image_mb * 1_000_000;
  const names = places.namesIn(place);
  const context: MapContext = { conversation, place, self, names, imageBytes, quotes };
  const titled = withTitle(withoutExcludedStart(message, { settings, self }), places.titleOf(message));
  const quoting = await withKeptQuotes(options, titled, { conversation, audience: place.audience });
  return { read: await withFiles(quoting, options.files), context, first };
}

/** In a forum, the title is often the question. */
function withTitle(message: WireMessage, title: string | null): WireMessage {
  if (title === null) return message;
  const content = [`[title: ${title}]`, message.content].filter((text) => text !== '').join('\n');
  return { ...message, content };
}

async function fetchMessage(options: ReceiverOptions, channelId: string, id: string): Promise<WireMessage | null> {
  const read = () => options.rest.get(Routes.channelMessage(channelId, id));
  try {
    const packet = readMessage(await withRetries(options, 'read', read));
    if (packet.kind === 'message') return packet.message;
    dropMalformed(options.sink, 'MESSAGE_UPDATE', packet);
    return null;
  } catch (error) {
    if (isOutOfReach(error)) return null;
    throw error;
  }
}

function createOnce(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
