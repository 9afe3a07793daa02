import { Routes } from 'discord.js';
import type { ChannelSink, Clock, ConversationKey, Log } from '../../../../src/index.ts';
import { createKeyedQueue } from '../../shared/keyed-queue.ts';
import { isServed } from '../access.ts';
import { isBot, isWithheld, type MapContext, toInbound, toParts } from '../map.ts';
import { keyOf, type Place } from '../place.ts';
import type { Places } from '../places.ts';
import type { Rest } from '../rest.ts';
import { isOutOfReach, withRetries } from '../retry.ts';
import type { BotSettings } from '../settings.ts';
import { bulkDeleteSchema, deleteSchema, messageSchema, updateSchema, type WireMessage } from '../wire.ts';
import type { AudienceWatch } from './audience.ts';
import { type FileOptions, withFiles } from './files.ts';
import type { Beginnings } from './first-messages.ts';
import type { Members } from './members.ts';
import { needsQuote } from './quotes.ts';

export interface ReceiverParts {
  readonly bot: string;
  readonly settings: BotSettings;
  readonly sink: ChannelSink;
  readonly rest: Rest;
  readonly places: Places;
  readonly members: Members;
  readonly audiences: AudienceWatch;
  readonly beginnings: Beginnings;
  readonly files: FileOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves when what was missed in the channel has been read: nothing may overtake it. */
  readonly caughtUp: (channelId: string, shardId: number) => Promise<void>;
  /** The newest message of a conversation, for what answers it before the answer is posted. */
  readonly onStored: (conversation: ConversationKey, externalId: string) => void;
  readonly signal: AbortSignal;
}

/** Hands messages, edits and deletions to the bot, in the order of each channel. */
export interface Receiver extends Later {
  packet(type: string, data: unknown, shardId: number): void;
  drained(): Promise<void>;
}

/** What was read over REST, when the channel's turn has come. */
export interface Later {
  message(message: WireMessage, options: { readonly isPast: boolean }): Promise<void>;
  edited(message: WireMessage): Promise<void>;
  removed(channelId: string, externalIds: readonly string[]): Promise<void>;
}

type Handlers = Readonly<
  Record<string, (data: unknown) => { readonly channelId: string; work: () => Promise<void> } | null>
>;

export function createReceiver(parts: ReceiverParts): Receiver {
  const lanes = createKeyedQueue(parts.log);
  const notice = createOnce(() => parts.log.warn(WITHHELD));
  const take = (message: WireMessage, isPast: boolean) => receiveMessage(parts, { message, isPast, notice });
  const handlers = handlersOf(parts, (message) => take(message, false));
  return {
    packet(type, data, shardId) {
      const handled = handlers[type]?.(data);
      if (!handled || parts.signal.aborted) return;
      lanes.put(handled.channelId, async () => {
        await parts.caughtUp(handled.channelId, shardId);
        // What has not begun when the bot stops is read at the next start.
        if (!parts.signal.aborted) await handled.work();
      });
    },
    message: async (message, { isPast }) => await take(await withMember(parts, message), isPast),
    edited: (message) => receiveEdit(parts, message),
    removed: (channelId, externalIds) => receiveRemoval(parts, channelId, externalIds),
    drained: lanes.drained,
  };
}

function handlersOf(parts: ReceiverParts, take: (message: WireMessage) => Promise<void>): Handlers {
  const removal = (channelId: string, ids: readonly string[]) => ({
    channelId,
    work: () => receiveRemoval(parts, channelId, ids),
  });
  return {
    MESSAGE_CREATE(data) {
      const message = messageSchema.safeParse(data).data;
      return message === undefined ? null : { channelId: message.channel_id, work: () => take(message) };
    },
    MESSAGE_UPDATE(data) {
      const update = updateSchema.safeParse(data).data;
      // Without a time of editing it is Discord's own change: a preview, a pin.
      if (!update?.edited_timestamp) return null;
      return { channelId: update.channel_id, work: () => receiveUpdate(parts, update, data) };
    },
    MESSAGE_DELETE(data) {
      const removed = deleteSchema.safeParse(data).data;
      return removed === undefined ? null : removal(removed.channel_id, [removed.id]);
    },
    MESSAGE_DELETE_BULK(data) {
      const removed = bulkDeleteSchema.safeParse(data).data;
      return removed === undefined ? null : removal(removed.channel_id, removed.ids);
    },
  };
}

