import { z } from 'zod';
import type { StateStore } from '../../../../src/adapter-kit.ts';
import { isNewer, isSnowflake } from '../wire.ts';

const NAMESPACE = 'discord.unread';

/**
 * Channels whose missed messages could not be read, with the message after which they start. Messages stored later move
 * the cursor of the channel; this stays until it is read.
 */
export interface Unread {
  /** By channel. */
  list(): Promise<ReadonlyMap<string, string>>;
  keep(channelId: string, after: string): Promise<void>;
  done(channelId: string): Promise<void>;
}

const keptSchema = z.string().refine(isSnowflake);

export function createUnread(state: StateStore, bot: string): Unread {
  const keyOf = (channelId: string) => `${bot}:${channelId}`;
  return {
    async list() {
      const kept = await state.list(NAMESPACE);
      return new Map(
        kept.flatMap(({ key, value }) => {
          const after = keptSchema.safeParse(value).data;
          const [name, channelId] = key.split(':');
          return name === bot && channelId !== undefined && after !== undefined ? [[channelId, after] as const] : [];
        }),
      );
    },
    async keep(channelId, after) {
      const before = keptSchema.safeParse(await state.get(NAMESPACE, keyOf(channelId))).data;
      if (before === undefined || isNewer(before, after)) await state.set(NAMESPACE, keyOf(channelId), after);
    },
    async done(channelId) {
      if ((await state.get(NAMESPACE, keyOf(channelId))) !== undefined) await state.delete(NAMESPACE, keyOf(channelId));
    },
  };
}
