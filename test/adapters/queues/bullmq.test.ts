import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { queueContract } from '../../contracts/queue.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, startRedis, startRedisMock } from '../../support/redis-server.ts';
import { serverForSuite } from '../../support/suite-server.ts';

let made = 0;

function contractOn(name: string, url: () => string): void {
  queueContract(name, {
    async create() {
      made += 1;
      const prefix = `test${process.pid}-${made}`;
      const quiet = { log: silentLog, onTrouble: () => undefined };
      return {
        queue: createBullMqQueue({
          url: url(),
          storage: { upkeep: { id: 'tests' } },
          ...quiet,
          prefix,
          retryDelayMs: 50,
        }),
        dispose: async () => undefined,
      };
    },
  });
}

// Shows: W13
describe('on js-redis-server', () => {
  const mock = serverForSuite(startRedisMock);
  contractOn('bullmq', () => mock().url);
});

const SCRIPT = `
import { routeWarnings } from ${JSON.stringify(new URL('../../../adapters/queues/bullmq/warnings.ts', import.meta.url).href)};
const end = routeWarnings({ warn: (_, { warning }) => process.stdout.write(warning + '\\n') });
console.warn('[ioredis] one');
end();
console.warn('[ioredis] two');
`;

const REDIS_URL = process.env['REDIS_URL'];
const redis = REDIS_URL === undefined ? await findRedis() : null;

test('warnings are printed if no queue is open', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  expect([stdout, stderr]).toEqual(['[ioredis] one\n', '[ioredis] two\n']);
});

describe('on Redis', () => {
  if (redis?.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);
  const server = redis === null ? null : serverForSuite(() => startRedis(redis));
  contractOn('bullmq', () => REDIS_URL ?? server?.().url ?? '');
});

const DATABASE_URL = process.env['DATABASE_URL'];
const postgres = DATABASE_URL === undefined ? await findPostgres() : null;

describe('on Postgres', () => {
  if (postgres?.kind === 'missing') return it.skip(`skipped: ${postgres.reason}`);
  const server = postgres === null ? null : serverForSuite(() => startPostgres(postgres));
  contractOn('bullmq', () => DATABASE_URL ?? server?.().url ?? '');
});
