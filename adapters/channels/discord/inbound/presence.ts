import { MessageType } from 'discord.js';
import type { WireMessage } from '../wire.ts';

/**
 * The missed messages of a private thread, oldest first, without what people said while the bot was not in it. That was
 * not said to it, unless it mentions the bot, as a message with which somebody adds it.
 */
export function saidToBot(missed: readonly WireMessage[], botId: string): readonly WireMessage[] {
  const moves = missed.flatMap(({ type, mentions }, index) => {
    const isMove = type === MessageType.RecipientAdd || type === MessageType.RecipientRemove;
    return isMove && mentions.some(({ id }) => id === botId) ? [{ index, type }] : [];
  });
  const wasThere = (index: number): boolean => {
    const next = moves.find((move) => move.index > index);
    return next === undefined || next.type === MessageType.RecipientRemove;
  };
  return missed.filter(({ mentions }, index) => wasThere(index) || mentions.some(({ id }) => id === botId));
}
