import { readFileSync } from 'node:fs';
import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import { createBot } from '../../src/bot/bot.ts';
import { defaultAgent } from '../../src/config/defaults.ts';
import type { KeptConversations } from '../../src/ports/channel.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { providerOf, REPLY_MODEL, replyModel, SUMMARY_MODEL, summaryModel } from '../models.ts';
import { createBenchChannel } from '../world.ts';

/**
 * Starts a bot on a full store, like a platform adapter that looks for missed messages, and reports how long that took.
 */

const [kind = '', place = ''] = process.argv.slice(2);
const HOURS_72_MS = 259_200_000;

let looked: Promise<number> = Promise.resolve(0);
const channel = createBenchChannel(() => undefined);
const storage = await open();
const bot = createBot({
  storage,
  queue: createLocalQueue({ log: silentLog }),
  models: providerOf(replyModel(), summaryModel(0)),
  channels: [
    {
      ...channel,
      async start({ conversations }) {
        looked = lookAtAll(conversations);
      },
    },
  ],
  agents: [defaultAgent({ model: REPLY_MODEL, compaction: { model: SUMMARY_MODEL } })],
});
await bot.start();
const readyMs = performance.now();
const readyBytes = process.memoryUsage.rss();
const cursors = await looked;
const lookedMs = performance.now();
const mostBytes = peakBytes();
await bot.stop();
process.send?.({ readyMs, readyBytes, cursors, lookedMs, mostBytes });
process.disconnect?.();

async function open() {
  if (kind === 'postgres') {
    const { createPostgresStorage } = await import('../../adapters/stores/postgres/index.ts');
    return await createPostgresStorage({ url: place });
  }
  const { createSqliteStorage } = await import('../../adapters/stores/sqlite/index.ts');
  return await createSqliteStorage({ directory: place });
}

/** Of this program alone: Node's `maxRSS` also counts the process that forked it. */
function peakBytes(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** One by one, as catching up does: none of them stays in memory. */
async function lookAtAll(conversations: KeptConversations): Promise<number> {
  let count = 0;
  for await (const _cursor of conversations.heard('bench', HOURS_72_MS)) count += 1;
  return count;
}
