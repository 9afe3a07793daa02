import { Queue as BullQueue, createPostgresBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { startOperations } from '../../../adapters/operations/http/index.ts';
import { judgeRedis } from '../../../adapters/queues/bullmq/check.ts';
import { bullMqAdapter, createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { localAdapter } from '../../../adapters/queues/local/index.ts';
import type { Queue, QueueAdapter } from '../../../src/adapter-kit.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { createPlace } from '../../fixtures/place.ts';
import { freePort } from '../../support/port.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, startRedis, startRedisMock } from '../../support/redis-server.ts';
import { serverForSuite } from '../../support/suite-server.ts';

/** What operators see of the queue's server: its jobs, and whether it is configured safely. */

const nobody = { log: silentLog, onTrouble: () => undefined };

interface Site extends AsyncDisposable {
  readonly url: string;
  readonly queue: Queue;
}

const storage = { upkeep: { id: 'tests' } };
const checked = (url: string) => bullMqAdapter.check({ url, storage });

async function openSite({ create, openBoard }: QueueAdapter, url: string): Promise<Site> {
  const queue = create({ url, storage, ...nobody });
  const place = await createPlace({ queue });
  const operations = await startOperations({
    services: place.services,
    role: 'all',
    listen: '127.0.0.1:0',
    log: silentLog,
    openBoard: openBoard && ((path) => openBoard({ url, storage, path })),
  });
  return {
    url: operations.url,
    queue,
    async [Symbol.asyncDispose]() {
      await operations.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

interface Listing {
  readonly queues: readonly {
    readonly name: string;
    readonly readOnlyMode: boolean;
    readonly isPaused: boolean;
    readonly counts: { readonly waiting: number };
  }[];
}

async function shown(site: Site): Promise<Listing['queues'][number] | undefined> {
  const response = await fetch(`${site.url}/queues/api/queues?page=1&jobsPerPage=10`);
  const { queues }: Listing = JSON.parse(await response.text());
  return queues[0];
}

/** The result of the action, once the job of this conversation has reached the server. */
async function kicked(site: Site, conversationId: number): Promise<Listing['queues'][number] | undefined> {
  const before = (await shown(site))?.counts.waiting ?? 0;
  site.queue.kick(conversationId);
  await expect.poll(async () => (await shown(site))?.counts.waiting, { timeout: 10_000 }).toBe(before + 1);
  return await shown(site);
}

/** On any server that the queue can be on. */
function boardOn(url: () => string): void {
  it('is shown with waiting jobs on self-contained pages', async () => {
    await using site = await openSite(bullMqAdapter, url());
    expect(await kicked(site, 7)).toMatchObject({ name: expect.stringContaining('maintenance'), readOnlyMode: true });
    const page = await fetch(`${site.url}/queues`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const html = await page.text();
    expect(html).toContain('<base href="/queues/" />');
    const [script = ''] = /static\/js\/main\.\w+\.js/u.exec(html) ?? [];
    expect((await fetch(`${site.url}/queues/${script}`)).status).toBe(200);
    expect((await fetch(`${site.url}/livez`)).status).toBe(200);
  });

  // Shows: W15
  it('lets nobody change it', async () => {
    await using site = await openSite(bullMqAdapter, url());
    const before = await kicked(site, 8);
    const paths = [`${before?.name}/empty`, `${before?.name}/pause`, `${before?.name}/add`, 'pause'];
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of paths) {
        const response = await fetch(`${site.url}/queues/api/queues/${path}`, { method });
        expect([method, path, response.status]).toEqual([method, path, 405]);
      }
    }
    // Workers of an earlier test may still have been connected at first.
    expect(await shown(site)).toEqual({ ...before, hasWorkers: expect.any(Boolean) });
  });
}

describe('the queue on js-redis-server', () => {
  const mock = serverForSuite(startRedisMock);
  boardOn(() => mock().url);
});

const redis = await findRedis();

describe('the queue on Redis', () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);
  const server = serverForSuite(() => startRedis(redis));
  boardOn(() => server().url);

  it('is shown again once the server is back', async () => {
    await using site = await openSite(bullMqAdapter, server().url);
    await server().kill();
    const away = await fetch(`${site.url}/queues`);
    expect([away.status, await away.text()]).toEqual([503, expect.stringMatching(/^Redis at .* ECONNREFUSED/u)]);
    await server().start();
    await kicked(site, 9);
  });

  it.each(['EVAL', 'EVALSHA', 'BZPOPMIN', 'INFO'])('is found wrong without the command %s', async (command) => {
    await using limited = await startRedis(redis, ['--rename-command', command, '']);
    const findings = await checked(limited.url);
    expect(findings.filter(({ severity }) => severity === 'fail')).toMatchObject([
      { message: expect.stringContaining(command.toLowerCase()), fixHint: expect.stringContaining('{strata}') },
    ]);
  });

  it('is found wrong on another node of a cluster', async () => {
    await using node = await startRedis(redis, ['--cluster-enabled', 'yes']);
    await using other = await startRedis(redis, ['--cluster-enabled', 'yes']);
    const admin = new Redis(node.url).on('error', () => undefined);
    const findings = async () => {
      const all = await checked(node.url);
      return all.filter(({ severity }) => severity !== 'ok').map(({ message, fixHint }) => `${message} ${fixHint}`);
    };
    await admin.cluster('ADDSLOTSRANGE', 0, 16383);
    await expect.poll(() => admin.cluster('INFO')).toContain('cluster_state:ok');
    expect(await findings()).toEqual([expect.stringMatching(/node of a Redis Cluster.*without cluster mode/u)]);
    await admin.cluster('MEET', '127.0.0.1', other.port);
    // Before the nodes have shaken hands, the id of the other one is provisional.
    const met = new RegExp(`:${other.port}@\\S+ master .* connected`, 'u');
    await expect.poll(() => admin.cluster('NODES')).toMatch(met);
    await admin.flushall();
    const slot = await admin.cluster('KEYSLOT', '{strata}');
    const [, id = ''] = /^(\w+) \S+ (?!myself)/mu.exec(String(await admin.cluster('NODES'))) ?? [];
    await admin.cluster('SETSLOT', slot, 'NODE', id);
    const elsewhere = new RegExp(`another node: 127.0.0.1:${other.port}`, 'u');
    expect((await findings()).at(-1)).toMatch(elsewhere);
    admin.disconnect();
  });

  // Shows: W16
  it('is judged by the doctor', async () => {
    const admin = new Redis(server().url);
    const wrong = async () => (await checked(server().url)).filter(({ severity }) => severity !== 'ok');
    expect(await wrong()).toEqual([]);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru', 'appendonly', 'no');
    expect(await wrong()).toMatchObject([
      { checkId: 'memory', severity: 'warn', fixHint: expect.stringContaining('noeviction') },
      { checkId: 'persistence', severity: 'warn', fixHint: expect.stringContaining('appendonly') },
    ]);
    await admin.replicaof('127.0.0.1', await freePort());
    expect(await wrong()).toMatchObject([
      { checkId: 'writes', severity: 'fail', fixHint: expect.stringContaining('primary') },
      ...[{ checkId: 'memory' }, { checkId: 'persistence' }],
    ]);
    await admin.replicaof('NO', 'ONE');
    await admin.config('SET', 'maxmemory-policy', 'noeviction', 'appendonly', 'yes');
    await admin.config('SET', 'maxmemory', '1mb');
    expect(await wrong()).toMatchObject([
      { checkId: 'memory', severity: 'fail', fixHint: expect.stringContaining('Raise maxmemory') },
    ]);
    await admin.config('SET', 'maxmemory', '0');
    admin.disconnect();
  });

  it('is judged by what its user may do', async () => {
    const admin = new Redis(server().url);
    await admin.call('ACL', 'SETUSER', 'guest', 'on', '>word', '~other:*', '&*', '+@all');
    const findings = await checked(server().url.replace('//', '//guest:word@'));
    expect(findings.filter(({ severity }) => severity !== 'ok')).toMatchObject([
      { checkId: 'rights', severity: 'fail', fixHint: expect.stringContaining('{strata}') },
    ]);
    await admin.config('SET', 'requirepass', 'word');
    const [finding] = await checked(server().url);
    expect(finding?.message).toMatch(/cannot be used: it requires a password$/u);
    await admin.config('SET', 'requirepass', '');
    admin.disconnect();
  });

  it('is judged while another program has paused it', async () => {
    const queue = new BullQueue('maintenance-tests', { connection: { url: server().url }, prefix: '{strata}' });
    await queue.pause();
    expect((await checked(server().url)).at(-1)).toMatchObject({ checkId: 'paused', severity: 'fail' });
    await queue.resume();
    expect((await checked(server().url)).map(({ checkId }) => checkId)).not.toContain('paused');
    await queue.close();
  });

  it('puts no job into another database than its own', async () => {
    const url = `${server().url}/99`;
    expect(await checked(url)).toMatchObject([
      { checkId: 'server', severity: 'fail', message: expect.stringContaining('DB index is out of range') },
    ]);
    const trouble = Promise.withResolvers<string>();
    const queue = createBullMqQueue({ url, storage, prefix: 'elsewhere', log: silentLog, onTrouble: trouble.resolve });
    queue.kick(1);
    expect(await trouble.promise).toContain('DB index is out of range');
    const admin = new Redis(server().url);
    await vi.waitFor(
      async () => expect(await admin.info('commandstats')).toMatch(/cmdstat_select:calls=[3-9]/u),
      10_000,
    );
    expect(await admin.keys('{elsewhere}*')).toEqual([]);
    admin.disconnect();
    await queue.close({ deadlineMs: 0 });
  });
});

const postgres = await findPostgres();

describe('the queue on Postgres', () => {
  if (postgres.kind === 'missing') return it.skip(`skipped: ${postgres.reason}`);
  const server = serverForSuite(() => startPostgres(postgres));
  let url = '';
  beforeAll(async () => {
    url = await server().database('queue');
  });
  boardOn(() => url);

  it('is judged by the doctor', async () => {
    expect(await checked(url)).toMatchObject([{ checkId: 'server', severity: 'ok' }]);
    const [nowhere] = await checked(url.replace('/queue', '/nothing'));
    expect(nowhere).toMatchObject({ severity: 'fail', message: expect.stringContaining('"nothing" does not exist') });
  });

  it('is judged while another program has paused it', async () => {
    const queue = new BullQueue(
      'strata-maintenance-tests',
      { connection: { connectionString: url } },
      createPostgresBackend,
    );
    await queue.pause();
    expect((await checked(url)).at(-1)).toMatchObject({ checkId: 'paused', severity: 'fail' });
    await queue.resume();
    expect((await checked(url)).map(({ checkId }) => checkId)).not.toContain('paused');
    await queue.close();
  });
});

describe('the queue of one process', () => {
  it('has no pages, and nothing to check', async () => {
    await using site = await openSite(localAdapter, '');
    const response = await fetch(`${site.url}/queues`);
    expect([response.status, await response.text()]).toEqual([404, 'Known: /livez /readyz /metrics\n']);
    expect(await localAdapter.check({ url: '', storage })).toEqual([]);
  });
});

describe('a Redis', () => {
  const sound = { redis_version: '7.2.4', role: 'master', maxmemory_policy: 'noeviction', aof_enabled: '1' };
  const judged = (odd: object) => judgeRedis('Redis at there', new Map(Object.entries({ ...sound, ...odd })));

  it.each([
    ['version', 'warn', { redis_version: '6.0.16' }],
    ['version', 'fail', { redis_version: '4.0.9' }],
    ['writes', 'fail', { aof_last_write_status: 'err' }],
    ['memory', 'warn', { maxmemory_policy: 'volatile-lru' }],
    ['memory', 'fail', { maxmemory: '1000000', used_memory: '1000001' }],
    ['persistence', 'warn', { aof_enabled: '0' }],
  ])('is reported for its %s (%s) at %o, with remedy', (id, severity, odd) => {
    const wrong = judged(odd).filter((finding) => finding.severity !== 'ok');
    expect(wrong).toMatchObject([{ checkId: id, severity, fixHint: expect.stringMatching(/^\w+ .*\.$/u) }]);
  });

  it('is fine by default; Valkey’s own version counts', () => {
    const [version, ...others] = judged({ valkey_version: '8.0.1' });
    expect(version).toMatchObject({ severity: 'ok', message: 'Redis at there, version 8.0.1' });
    expect(others.map(({ severity }) => severity)).toEqual(['ok', 'ok', 'ok']);
  });

  it('that does not answer is reported without its password', async () => {
    const [finding] = await checked(`redis://ada:secret-word@127.0.0.1:${await freePort()}`);
    expect(finding).toMatchObject({ severity: 'fail', message: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify(finding)).not.toContain('secret-word');
  });
});
