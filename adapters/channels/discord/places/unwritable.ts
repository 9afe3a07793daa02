import { DiscordAPIError } from 'discord.js';
import {
  type Clock,
  type ConversationKey,
  createRecentMap,
  HOUR_MS,
  isStrataError,
  type Log,
} from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import { placeOfKey, targetOf } from './place.ts';
import type { Places } from './places.ts';

/**
 * Channels in which a post was refused because the bot may not write there. Messages there are not answered, because the
 * model would write each reply in vain.
 */
export interface Unwritable {
  /** A post failed. */
  failed(conversation: ConversationKey, error: unknown): void;
  has(channelId: string): boolean;
}

interface UnwritableOptions {
  readonly places: Pick<Places, 'mayWrite'>;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_KNOWN = 1_000;
/** Another server may compute permissions differently, so what is known of them closes no channel for longer. */
const CLOSED_MS = HOUR_MS;

export function createUnwritable({ places, clock, log }: UnwritableOptions): Unwritable {
  const refusedAt = createRecentMap<string, number>(MAX_KNOWN);
  return {
    failed(conversation, error) {
      const channelId = targetOf(placeOfKey(conversation));
      if (!isOfPermission(error) || places.mayWrite(channelId)) return;
      refusedAt.set(channelId, clock.now());
      log.warn('The bot may not write in a channel, so messages there get no reply until it may', {
        channel: channelId,
      });
    },
    has(channelId) {
      const at = refusedAt.get(channelId);
      return at !== undefined && elapsedMs(clock, at) < CLOSED_MS && !places.mayWrite(channelId);
    },
  };
}

/** The channel is invisible, a permission is missing, or the thread is locked. */
const OF_PERMISSION: ReadonlySet<string | number> = new Set([50_001, 50_013, 50_083, 160_005]);

function isOfPermission(error: unknown): boolean {
  const cause = isStrataError(error, 'POST_FAILED') ? error.cause : null;
  return cause instanceof DiscordAPIError && OF_PERMISSION.has(cause.code);
}
