import { createLocalQueue } from '../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Storage } from '../src/services.ts';
import { silentLog } from '../src/util/log/silent-log.ts';
import { createSystemClock } from '../src/util/time/clock.ts';
import { MINUTE_MS } from '../src/util/time/time.ts';
import { billedModel, cachingModel } from './caching.ts';
import type { Exchange } from './data.ts';
import { withDirectory } from './directory.ts';
import { REPLY_MODEL, SUMMARY_MODEL, scriptedModel } from './models.ts';
import { largeReader } from './settling.ts';
import { conversationKey, type World, withWorld } from './world.ts';

/** How summaries enter the view. */
export type Way = 'cheapest' | 'immediate' | 'sliding';

export interface Published {
  readonly turns: number;
  /** In units of one uncached input token. */
  readonly cost: number;
  /** The share of a request that repeats the one before. */
  readonly cacheableShare: number;
  readonly losses: ReadonlyMap<string, number>;
}

const CACHE_MS = 5 * MINUTE_MS;
/** Relative prices of Anthropic's models, in dollars for a million tokens. */
const RATES = { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 };
const KEY = conversationKey('talk');
const NEVER_MINUTES = 10_000;

export interface Playing {
  readonly windowTokens: number;
  readonly way: Way;
}

/** Plays a conversation with its pauses, on a provider that keeps a prefix for five minutes. */
export function play(talk: readonly Exchange[], playing: Playing): Promise<Published> {
  return withDirectory((directory) => playIn(directory, talk, playing));
}

async function playIn(
  directory: string,
  talk: readonly Exchange[],
  { windowTokens, way }: Playing,
): Promise<Published> {
  const clock = shiftedClock();
  let answer = '';
  const plain = scriptedModel(REPLY_MODEL, { delayMs: 0, text: () => answer || 'I see.' });
  const replying = { ...plain, traits: { ...plain.traits, windowTokens, cacheMs: CACHE_MS } };
  const { model: reply, totals } = cachingModel(replying, { now: clock.now, cacheMs: CACHE_MS });
  const summariser = billedModel(largeReader());
  const models = {
    open: async (id: string) => (id === REPLY_MODEL ? reply : summariser),
    choose: async () => ({ modelId: REPLY_MODEL, reason: 'the bench' }),
  };
  const queue = createLocalQueue({ log: silentLog });
  const storage = await createSqliteStorage({ directory });
  const options = {
    models,
    queue,
    clock,
    storage: way === 'immediate' ? withoutPrints(storage) : storage,
    prices: { own: () => ({ [REPLY_MODEL]: RATES, [SUMMARY_MODEL]: RATES }) },
    agent: { ...(way === 'sliding' ? { engine: 'sliding' } : {}), compaction: { idle_minutes: NEVER_MINUTES } },
  };
  return await withWorld(options, async (world) => {
    const losses = countLosses(world);
    for (const [index, exchange] of talk.entries()) {
      clock.skip(exchange.pauseMs);
      answer = exchange.answer;
      await world.ask(KEY, { id: `m${index}`, text: exchange.said });
      await world.bot.settled();
      await new Promise((resolve) => setImmediate(resolve));
      await queue.idle();
    }
    const spent = await storage.store.journal.spending({ by: 'model', since: null, conversationId: null, limit: 9 });
    const cost = spent.reduce((sum, row) => sum + row.costUsd * 1_000_000, 0);
    const cacheableShare = totals.repeatedTokens / Math.max(1, totals.inputTokens);
    return { turns: talk.length, cost, cacheableShare, losses };
  });
}

/** Without the last request nothing is known about a cache: every summary is published when it is written. */
function withoutPrints(storage: Storage): Storage {
  const { journal } = storage.store;
  const cache = { ...journal.cache, lastRequest: async () => null };
  return { ...storage, store: { ...storage.store, journal: { ...journal, cache } } };
}

function shiftedClock(): Clock & { skip(ms: number): void } {
  const system = createSystemClock();
  let shiftMs = 0;
  return {
    now: () => system.now() + shiftMs,
    sleep: (ms, options) => system.sleep(ms, options),
    skip(ms) {
      shiftMs += ms;
    },
  };
}

function countLosses({ bot }: World): ReadonlyMap<string, number> {
  const losses = new Map<string, number>();
  bot.events.on((event) => {
    if (event.kind === 'cache.lost') losses.set(event.cause, (losses.get(event.cause) ?? 0) + 1);
  });
  return losses;
}
