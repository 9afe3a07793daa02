import { passes } from '../access.ts';
import type { Self } from '../map.ts';
import type { Place } from '../place.ts';
import type { BotSettings } from '../settings.ts';
import { isNewer, type WireMessage } from '../wire.ts';

interface QuoteContext {
  readonly settings: Pick<BotSettings, 'hear_bots' | 'message_content' | 'users'>;
  readonly place: Pick<Place, 'guildId'>;
  readonly self: Self;
  /** The first message that was kept of the conversation. */
  readonly first: string;
}

/**
 * Whether a reply has to say what it answers. What people and the bot itself said is kept under the ids of the messages:
 * the core finds it there, unless it was forgotten, and then no quotation may bring it back. People whom the lists keep
 * out are not quoted either.
 */
export function needsQuote(message: WireMessage, { settings, place, self, first }: QuoteContext): boolean {
  const quoted = message.referenced_message;
  if (!quoted) return false;
  if (quoted.author.id === self.userId || !passes(settings.users, [quoted.author.id])) return false;
  if (isNewer(first, quoted.id)) return true;
  const isRead = settings.message_content || place.guildId === null;
  return !isRead || (quoted.author.bot === true && !settings.hear_bots);
}
