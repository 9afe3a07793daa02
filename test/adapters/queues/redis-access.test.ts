import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { bullMqAdapter, createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { findRedis, startRedis } from '../../support/redis-server.ts';
import { serverForSuite } from '../../support/suite-server.ts';

/** How a process gets to its Redis, and what it may do there. */

const storage = { upkeep: { id: 'tests' } };
const checked = (url: string) => bullMqAdapter.check({ url, storage });
const redis = await findRedis();

describe('the doctor on Redis', () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);
  const server = serverForSuite(() => startRedis(redis));

  it.each(['-@stream', '-@blocking', '-hset', '-@scripting'])('finds a user with %s wrong', async (rule) => {
    const admin = new Redis(server().url);
    await admin.call('ACL', 'SETUSER', 'limited', 'reset', 'on', '>word', '~{strata}*', '+@all', rule);
    const findings = await checked(server().url.replace('//', '//limited:word@'));
    expect(findings.filter(({ checkId }) => checkId === 'rights')).toMatchObject([
      { severity: 'fail', message: expect.not.stringContaining('@user_script') },
    ]);
    admin.disconnect();
  });

  it('accepts a user with its keys, and leaves nothing', async () => {
    await using other = await startRedis(redis);
    const admin = new Redis(other.url);
    const rules = ['~{strata}*', '+@all', '-@admin', '-@dangerous', '+info'];
    await admin.call('ACL', 'SETUSER', 'limited', 'on', '>word', ...rules);
    const findings = await checked(other.url.replace('//', '//limited:word@'));
    expect(findings.filter(({ severity }) => severity !== 'ok')).toEqual([]);
    expect(await admin.keys('*')).toEqual(['{strata}:maintenance-tests:meta']);
    admin.disconnect();
  });

  it('finds Redis on a Unix socket, with password and database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strata-socket-'));
    const socket = join(folder, 'redis.sock');
    await using other = await startRedis(redis, ['--unixsocket', socket, '--requirepass', 'word']);
    const url = `redis://:word@localhost/3?path=${socket}`;
    expect((await checked(url))[0]).toMatchObject({ severity: 'ok', message: expect.stringContaining(socket) });
    const done = Promise.withResolvers<number>();
    const queue = createBullMqQueue({ url, storage, log: silentLog, onTrouble: () => undefined });
    queue.process(async (id) => done.resolve(id), { concurrency: 1, signal: new AbortController().signal });
    queue.kick(4);
    expect(await done.promise).toBe(4);
    const admin = new Redis({ port: other.port, password: 'word' });
    expect(await admin.keys('*')).toEqual([]);
    await queue.close({ deadlineMs: 1000 });
    admin.disconnect();
    await rm(folder, { recursive: true });
  });
});

describe('the address of a Redis', () => {
  it.each(['redis:///run/redis.sock', 'redis://localhost/name', 'redis://[', 'redis:'])(
    '%s is no address of a queue',
    (url) => {
      const open = () => createBullMqQueue({ url, storage, log: silentLog, onTrouble: () => undefined });
      expect(open).toThrow(expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('needs a url') }));
    },
  );

  it('reports a certificate that nobody vouches for, with remedy', async () => {
    const pem = await readFile(new URL('../../fixtures/self-signed.pem', import.meta.url));
    const server = createServer({ key: pem, cert: pem }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await checked(`rediss://127.0.0.1:${port}`)).toMatchObject([
      {
        severity: 'fail',
        message: expect.stringContaining('certificate'),
        fixHint: expect.stringMatching(/^Set NODE_EXTRA/u),
      },
    ]);
    server.close();
  });
});
