import { passes } from '../access.ts';
import type { Self } from '../map.ts';
import type { Place } from '../place.ts';
import type { BotSettings } from '../settings.ts';
import { isNewer, type WireMessage, writtenAt } from '../wire.ts';

/** A reply so soon needs no quotation: what it answers stands just before it. */
const AT_ONCE_MS = 120_000;

interface QuoteContext {
  readonly settings: Pick<BotSettings, 'hear_bots' | 'message_content' | 'users'>;
  readonly place: Pick<Place, 'guildId'>;
  readonly self: Self;
  /** The first message that was kept of the conversation. */
  readonly first: string;
}

/**
 * Whether a reply has to say what it answers. The words of people are kept under the ids of their messages, those of the
 * bot are not; who is not to be heard is not quoted either.
 */
export function needsQuote(message: WireMessage, { settings, place, self, first }: QuoteContext): boolean {
  const quoted = message.referenced_message;
  if (!quoted) return false;
  const isOwn = quoted.author.id === self.userId;
  if (!isOwn && !passes(settings.users, [quoted.author.id])) return false;
  if (isNewer(first, quoted.id)) return true;
  if (isOwn) {
    return writtenAt(message) - writtenAt(quoted) > AT_ONCE_MS;
  }
  const isRead = settings.message_content || place.guildId === null;
  return !isRead || (quoted.author.bot === true && !settings.hear_bots);
}
