import { MessageType } from 'discord.js';
import type { ChannelSink, ConversationKey, QuotedMessage } from '../../../../src/adapter-kit.ts';
import { passes } from '../../shared/access-list.ts';
import { mediaTypeOf } from '../attachment.ts';
import { keyOf, type Place } from '../places/place.ts';
import type { Places, Self } from '../places/places.ts';
import type { BotSettings } from '../settings.ts';
import { isNewer, timeOf, type WireMessage } from '../wire.ts';

export interface QuoteOptions {
  readonly bot: string;
  readonly sink: Pick<ChannelSink, 'conversations'>;
  readonly places: Pick<Places, 'peek'>;
}

/**
 * The message with what it replies to, starts from or forwards, as stored here. A quotation must not bring back what
 * was forgotten.
 */
export async function withKeptQuotes(
  options: QuoteOptions,
  message: WireMessage,
  quotedIn: QuotedMessage['quotedIn'],
): Promise<WireMessage> {
  const { message_reference: reference, referenced_message: referenced, message_snapshots: snapshots } = message;
  const isQuoting = Boolean(referenced) || (snapshots ?? []).length > 0;
  if (!reference?.message_id || !isQuoting) return message;
  const conversations = holdersOf(options, message, reference.channel_id ?? message.channel_id);
  const shown = [referenced?.content, ...(snapshots ?? []).map((one) => one.message.content)].join('\n');
  const externalId = reference.message_id;
  const quoted = { conversations, externalId, at: timeOf(externalId), quotedIn, shown };
  const text = await options.sink.conversations.textOf(quoted);
  if (text === null) return message;
  const said = { content: text, embeds: [], components: [], sticker_items: [], poll: null };
  const files = text === '' ? [] : (referenced?.attachments ?? []);
  return {
    ...message,
    referenced_message: referenced && { ...referenced, ...said, attachments: files },
    message_snapshots:
      text === ''
        ? []
        : (snapshots ?? []).map((one) => ({
            message: { ...one.message, ...said, attachments: picturesOf(one.message) },
          })),
  };
}

/** The text of other files is part of the stored text. */
function picturesOf({ attachments }: Pick<WireMessage, 'attachments'>): WireMessage['attachments'] {
  return attachments.filter((attachment) => mediaTypeOf(attachment).startsWith('image/'));
}

/** A forwarded message may come from a channel of the server, or from a direct message. */
function holdersOf({ bot, places }: QuoteOptions, message: WireMessage, channelId: string): readonly ConversationKey[] {
  const known = places.peek(channelId);
  if (known !== null) return [keyOf(bot, known)];
  const homes = [message.guild_id ?? places.peek(message.channel_id)?.guildId ?? null, null];
  return [...new Set(homes)].map((guildId) => keyOf(bot, { guildId, channelId, threadId: null }));
}

interface QuoteContext {
  readonly settings: Pick<BotSettings, 'hear_bots' | 'message_content' | 'users'>;
  readonly place: Pick<Place, 'guildId'>;
  readonly self: Self;
  /** The first stored message of the conversation. */
  readonly first: string;
}

/**
 * Whether a reply must quote what it answers. Messages of people and of the bot are stored under their ids, so the core
 * finds them there, unless they were forgotten: then no quotation may bring them back. People excluded by the access
 * lists are not quoted either.
 */
export function needsQuote(message: WireMessage, { settings, place, self, first }: QuoteContext): boolean {
  const quoted = message.referenced_message;
  if (!quoted) return false;
  if (quoted.author.id === self.userId || !passes(settings.users, quoted.author.id)) return false;
  if (isNewer(first, quoted.id)) return true;
  const isRead = settings.message_content || place.guildId === null;
  return !isRead || (quoted.author.bot === true && !settings.hear_bots);
}

/** Without the message that a thread begins with, if the access lists exclude its author. */
export function withoutExcludedStart(
  message: WireMessage,
  { settings, self }: Pick<QuoteContext, 'settings' | 'self'>,
): WireMessage {
  const { type, referenced_message: start } = message;
  if (type !== MessageType.ThreadStarterMessage || !start || start.author.id === self.userId) return message;
  return passes(settings.users, start.author.id) ? message : { ...message, referenced_message: null };
}
