import type { Self } from './map.ts';
import type { Place } from './place.ts';
import type { BotSettings } from './settings.ts';
import type { WireMessage } from './wire.ts';

/** A reply so soon needs no quotation: what it answers stands just before it. */
const AT_ONCE_MS = 120_000;

interface QuoteContext {
  readonly settings: Pick<BotSettings, 'hear_bots' | 'message_content' | 'users'>;
  readonly place: Pick<Place, 'guildId'>;
  readonly self: Self;
}

/**
 * Whether the transcript tells by itself what a message replies to: the words of people are kept under the ids of their
 * messages, those of the bot are not.
 */
export function isSuperfluous(message: WireMessage, { settings, place, self }: QuoteContext): boolean {
  const quoted = message.referenced_message;
  if (!quoted) return true;
  if (quoted.author.id === self.userId) {
    return Date.parse(message.timestamp) - Date.parse(quoted.timestamp ?? message.timestamp) <= AT_ONCE_MS;
  }
  const isHeard = settings.hear_bots || quoted.author.bot !== true;
  const isRead = settings.message_content || place.guildId === null;
  return isHeard && isRead && !settings.users.deny.includes(quoted.author.id);
}
