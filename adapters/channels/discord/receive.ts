import { Routes } from 'discord.js';
import { type ChannelSink, type Clock, type ConversationKey, describe, type Log } from '../../../src/index.ts';
import { isServed } from './access.ts';
import type { AudienceWatch } from './audience.ts';
import type { Beginnings } from './beginnings.ts';
import { type FileOptions, withFiles } from './files.ts';
import { isWithheld, type MapContext, toInbound, toParts } from './map.ts';
import { keyOf, type Place } from './place.ts';
import type { Places } from './places.ts';
import type { Rest } from './rest.ts';
import type { BotSettings } from './settings.ts';
import { bulkDeleteSchema, deleteSchema, isNewer, messageSchema, updateSchema, type WireMessage } from './wire.ts';

export interface ReceiverParts {
  readonly bot: string;
  readonly settings: BotSettings;
  readonly sink: ChannelSink;
  readonly rest: Rest;
  readonly places: Places;
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
export interface Receiver {
  packet(type: string, data: unknown, shardId: number): void;
  /** One message that was read later. */
  message(message: WireMessage, options: { readonly isPast: boolean }): Promise<void>;
  drained(): Promise<void>;
}

type Handlers = Readonly<
  Record<string, (data: unknown) => { readonly channelId: string; work: () => Promise<void> } | null>
>;

export function createReceiver(parts: ReceiverParts): Receiver {
  const lanes = createLanes(parts.log);
  const notice = createOnce(() => parts.log.warn(WITHHELD));
  const take = (message: WireMessage, isPast: boolean) => receiveMessage(parts, { message, isPast, notice });
  const handlers: Handlers = {
    MESSAGE_CREATE(data) {
      const message = messageSchema.safeParse(data).data;
      return message === undefined ? null : { channelId: message.channel_id, work: () => take(message, false) };
    },
    MESSAGE_UPDATE(data) {
      const update = updateSchema.safeParse(data).data;
      // Without a time of editing it is Discord's own change: a preview, a pin.
      if (!update?.edited_timestamp) return null;
      return { channelId: update.channel_id, work: () => receiveEdit(parts, update, data) };
    },
    MESSAGE_DELETE(data) {
      const removed = deleteSchema.safeParse(data).data;
      return removed === undefined ? null : removal(parts, removed.channel_id, [removed.id]);
    },
    MESSAGE_DELETE_BULK(data) {
      const removed = bulkDeleteSchema.safeParse(data).data;
      return removed === undefined ? null : removal(parts, removed.channel_id, removed.ids);
    },
  };
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
    message: (message, { isPast }) => take(message, isPast),
    drained: lanes.drained,
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
  const isBot = message.author.bot === true || Boolean(message.webhook_id);
  if (message.author.id === places.self(null).userId || (isBot && !settings.hear_bots)) return;
  const place = await placeOf(parts, message);
  if (place === null) return;
  const visitor = { place, userId: message.author.id, roleIds: message.member?.roles ?? [] };
  if (!isServed(settings, visitor)) return;
  if (isWithheld(message)) return notice();
  const conversation = keyOf(bot, place);
  const quotes = await quotesOf(parts, conversation, message);
  const read = await withFiles(message, parts.files);
  const inbound = toInbound(read, { ...contextOf(parts, { conversation, place, quotes }), isPast });
  if (inbound === null) return;
  await persist(parts, () => sink.message(inbound));
  parts.audiences.told(conversation, place.audience);
  parts.onStored(conversation, message.id);
}

async function receiveEdit(
  parts: ReceiverParts,
  { id, channel_id: channelId }: { readonly id: string; readonly channel_id: string },
  data: unknown,
): Promise<void> {
  const whole = messageSchema.safeParse(data).data ?? (await fetchMessage(parts, channelId, id));
  if (whole === null || whole.author.id === parts.places.self(null).userId || isWithheld(whole)) return;
  const place = await placeOf(parts, whole);
  if (place === null) return;
  const conversation = keyOf(parts.bot, place);
  const quotes = await quotesOf(parts, conversation, whole);
  const read = await withFiles(whole, parts.files);
  const content = toParts(read, contextOf(parts, { conversation, place, quotes }));
  const at = Date.parse(whole.edited_timestamp ?? whole.timestamp);
  await persist(parts, () => parts.sink.edited({ conversation, externalId: id, parts: content, at }));
}

function removal(parts: ReceiverParts, channelId: string, externalIds: readonly string[]) {
  const work = async (): Promise<void> => {
    const place = await parts.places.find(channelId);
    if (place === null) return;
    const conversation = keyOf(parts.bot, place);
    await persist(parts, () => parts.sink.removed({ conversation, externalIds }));
  };
  return { channelId, work };
}

/** A direct message needs no look-up: it alone has no server. */
async function placeOf(parts: ReceiverParts, message: WireMessage): Promise<Place | null> {
  if (message.guild_id) return await parts.places.find(message.channel_id);
  return { guildId: null, channelId: message.channel_id, threadId: null, audience: 'dm' };
}

async function quotesOf(parts: ReceiverParts, conversation: ConversationKey, message: WireMessage): Promise<boolean> {
  const first = await parts.beginnings.of(conversation, message.id);
  const replied = message.message_reference?.message_id;
  return Boolean(replied) && isNewer(first, replied ?? first);
}

function contextOf(
  { places, settings }: ReceiverParts,
  of: Pick<MapContext, 'conversation' | 'place' | 'quotes'>,
): Omit<MapContext, 'isPast'> & { readonly isPast: false } {
  const imageBytes = settings.attachments.image_mb * 1_000_000;
  return { ...of, self: places.self(of.place.guildId), names: places.names, imageBytes, isPast: false };
}

async function fetchMessage({ rest }: ReceiverParts, channelId: string, id: string): Promise<WireMessage | null> {
  try {
    return messageSchema.parse(await rest.get(Routes.channelMessage(channelId, id)));
  } catch {
    return null;
  }
}

const ATTEMPTS = 10;
const LONGEST_PAUSE_MS = 30_000;

/** Tries again when the store fails. What is given up at a stop is read at the next start. */
async function persist(parts: ReceiverParts, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || parts.signal.aborted) throw error;
      parts.log.error('What came from Discord could not be stored; trying again', { cause: describe(error), attempt });
      const pauseMs = Math.min(LONGEST_PAUSE_MS, 250 * 2 ** attempt);
      await parts.clock.sleep(pauseMs, { signal: parts.signal }).catch(() => undefined);
    }
  }
}

interface Lanes {
  put(name: string, work: () => Promise<void>): void;
  drained(): Promise<void>;
}

/** One piece of work after the other in each lane, the lanes side by side. */
function createLanes(log: Log): Lanes {
  const ends = new Map<string, Promise<void>>();
  return {
    put(name, work) {
      const end = (ends.get(name) ?? Promise.resolve()).then(work).catch((error: unknown) => {
        log.error('An event of Discord was not taken', { channel: name, cause: describe(error) });
      });
      ends.set(name, end);
      end.then(
        () => ends.get(name) === end && ends.delete(name),
        () => undefined,
      );
    },
    async drained() {
      await Promise.all(ends.values());
    },
  };
}

function createOnce(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
