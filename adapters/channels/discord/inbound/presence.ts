import { MessageType } from 'discord.js';
import { mentionsBot } from '../map.ts';
import type { Self } from '../places/places.ts';
import type { WireMessage } from '../wire.ts';

/**
 * The missed messages of a private thread, oldest first, without what people said while the bot was not in it. That was
 * not said to it, unless it mentions the bot, as a message with which somebody adds it.
 */
export function saidToBot(missed: readonly WireMessage[], self: Self): readonly WireMessage[] {
  const moves = missed.flatMap((message, index) => {
    const { type } = message;
    const isMove = type === MessageType.RecipientAdd || type === MessageType.RecipientRemove;
    return isMove && mentionsBot(message, self) ? [{ index, type }] : [];
  });
  const wasThere = (index: number): boolean => {
    const next = moves.find((move) => move.index > index);
    return next === undefined || next.type === MessageType.RecipientRemove;
  };
  return missed.filter((message, index) => wasThere(index) || mentionsBot(message, self));
}
