import type { Clock, Random } from '../../../src/index.ts';

/** As many quick failures in a row are forgiven before a pause. */
const FORGIVEN = 3;
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 300_000;
/** A connection that held this long was a good one. */
const GOOD_MS = 60_000;
/** An attempt that is under way has this long to end. */
const CLOSING_MS = 5_000;

/**
 * Slows down a shard that cannot connect or keeps losing its connection. The library tries twice a second for ever, and
 * a thousand identifications within a day cost a bot its token.
 */
export interface Reconnects {
  connected(shardId: number): void;
  /** The connection was lost or refused. Gives the pause that follows, 0 for none. */
  lost(shardId: number): number;
  /** Resolves when the shard may connect; never once closed. */
  mayConnect(shardId: number): Promise<void>;
  /** No shard may connect any more. Resolves when none is about to: what is half open cannot be closed. */
  close(): Promise<void>;
}

interface Shard {
  /** Between the permission to connect and what came of it. */
  attempt: PromiseWithResolvers<void> | null;
  losses: number;
  connectedAt: number | null;
  pausedUntil: number;
}

export function createReconnects({ clock, random }: { readonly clock: Clock; readonly random: Random }): Reconnects {
  const shards = new Map<number, Shard>();
  const over = new AbortController();
  const shardOf = (id: number): Shard => {
    const shard = shards.get(id) ?? { attempt: null, losses: 0, connectedAt: null, pausedUntil: 0 };
    shards.set(id, shard);
    return shard;
  };
  return {
    connected(id) {
      shardOf(id).connectedAt = clock.now();
      endAttempt(shardOf(id));
    },
    lost(id) {
      const shard = shardOf(id);
      endAttempt(shard);
      const wasGood = shard.connectedAt !== null && clock.now() - shard.connectedAt >= GOOD_MS;
      shard.losses = wasGood ? 1 : shard.losses + 1;
      shard.connectedAt = null;
      const pauseMs = pauseAfter(shard.losses, random.next());
      shard.pausedUntil = clock.now() + pauseMs;
      return pauseMs;
    },
    async mayConnect(id) {
      const shard = shardOf(id);
      // The library asks for the session with every packet too.
      if (shard.connectedAt !== null || shard.attempt !== null) return;
      const waitMs = () => shard.pausedUntil - clock.now();
      while (waitMs() > 0 && !over.signal.aborted) {
        await clock.sleep(waitMs(), { signal: over.signal }).catch(() => undefined);
      }
      // A rejection would bring the process down: the library waits for this without a catch.
      if (over.signal.aborted) await new Promise<never>(() => undefined);
      shard.attempt ??= Promise.withResolvers();
    },
    async close() {
      over.abort();
      const attempts = Promise.all([...shards.values()].map(({ attempt }) => attempt?.promise));
      const late = new AbortController();
      await Promise.race([attempts, clock.sleep(CLOSING_MS, { signal: late.signal }).catch(() => undefined)]);
      late.abort();
    },
  };
}

function endAttempt(shard: Shard): void {
  shard.attempt?.resolve();
  shard.attempt = null;
}

export function pauseAfter(losses: number, chance: number): number {
  if (losses <= FORGIVEN) return 0;
  const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (losses - FORGIVEN - 1));
  return Math.round(pauseMs * (0.75 + chance / 2));
}
