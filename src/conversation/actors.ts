import { placeOf } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';
import { type Actor, type ActorOptions, createActor } from './actor.ts';

/** An idle conversation leaves memory after this time; the store can restore it. */
const IDLE_MS = 60_000;
/** Maximum number of idle conversations in memory, however busy the bot is. */
const MAX_IDLE = 200;

/** The active conversations of this process. */
export interface Actors {
  of(key: ConversationKey): Actor;
  /** The actor if it is in memory. */
  peek(key: ConversationKey): Actor | null;
  /** Ends every running turn that lost its claim or a memory that it was given. Default: in all places. */
  refreshBusy(place?: string): void;
  /** Drops actors that have been idle for a minute, and the longest idle ones above the limit. */
  sweep(now: number): void;
  drained(): Promise<void>;
  readonly size: number;
}

export function createActors(options: ActorOptions): Actors {
  // In order of last use, because a map keeps insertion order.
  const actors = new Map<ConversationKey, Actor>();
  const trim = (now: number, most: number): void => {
    for (const [key, actor] of actors) {
      if (actor.busy) continue;
      if (actors.size <= most && now - actor.lastUsedAt < IDLE_MS) return;
      actors.delete(key);
    }
  };
  return {
    of(key) {
      const actor = actors.get(key) ?? createActor(options, key);
      actors.delete(key);
      // Before the new actor is added: it is about to be used.
      if (actors.size >= MAX_IDLE) trim(actor.lastUsedAt, MAX_IDLE - 1);
      actors.set(key, actor);
      return actor;
    },
    peek: (key) => actors.get(key) ?? null,
    refreshBusy(place) {
      for (const [key, actor] of actors) {
        if (actor.busy && (place === undefined || placeOf(key) === place)) actor.refresh();
      }
    },
    sweep: (now) => trim(now, MAX_IDLE),
    async drained() {
      await Promise.all([...actors.values()].map((actor) => actor.drained()));
    },
    get size() {
      return actors.size;
    },
  };
}
