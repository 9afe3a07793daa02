import { setTimeout as sleep } from 'node:timers/promises';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';

/** A slow worker that reports what it does, one line each. It exists to be killed. */
const [url = '', prefix = '', milliseconds = '0'] = process.argv.slice(2);
const tell = (line: string) => process.stdout.write(`${line}\n`);
const log = silentLog;
const queue = createBullMqQueue({ url, storage: { upkeep: { id: 'tests' } }, prefix, log, onTrouble: tell });

queue.process(
  async (id) => {
    tell(`began ${id}`);
    await sleep(Number(milliseconds));
    tell(`ended ${id}`);
  },
  { concurrency: 2, signal: new AbortController().signal },
);
tell('ready');
setInterval(() => undefined, 1000);
