import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createSystemClock } from '../../src/util/time/clock.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { createWords } from '../words.ts';
import { conversationKey, type World, withWorld } from '../world.ts';

/** Serves conversations, lets them become idle, and reports the memory of this process at each stage. */

const AT_ONCE = 50;
/** Longer than an unused conversation stays in memory. */
const IDLE_MS = 61_000;
/** Longer than the interval between two checks for idle conversations. */
const SWEPT_MS = 6000;

const [conversations, turns] = z.tuple([z.coerce.number(), z.coerce.number()]).parse(process.argv.slice(2));

let skippedMs = 0;
const system = createSystemClock();
const clock = { ...system, now: () => system.now() + skippedMs };

await withWorld({ models: providerOf(replyModel(), summaryModel(0)), clock }, async (world) => {
  const readyBytes = process.memoryUsage.rss();
  await serve(world, { prefix: 'first', count: conversations });
  const usedBytes = process.memoryUsage.rss();
  await fallIdle();
  const heapBeforeBytes = collectedHeap();
  // Twice, so that the difference is the conversations and not code compiled for the first ones.
  await serve(world, { prefix: 'second', count: conversations });
  await fallIdle();
  const heapIdleBytes = collectedHeap();
  const idleBytes = process.memoryUsage.rss();
  process.send?.({ readyBytes, usedBytes, idleBytes, heapBeforeBytes, heapIdleBytes });
});
process.disconnect?.();

async function serve(world: World, of: { readonly prefix: string; readonly count: number }): Promise<void> {
  const words = createWords(5);
  const waiting = Array.from({ length: of.count }, (_, index) => conversationKey(`${of.prefix}-${index}`));
  const worker = async () => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      for (let turn = 0; turn < turns; turn += 1) await world.ask(key, { id: `m${turn}`, text: words.text(20) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** A minute passes without a message. */
async function fallIdle(): Promise<void> {
  skippedMs += IDLE_MS;
  await delay(SWEPT_MS);
}

function collectedHeap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
