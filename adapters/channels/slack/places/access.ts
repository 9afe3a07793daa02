import { passes } from '../../shared/access-list.ts';
import type { SlackSettings } from '../settings.ts';
import { isDirect } from './place.ts';

type Rules = Pick<SlackSettings, 'direct_messages' | 'channels' | 'users' | 'outsiders'>;

/** Whether a place is served at all. */
export function servesPlace(rules: Pick<Rules, 'direct_messages' | 'channels'>, channelId: string): boolean {
  return isDirect(channelId, null) ? rules.direct_messages : passes(rules.channels, channelId);
}

export interface Visitor {
  readonly channelId: string;
  readonly userId: string;
  /** From another workspace, in a shared channel. */
  readonly isOutsider: boolean;
}

/** The one access check for messages, commands, buttons and forms. */
export function isServed(rules: Rules, { channelId, userId, isOutsider }: Visitor): boolean {
  if (!servesPlace(rules, channelId) || !passes(rules.users, userId)) return false;
  return rules.outsiders || !isOutsider;
}
