import { passes } from '../../shared/access-list.ts';
import type { BotSettings } from '../settings.ts';
import type { Place } from './place.ts';

/** Who does something, and where. */
export interface Visitor {
  readonly place: Pick<Place, 'guildId' | 'channelId' | 'threadId'>;
  readonly userId: string;
  readonly roleIds: readonly string[];
}

type Rules = Pick<BotSettings, 'direct_messages' | 'guilds' | 'channels' | 'roles' | 'users'>;

/** Whether a place is served at all: its server, its channel, and for a thread its parent channel. */
export function servesPlace(rules: Rules, place: Visitor['place']): boolean {
  if (place.guildId === null) return rules.direct_messages;
  const channels = [place.channelId, ...(place.threadId === null ? [] : [place.threadId])];
  return passes(rules.guilds, place.guildId) && passes(rules.channels, ...channels);
}

/** The one access check for messages, edits, commands, buttons and forms. Roles exist only in servers. */
export function isServed(rules: Rules, { place, userId, roleIds }: Visitor): boolean {
  if (!servesPlace(rules, place) || !passes(rules.users, userId)) return false;
  return place.guildId === null || passes(rules.roles, ...roleIds);
}
