import { z } from 'zod';
import type { StateStore } from '../../../../src/adapter-kit.ts';

const NAMESPACE = 'discord.connected';

/**
 * Where the bot begins to read in a shard without any stored message: after what was there when it first connected. So a
 * process that ends before it has stored its first message does not lose it, and no older message is read.
 */
export interface FirstConnections {
  /** Null the first time; then `newest` is kept, the newest message that Discord knows. */
  of(shardId: number, newest: string): Promise<string | null>;
  /** A message of the shard is stored. Afterwards its stored messages show where to begin, even once they are deleted. */
  over(shardId: number): Promise<void>;
}

const keptSchema = z.string().regex(/^\d{1,20}$/);

export function createFirstConnections(state: StateStore, bot: string): FirstConnections {
  const keyOf = (shardId: number) => `${bot}:${shardId}`;
  return {
    async of(shardId, newest) {
      const kept = keptSchema.safeParse(await state.get(NAMESPACE, keyOf(shardId))).data;
      if (kept === undefined) await state.set(NAMESPACE, keyOf(shardId), newest);
      return kept ?? null;
    },
    over: (shardId) => state.delete(NAMESPACE, keyOf(shardId)),
  };
}
