import { describe, expect, it, vi } from 'vitest';
import { checkQueue } from '../../../adapters/queues/bullmq/check.ts';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { createKit } from '../../contracts/store-kit.ts';
import { findPgBouncer, startPgBouncer } from '../../support/pgbouncer.ts';
import { ask } from '../../support/postgres-schema.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { serverForSuite } from '../../support/suite-server.ts';

/** A connection pooler in front of Postgres. */

const programs = await findPostgres();
const pgbouncer = findPgBouncer();
const SOON = { timeout: 20_000, interval: 100 };

describe('a URL of Postgres', { timeout: 60_000 }, () => {
  if (programs.kind === 'missing') return it.skip(`skipped: ${programs.reason}`);
  const server = serverForSuite(() => startPostgres(programs));

  it('that sets a schema serves the queue, too', async () => {
    const url = new URL(await server().database('shared'));
    await ask(url.href, 'create schema bot');
    url.searchParams.set('options', '-csearch_path=bot');
    const storage = await createPostgresStorage({ url: url.href });
    await using place = openQueue(url.href);
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.done).toEqual([1]), SOON);
    expect((await createKit(storage).say('hi')).seq).toBe(1);
    await storage.store.close();
  });

  describe('of PgBouncer', () => {
    if (pgbouncer === null) return it.skip('skipped: no pgbouncer on the path or in /usr/sbin');

    it.each(['transaction', 'session'])('in %s mode serves a store', async (mode) => {
      await using pooler = await startPgBouncer(pgbouncer, { url: await server().database(mode), mode });
      const storages = await Promise.all([1, 2].map(() => createPostgresStorage({ url: pooler.url })));
      const kits = storages.map(createKit);
      const said = Array.from({ length: 60 }, (_, n) => kits[n % 2]?.append({ message: { externalId: `x${n >> 1}` } }));
      await Promise.all(said);
      expect((await kits[0]?.get(1))?.nextSeq).toBe(31);
      for (const { store } of storages) await store.close();
    });

    it('in transaction mode keeps commits durable', async () => {
      const url = await server().database('durable');
      await ask(url, 'alter database durable set synchronous_commit = off');
      await (await createPostgresStorage({ url })).store.close();
      await ask(
        url,
        `create table seen (setting text); create function note() returns trigger language plpgsql
          as $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$;
        create trigger noting before insert on entry for each row execute function note()`,
      );
      const settings = ['server_lifetime = 0'];
      await using pooler = await startPgBouncer(pgbouncer, { url, mode: 'transaction', settings });
      const storage = await createPostgresStorage({ url: pooler.url });
      const kit = createKit(storage);
      await Promise.all(Array.from({ length: 30 }, (_, n) => kit.append({ message: { externalId: `x${n}` } })));
      expect(await ask(url, 'select setting, count(*)::int from seen group by 1')).toEqual([
        { setting: 'on', count: 30 },
      ]);
      await storage.store.close();
    });

    it.each([
      ['statement', '', 'Set its pool_mode'],
      ['transaction', '?options=-csearch_path%3Dbot', 'alter role NAME set search_path'],
    ])('in %s mode with "%s" is refused with a remedy', async (mode, parameters, remedy) => {
      const url = await server().database(`refused_${mode}`);
      await using pooler = await startPgBouncer(pgbouncer, { url, mode });
      const refused = { code: 'STORE_UNUSABLE', message: expect.stringContaining(remedy) };
      await expect(createPostgresStorage({ url: pooler.url + parameters })).rejects.toMatchObject(refused);
    });

    it.each([[[]], [['ignore_startup_parameters = options']]])('is no queue, with %j', async (settings) => {
      const url = await server().database(`queue_${settings.length}`);
      await using pooler = await startPgBouncer(pgbouncer, { url, mode: 'transaction', settings });
      await using place = openQueue(pooler.url);
      place.queue.kick(1);
      await vi.waitFor(() => expect(place.queue.stats().trouble).toContain('pooler is in between'), SOON);
      const [found] = await checkQueue({ url: pooler.url, storage: TESTS });
      expect(found).toMatchObject({ severity: 'fail', fixHint: expect.stringContaining('Set url in [queue]') });
      // A pooler would lend the same connections to the store.
      const storage = await createPostgresStorage({ url: pooler.url });
      expect((await createKit(storage).say('hi')).seq).toBe(1);
      await storage.store.close();
    });
  });
});

const TESTS = { upkeep: { id: 'tests' } };

function openQueue(url: string) {
  const done: number[] = [];
  const queue = createBullMqQueue({ url, storage: TESTS, log: silentLog, onTrouble: () => undefined });
  queue.process(async (id) => void done.push(id), { concurrency: 2, signal: new AbortController().signal });
  return { queue, done, [Symbol.asyncDispose]: () => queue.close({ deadlineMs: 0 }) };
}
