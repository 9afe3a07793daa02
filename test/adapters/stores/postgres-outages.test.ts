import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { isStoreAway, makeKey } from '../../../src/adapter-kit.ts';
import { createKit } from '../../contracts/store-kit.ts';
import { ask } from '../../support/postgres-schema.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { serverForSuite } from '../../support/suite-server.ts';

/** What happens on the server of an operator while a bot runs. */

const programs = await findPostgres();

describe('a store on Postgres', () => {
  if (programs.kind === 'missing') return it.skip(`skipped: ${programs.reason}`);
  const server = serverForSuite(() => startPostgres(programs));

  const openAs = async (user: string, database: string, setting = "application_name = ''") => {
    const url = new URL(await server().database(database));
    await ask(server().url, `create role ${user} login`);
    await ask(server().url, `alter role ${user} set ${setting}`);
    await ask(server().url, `alter database ${database} owner to ${user}`);
    url.username = user;
    const storage = await createPostgresStorage({ url: url.href });
    return { url: url.href, storage, kit: createKit(storage) };
  };

  it('waits for locks despite a limit of the user', async () => {
    const { url, storage, kit } = await openAs('hasty', 'locks', "lock_timeout = '10ms'");
    await kit.say('Hello?');
    const other = await connected(url);
    await other.query('begin');
    await other.query('select id from conversation for update');
    const waiting = kit.say('Still there?');
    waiting.catch(() => undefined);
    await other.query('select pg_sleep(0.5)');
    await other.query('commit');
    await waiting;
    await other.end();
    await storage.store.close();
  });

  it('keeps idle connections despite a limit of the user', async () => {
    const { storage, kit } = await openAs('restless', 'idle', "idle_session_timeout = '100ms'");
    await kit.say('Hello?');
    const connections = () =>
      ask(server().url, "select pid from pg_stat_activity where usename = 'restless' and state = 'idle' order by pid");
    const before = [...(await connections())];
    expect(before).not.toEqual([]);
    await ask(server().url, 'select pg_sleep(0.5)');
    expect(await connections()).toEqual(expect.arrayContaining(before));
    await storage.store.close();
  });

  it('writes again as soon as the server does', async () => {
    const { storage, kit } = await openAs('reader', 'failover');
    await kit.say('Hello?');
    await ask(server().url, 'alter database failover set default_transaction_read_only = on');
    await ask(server().url, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'reader'");
    const refused = { code: 'STORE_UNUSABLE', message: expect.stringContaining('accepts no writes') };
    await expect(kit.say('Still there?')).rejects.toMatchObject(refused);
    await ask(server().url, 'alter database failover set default_transaction_read_only = off');
    await kit.say('Welcome back.');
    await storage.store.close();
  });

  it('repeats no claim that a failover has lost', async () => {
    const { url, storage, kit } = await openAs('behind', 'lost');
    const asked = { wantsReply: true, claimLeaseMs: 5_000 };
    const { conversation } = await kit.say('Hello?');
    await ask(url, 'create table kept as select * from conversation');
    const lost = await kit.say('Is this lost?', asked);
    const job = await kit.claim('maintenance', conversation.id);
    // The standby did not have the last commits.
    await ask(url, 'delete from entry where seq > 1');
    const columns = ['next_seq', 'reply_due_seq', 'reply_due_from', 'reply_epoch', 'reply_until'];
    const all = [...columns, 'maintenance_epoch', 'maintenance_until', 'maintain_at', 'last_activity_at'].join(', ');
    await ask(url, `update conversation set (${all}) = (select ${all} from kept)`);
    await ask(server().url, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'behind'");
    const next = await kit.say('And this?', asked);
    expect(next.seq).toBe(lost.seq);
    expect(next.claim?.epoch).toBeGreaterThan(lost.claim?.epoch ?? Number.NaN);
    expect((await kit.claim('maintenance', conversation.id)).epoch).toBeGreaterThan(job.epoch);
    if (lost.claim !== null) expect(await kit.commitTurn(lost.claim)).toEqual({ kind: 'stale' });
    await storage.store.close();
  });

  it('shares the connections that the server has left', async () => {
    const { url, storage, kit } = await openAs('crowd', 'crowded');
    await kit.say('Hello?');
    await ask(server().url, 'alter role crowd connection limit 5');
    await ask(server().url, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'crowd'");
    const others = [await connected(url), await connected(url), await connected(url)];
    const rooms = Array.from({ length: 20 }, (_, n) =>
      makeKey({ platform: 'terminal', workspace: 'local', channel: `room${n}` }),
    );
    await Promise.all(rooms.map((conversation) => kit.say('Hello?', { conversation })));
    for (const other of others) await other.end();
    await storage.store.close();
  });

  it('is away while the database refuses connections', async () => {
    const { storage, kit } = await openAs('locked', 'closed');
    await kit.say('Hello?');
    await ask(server().url, 'alter database closed allow_connections false');
    await ask(server().url, "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'closed'");
    const error = await vi.waitFor(async () => {
      const found: unknown = await kit.say('Still there?').then(
        () => null,
        (failure: unknown) => failure,
      );
      expect(String(found)).toContain('not currently accepting connections');
      return found;
    });
    expect(isStoreAway(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining('alter database') });
    await ask(server().url, 'alter database closed allow_connections true');
    await kit.say('And now?');
    await storage.store.close();
  });

  it('is found wrong if its user may not write', async () => {
    const { url, storage } = await openAs('guest', 'granted');
    await ask(server().url, 'create role visitor login');
    const other = new URL(url);
    other.username = 'visitor';
    const rights = 'grant select, insert, update, delete on all tables in schema public to visitor';
    await ask(url, `${rights}; revoke update on memory from visitor`);
    const visiting = await createPostgresStorage({ url: other.href });
    const found = async () => (await visiting.upkeep.check()).find(({ checkId }) => checkId === 'rights');
    expect(await found()).toMatchObject({ severity: 'fail', fixHint: expect.stringContaining('grant select, insert') });
    await ask(url, rights);
    expect(await found()).toMatchObject({ severity: 'warn' });
    await visiting.store.close();
    await storage.store.close();
  });

  const FOREIGN = 'create table kysely_migration (name text, timestamp text)';
  const foreign = async (database: string, schema: string) => {
    const url = new URL(await server().database(database));
    await ask(url.href, `create schema if not exists ${schema}`);
    url.searchParams.set('options', `-csearch_path=${schema},public`);
    await ask(url.href, `${FOREIGN}; insert into kysely_migration values ('2024-shop', '')`);
    return url.href;
  };

  it('keeps out of a database that another program migrates', async () => {
    const url = await foreign('shop', 'public');
    const refused = { code: 'STORE_UNUSABLE', message: expect.stringMatching(/another program.*own schema/u) };
    await expect(createPostgresStorage({ url })).rejects.toMatchObject(refused);
    await expect(createPostgresStorage({ url, create: false })).rejects.toMatchObject(refused);
    expect(await ask(url, 'select name from kysely_migration')).toEqual([{ name: '2024-shop' }]);
  });

  it('keeps out of a database with tables of its names', async () => {
    const url = await server().database('diary');
    await ask(url, 'create table entry (id int)');
    const refused = { code: 'STORE_UNUSABLE', message: expect.stringMatching(/another program.*own schema/u) };
    await expect(createPostgresStorage({ url })).rejects.toMatchObject(refused);
    expect(await ask(url, "select tablename from pg_tables where schemaname = 'public'")).toHaveLength(1);
  });

  it('has its own schema beside that of another program', async () => {
    const url = await foreign('mall', 'public');
    await ask(url, 'create schema bot');
    const own = url.replace('search_path%3Dpublic', 'search_path%3Dbot');
    for (let start = 0; start < 2; start += 1) {
      const storage = await createPostgresStorage({ url: own });
      expect((await createKit(storage).say('hi', {}, { externalId: `x${start}` })).seq).toBe(start + 1);
      await storage.store.close();
    }
    expect(await ask(url, 'select name from kysely_migration')).toEqual([{ name: '2024-shop' }]);
  });

  it('waits a moment for a connection, then names the remedy', async () => {
    const { url, storage, kit } = await openAs('late', 'filled');
    await ask(server().url, 'alter role late connection limit 1');
    await ask(server().url, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'late'");
    const other = await vi.waitFor(() => connected(url), 30_000);
    const soon = kit.say('Hello?');
    soon.catch(() => undefined);
    await ask(server().url, 'select pg_sleep(0.5)');
    await other.end();
    await soon;
    await ask(server().url, 'alter role late connection limit 0');
    await ask(server().url, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'late'");
    const refused = {
      code: 'STORE_UNREACHABLE',
      message: expect.stringMatching(/no free connection .* Raise max_conn/u),
    };
    await expect(kit.say('Anyone?')).rejects.toMatchObject(refused);
    const start = performance.now();
    await expect(kit.say('Anyone?')).rejects.toMatchObject(refused);
    expect(performance.now() - start).toBeLessThan(2_000);
    await storage.store.close();
  }, 30_000);
});

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
