import { MessageType } from 'discord.js';
import type { Self } from '../places/places.ts';
import type { WireMessage } from '../wire.ts';

/**
 * The missed messages of a private thread, oldest first, without what people said while the bot was not in it. That was
 * not said to it, unless it mentions the bot, as a message with which somebody adds it.
 */
export function saidToBot(missed: readonly WireMessage[], { userId }: Pick<Self, 'userId'>): readonly WireMessage[] {
  const namesBot = ({ mentions }: WireMessage) => mentions.some(({ id }) => id === userId);
  const moves = missed.flatMap((message, index) => {
    const { type } = message;
    const isMove = type === MessageType.RecipientAdd || type === MessageType.RecipientRemove;
    return isMove && namesBot(message) ? [{ index, type }] : [];
  });
  const wasThere = (index: number): boolean => {
    const next = moves.find((move) => move.index > index);
    return next === undefined || next.type === MessageType.RecipientRemove;
  };
  return missed.filter((message, index) => wasThere(index) || namesBot(message));
}
