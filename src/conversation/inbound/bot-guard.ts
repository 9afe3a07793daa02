import { isPaused } from '../../util/async/pause.ts';

const WINDOW_MS = 60_000;
const LIMIT = 20;
const COOLDOWN_MS = 60_000;
/** Number of known pairs above which silent ones are dropped. */
const MAX_PAIRS = 1000;

/**
 * Stops two bots from answering each other forever: at most 20 triggers per minute by one bot in one channel, its threads
 * included, then a minute of silence.
 */
export interface BotGuard {
  /** Counts one trigger. Returns false while the pair cools down. */
  allows(pair: string, now: number): boolean;
}

export function createBotGuard(): BotGuard {
  const pairs = new Map<string, { times: number[]; silentUntil: number }>();
  const forget = (now: number): void => {
    for (const [pair, { times, silentUntil }] of pairs) {
      if (silentUntil <= now && (times.at(-1) ?? 0) <= now - WINDOW_MS) pairs.delete(pair);
    }
  };
  return {
    allows(pair, now) {
      if (pairs.size >= MAX_PAIRS && !pairs.has(pair)) forget(now);
      const known = pairs.get(pair) ?? { times: [], silentUntil: 0 };
      pairs.set(pair, known);
      if (isPaused(known.silentUntil, { now, maxMs: COOLDOWN_MS })) return false;
      known.times = [...known.times.filter((time) => time > now - WINDOW_MS && time <= now), now];
      if (known.times.length <= LIMIT) return true;
      known.silentUntil = now + COOLDOWN_MS;
      known.times = [];
      return false;
    },
  };
}