const WITHHELD =
  'Discord withholds the content of messages that do not mention the bot: they are not kept. Set message_content = true and switch on "Message Content Intent" in the developer portal to read them.';

interface Incoming {
  readonly message: WireMessage;
  readonly isPast: boolean;
  readonly notice: () => void;
}

async function receiveMessage(parts: ReceiverParts, { message, isPast, notice }: Incoming): Promise<void> {
  const { settings, places, sink, bot } = parts;
  if (message.author.id === places.self(null).userId || (isBot(message) && !settings.hear_bots)) return;
  const place = await placeOf(parts, message);
  if (place === null) return;
  const visitor = { place, userId: message.author.id, roleIds: message.member?.roles ?? [] };
  if (!isServed(settings, visitor)) return;
  if (isWithheld(message)) return notice();
  const conversation = keyOf(bot, place);
  const { read, context } = await openMessage(parts, { message, place, conversation });
  const inbound = toInbound(read, { ...context, isPast });
  if (inbound === null) return;
  await withRetries(parts, 'stored', () => sink.message(inbound));
  parts.onStored(conversation, message.id);
  await withRetries(parts, 'stored', () => parts.beginnings.keep(conversation, message.id));
}

/** An update may hold a part of the message only. */
async function receiveUpdate(
  parts: ReceiverParts,
  { id, channel_id: channelId }: { readonly id: string; readonly channel_id: string },
  data: unknown,
): Promise<void> {
  const whole = messageSchema.safeParse(data).data ?? (await fetchMessage(parts, channelId, id));
  if (whole !== null) await receiveEdit(parts, whole);
}

async function receiveEdit(parts: ReceiverParts, message: WireMessage): Promise<void> {
  if (message.author.id === parts.places.self(null).userId || isWithheld(message)) return;
  const place = await placeOf(parts, message);
  if (place === null) return;
  const conversation = keyOf(parts.bot, place);
  const { read, context } = await openMessage(parts, { message, place, conversation });
  const at = Date.parse(message.edited_timestamp ?? message.timestamp);
  const edit = { conversation, externalId: message.id, parts: toParts(read, context), at };
  await withRetries(parts, 'stored', () => parts.sink.edited(edit));
}

async function receiveRemoval(parts: ReceiverParts, channelId: string, externalIds: readonly string[]): Promise<void> {
  const place = await withRetries(parts, 'placed', () => parts.places.find(channelId));
  if (place === null) return;
  const conversation = keyOf(parts.bot, place);
  await withRetries(parts, 'stored', () => parts.sink.removed({ conversation, externalIds }));
}

/** A direct message needs no look-up: it alone has no server. */
async function placeOf(parts: ReceiverParts, message: WireMessage): Promise<Place | null> {
  if (message.guild_id) return await withRetries(parts, 'placed', () => parts.places.find(message.channel_id));
  return { guildId: null, channelId: message.channel_id, threadId: null, audience: 'dm' };
}

/** Over REST Discord does not tell what the author is called in the server, and which roles they have. */
async function withMember(parts: ReceiverParts, message: WireMessage): Promise<WireMessage> {
  const { guild_id: guildId, author, member } = message;
  if (!guildId || member || isBot(message)) return message;
  return { ...message, member: await withRetries(parts, 'read', () => parts.members.of(guildId, author.id)) };
}

interface Opening {
  readonly message: WireMessage;
  readonly place: Place;
  readonly conversation: ConversationKey;
}

/** The message with its files, and what is needed to understand it. */
async function openMessage(parts: ReceiverParts, { message, place, conversation }: Opening) {
  const { places, settings, beginnings } = parts;
  const self = places.self(place.guildId);
  const first = await withRetries(parts, 'read', () => beginnings.of(conversation, message.id));
  const quotes = needsQuote(message, { settings, place, self, first });
  const imageBytes = settings.attachments.image_mb * 1_000_000;
  const names = places.namesIn(place.guildId);
  const context: MapContext = { conversation, place, self, names, imageBytes, quotes, isPast: false };
  return { read: await withFiles(message, parts.files), context };
}

async function fetchMessage(parts: ReceiverParts, channelId: string, id: string): Promise<WireMessage | null> {
  const read = () => parts.rest.get(Routes.channelMessage(channelId, id));
  try {
    return messageSchema.parse(await withRetries(parts, 'read', read));
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
