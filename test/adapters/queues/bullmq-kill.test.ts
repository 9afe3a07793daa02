import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import type { Queue } from '../../../src/adapter-kit.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, startRedis, startRedisMock } from '../../support/redis-server.ts';
import { RELATIVE_IMPORTS } from '../../support/relative-imports.ts';
import { IS_FULL, SIZED } from '../../support/size.ts';
import { serverForSuite } from '../../support/suite-server.ts';

const WORKER = fileURLToPath(new URL('./bullmq-worker.process.ts', import.meta.url));
const RESUME_LIMIT_MS = 10_000;

interface Worker {
  readonly lines: readonly string[];
  kill(): Promise<void>;
}

let made = 0;

/** Each test has its own queue and its own worker processes. */
interface Place extends AsyncDisposable {
  readonly queue: Queue;
  start(milliseconds: number): Promise<Worker>;
}

function openPlace(url: string): Place {
  made += 1;
  const prefix = `kill${process.pid}-${made}`;
  const queue = createBullMqQueue({
    url,
    storage: { upkeep: { id: 'tests' } },
    prefix,
    log: silentLog,
    onTrouble: () => undefined,
  });
  const workers: Worker[] = [];
  return {
    queue,
    async start(milliseconds) {
      const worker = startWorker([url, prefix, String(milliseconds)]);
      workers.push(worker);
      await until(() => worker.lines.includes('ready'));
      return worker;
    },
    async [Symbol.asyncDispose]() {
      for (const worker of workers) await worker.kill();
      await queue.close({ deadlineMs: 0 });
    },
  };
}

function startWorker(options: readonly string[]): Worker {
  const child: ChildProcess = spawn(process.execPath, [...RELATIVE_IMPORTS, WORKER, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return {
    lines,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** How long it took. */
async function until(condition: () => boolean, limitMs = 120_000): Promise<number> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > limitMs) throw new Error(`It did not happen within ${limitMs} ms.`);
    await sleep(10);
  }
  return performance.now() - start;
}

/** What must hold when a working process dies suddenly. */
function killed(url: () => string): void {
  // Shows: W6
  it('leaves its job to another within ten seconds, repeatedly', async () => {
    await using place = openPlace(url());
    const times: number[] = [];
    let worker = await place.start(60_000);
    place.queue.kick(7);
    await until(() => worker.lines.includes('began 7'));
    for (let kills = 0; kills < 2; kills += 1) {
      const next = await place.start(kills === 0 ? 60_000 : 1);
      await worker.kill();
      times.push(await until(() => next.lines.includes('began 7')));
      worker = next;
    }
    await until(() => worker.lines.includes('ended 7'));
    expect(Math.max(...times)).toBeLessThan(RESUME_LIMIT_MS);
  });

  // Shows: W5
  it('loses no job that was requested during its work', async () => {
    await using place = openPlace(url());
    const worker = await place.start(60_000);
    place.queue.kick(7);
    await until(() => worker.lines.includes('began 7'));
    for (let kicks = 0; kicks < 3; kicks += 1) place.queue.kick(7);
    await sleep(500);
    const next = await place.start(100);
    await worker.kill();
    await until(() => next.lines.filter((line) => line === 'ended 7').length === 2);
    await sleep(300);
    expect(next.lines).toEqual(['ready', 'began 7', 'ended 7', 'began 7', 'ended 7']);
  });

  it('delays no other conversation', async () => {
    await using place = openPlace(url());
    const worker = await place.start(60_000);
    place.queue.kick(1);
    place.queue.kick(2);
    await until(() => worker.lines.length === 3);
    await worker.kill();
    const next = await place.start(1);
    place.queue.kick(3);
    await until(() => next.lines.includes('ended 3'), 3000);
  });
}

vi.setConfig({ testTimeout: 120_000 });

const redis = await findRedis();

// `npm test` leaves it to a Redis, if there is one.
if (IS_FULL || redis.kind === 'missing') {
  describe.concurrent('a worker that is killed, on js-redis-server', SIZED, () => {
    const mock = serverForSuite(startRedisMock);
    killed(() => mock().url);
  });
}

describe.concurrent('a worker that is killed, on Redis', () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);
  const server = serverForSuite(() => startRedis(redis));
  killed(() => server().url);
});

const postgres = await findPostgres();

describe.concurrent('a worker that is killed, on Postgres', () => {
  if (postgres.kind === 'missing') return it.skip(`skipped: ${postgres.reason}`);
  const server = serverForSuite(() => startPostgres(postgres));
  killed(() => server().url);
});
