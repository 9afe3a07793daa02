import { mentionsBot, type Self } from '../map.ts';
import { isNewer } from '../places/place.ts';
import type { Missed } from './catch-up-context.ts';
import { byTime } from './history.ts';

const JOINS = new Set(['channel_join', 'group_join']);
const LEAVES = new Set(['channel_leave', 'group_leave']);

/** Whether a missed message was said to the bot. */
export type SaidToBot = (missed: Missed) => boolean;

/**
 * What people said while the bot was not in the channel was not said to it, unless they mentioned it, as before they
 * invite it. `listed`: messages of the channel itself, in which Slack notes who joined and left.
 */
export function saidToBot(listed: readonly Missed[], self: Self): SaidToBot {
  const moves = byTime(listed).filter(({ message }) => message.user === self.userId && isMove(message.subtype));
  const wasThere = (ts: string): boolean => {
    const next = moves.find((move) => isNewer(move.ts, ts));
    return next === undefined || LEAVES.has(next.message.subtype ?? '');
  };
  return ({ ts, message }) => wasThere(ts) || mentionsBot(message, self);
}

function isMove(subtype: string | null | undefined): boolean {
  return JOINS.has(subtype ?? '') || LEAVES.has(subtype ?? '');
}
