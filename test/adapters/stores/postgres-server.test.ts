import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { type BlobId, type ConversationKey, parseKey, type Storage } from '../../../src/adapter-kit.ts';
import { erasureContract } from '../../contracts/erasure.ts';
import { createKit, HERE, NOW, READER, THERE, THREAD } from '../../contracts/store-kit.ts';
import { upgradeContract } from '../../contracts/upgrade.ts';
import { upgradeKillContract } from '../../contracts/upgrade-kill.ts';
import { ask, createSchema, type TestSchema } from '../../support/postgres-schema.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { RELATIVE_IMPORTS } from '../../support/relative-imports.ts';
import { SIZED, sized } from '../../support/size.ts';

const DATABASE_URL = process.env['DATABASE_URL'];
const programs = await findPostgres();

describe('on a Postgres server', () => {
  if (DATABASE_URL === undefined && programs.kind === 'missing') return it.skip(`skipped: ${programs.reason}`);
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    if (DATABASE_URL === undefined && programs.kind === 'found') server = await startPostgres(programs);
  }, 120_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  const database = () => DATABASE_URL ?? server?.url ?? '';

  describe('many processes', () => {
    let schema: TestSchema;
    const children: ChildProcess[] = [];
    const opened: Storage[] = [];
    beforeEach(async () => {
      schema = await createSchema(database());
    });
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
      for (const { store } of opened.splice(0)) await store.close();
      await schema.dispose();
    });
    const start = (work: string, name = '0') => {
      const child = spawn(process.execPath, [
        ...RELATIVE_IMPORTS,
        join(import.meta.dirname, 'postgres.process.ts'),
        schema.url,
        work,
        name,
      ]);
      children.push(child);
      return child;
    };
    const open = async () => {
      const storage = await createPostgresStorage({ url: schema.url });
      opened.push(storage);
      return storage;
    };

    upgradeContract(['truncate entry_index, summary_index, memory_index'], () => ({
      open,
      async run(statements) {
        for (const statement of statements) await schema.ask(statement);
      },
    }));

    upgradeKillContract(['truncate entry_index, summary_index, memory_index'], () => ({
      open,
      async run(statements) {
        for (const statement of statements) await schema.ask(statement);
      },
      start: () => start('hold'),
    }));

    erasureContract(() => ({ open, startErasing: () => start('erase') }));

    // Shows: W24
    it('makes the tables once when several start at once', { ...SIZED, timeout: 360_000 }, async () => {
      const children = Array.from({ length: sized({ small: 2, full: 4 }) }, () => start('open'));
      const ends = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
      expect(ends).toEqual(children.map(() => 0));
      const done = (await schema.ask('select name from kysely_migration')).map((row) => row['name']);
      expect(done.toSorted()).toEqual([...new Set(done)].toSorted());
      expect(done).toContain('0001_core');
    });

    // Shows: W18
    it('numbers what two append without gaps, each message once', async () => {
      const kits = (await Promise.all([open(), open()])).map(createKit);
      const sent = Array.from({ length: 200 }, (_, n) => `x${n}`);
      const results = await Promise.all(
        sent.flatMap((externalId) => kits.map((kit) => kit.append({ message: { externalId } }))),
      );
      const seqs = results.flatMap((result) => (result.kind === 'stored' ? [result.seq] : []));
      expect(seqs.toSorted((a, b) => a - b)).toEqual(sent.map((_, index) => index + 1));
      expect(results.filter((result) => result.kind === 'duplicate')).toHaveLength(200);
    });

    it('lets one of two answer', async () => {
      const [one, other] = await Promise.all([open(), open()]);
      const { conversation } = await createKit(one).say('asked', { wantsReply: true });
      const kits = [createKit(one), createKit(other)];
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, n) => kits[n % 2]?.tryClaim('reply', conversation.id)),
      );
      expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    });

    it('keeps a statement once that two conversations bring together', async () => {
      const kits = (await Promise.all([open(), open()])).map(createKit);
      const ids = await Promise.all(
        [HERE, THREAD].map(async (conversation, n) => (await kits[n]?.say('hi', { conversation }))?.conversation.id),
      );
      for (let n = 0; n < 20; n++) {
        await Promise.all(
          kits.map((kit, index) =>
            kit.save(ids[index] ?? 0, kit.inserting(`fact ${n}`, [1], { id: kit.next(`k${index}`) as never })),
          ),
        );
      }
      expect(await kits[0]?.recallable()).toHaveLength(20);
    });

    it('locks conversations in one order when it forgets', async () => {
      const storage = await open();
      const kit = createKit(storage);
      const { conversation: first } = await kit.say('hi');
      const { conversation: second } = await kit.say('hi', { conversation: THREAD });
      const redactions = [{ conversationId: second.id, seqs: [1], summaryIds: [] }];
      // As a turn of the first conversation that quotes the second.
      const turn = new Client({ connectionString: schema.url });
      await turn.connect();
      try {
        const lock = 'select id from conversation where id = $1 for update nowait';
        await turn.query('begin');
        const { rows } = await turn.query<{ pid: number }>('select pg_backend_pid() as pid');
        await turn.query(lock, [first.id]);
        const tombstones = [{ place: first.key as string, fingerprint: 'f' }];
        const plan = { memoryIds: [], tombstones, redactions, sentences: [], actor: 'u', now: NOW };
        const forgotten = storage.store.memories.forget(plan);
        const waiting = `select pid from pg_stat_activity where ${rows[0]?.pid} = any(pg_blocking_pids(pid))`;
        await expect.poll(async () => (await schema.ask(waiting)).length, { timeout: 5000 }).toBe(1);
        expect((await turn.query(lock, [second.id])).rowCount).toBe(1);
        await turn.query('commit');
        await forgotten;
      } finally {
        await turn.end();
      }
    });

    it('keeps a part that another conversation needs meanwhile', async () => {
      const storage = await open();
      const kit = createKit(storage);
      const claimOf = async (conversation: ConversationKey) => {
        const { id } = (await kit.say('hi', { conversation, wantsReply: true })).conversation;
        return await kit.claim('reply', id);
      };
      const record = { note: '{}', parts: [{ hash: 'shared', text: 'You are a bot.' }] };
      const [first, second] = [await claimOf(HERE), await claimOf(THREAD)];
      const { conversation: elsewhere } = await kit.say('hi', { conversation: THERE });
      await kit.commitTurn(first, { record });
      // Holds the second turn after it has stored its parts.
      const holder = new Client({ connectionString: schema.url });
      await holder.connect();
      try {
        const blob = { id: 'held' as BlobId, text: 'long' };
        await holder.query('begin');
        const hold = 'insert into blob (id, conversation_id, text, created_at) values ($1, $2, $3, 1)';
        await holder.query(hold, [blob.id, elsewhere.id, blob.text]);
        const waiting = 'select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0';
        const wait = (count: number) =>
          expect.poll(async () => (await schema.ask(waiting)).length, { timeout: 5000 }).toBe(count);
        const committed = kit.commitTurn(second, { record, blobs: [blob] });
        await wait(1);
        const purged = storage.store.conversations.change(first.conversationId, { kind: 'purge' });
        await Promise.race([purged, wait(2)]);
        await holder.query('rollback');
        await purged;
        expect((await committed).kind).toBe('committed');
      } finally {
        await holder.end();
      }
      expect(await storage.store.journal.requests.parts(['shared'])).toEqual(new Map([['shared', 'You are a bot.']]));
    });

    it('lets nothing that is being forgotten come back', async () => {
      const [one, other] = await Promise.all([open(), open()]);
      const [kit, late] = [createKit(one), createKit(other)];
      const { conversation } = await kit.say('hi');
      for (let n = 0; n < 20; n++) {
        const memory = kit.memory(`secret ${n}`);
        const tombstones = [{ place: HERE as string, fingerprint: memory.fingerprint }];
        await Promise.all([
          late.save(conversation.id, { kind: 'insert', memory, sources: [1] }).then(async () => {
            const found = await one.store.memories.find(memory.id);
            if (found === null) return;
            await one.store.memories.forget({
              memoryIds: [memory.id],
              tombstones: [],
              redactions: [],
              sentences: [],
              actor: 'u',
              now: NOW,
            });
          }),
          one.store.memories.forget({
            memoryIds: [memory.id],
            tombstones,
            redactions: [],
            sentences: [],
            actor: 'u',
            now: NOW,
          }),
        ]);
      }
      expect(await other.store.memories.list({ reader: READER, limit: 100, offset: 0 })).toEqual([]);
    });

    // Shows: W19
    it('keeps every acknowledged message once and numbered through kills', { ...SIZED, timeout: 360_000 }, async () => {
      await open();
      const acknowledged: string[] = [];
      for (let round = 0; round < sized({ small: 1, full: 2 }); round++) {
        const writers = [start('write', `a${round}`), start('write', `b${round}`)];
        await Promise.all(
          writers.map(async (child) => {
            let lines = 0;
            for await (const line of createInterface(child.stdout ?? process.stdin)) {
              if (line !== 'ready') acknowledged.push(line);
              if (++lines === 300 + round * 37) child.kill('SIGKILL');
            }
          }),
        );
      }
      await check(await open(), acknowledged);
    });

    it('continues after its connections break', async () => {
      const storage = await open();
      const kit = createKit(storage);
      await kit.fill(20);
      const cut =
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'strata' and state = 'idle'";
      await schema.ask(cut);
      await Promise.all(Array.from({ length: 20 }, (_, n) => kit.say(`after ${n}`)));
      expect((await storage.store.conversations.find(HERE))?.nextSeq).toBe(41);
    });
  });

  describe('a server that stops', () => {
    // Shows: W20
    it.skipIf(DATABASE_URL !== undefined)(
      'refuses while it is down, recovers, and loses nothing',
      async () => {
        if (programs.kind !== 'found') throw new Error('there is no server');
        await using stopped = await startPostgres(programs);
        const storage = await createPostgresStorage({ url: stopped.url });
        const kit = createKit(storage);
        const acknowledged: string[] = [];
        const refusals = new Map<string, number>();
        let isOver = false;
        const writers = Array.from({ length: 8 }, async (_, writer) => {
          for (let n = 0; !isOver; n++) {
            const externalId = `${writer}-${n}`;
            try {
              await kit.say('hello', {}, { externalId });
              acknowledged.push(`${HERE} ${externalId}`);
            } catch (error) {
              const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
              refusals.set(code, (refusals.get(code) ?? 0) + 1);
              await sleep(5);
            }
          }
        });
        const acknowledges = async (count: number) => {
          while (acknowledged.length < count) await sleep(5);
        };
        await acknowledges(50);
        const before = acknowledged.length;
        await stopped.kill();
        await sleep(300);
        await stopped.start();
        await acknowledges(before + 50);
        isOver = true;
        await Promise.all(writers);
        expect([...refusals.keys()]).toEqual(['STORE_UNREACHABLE']);
        await check(storage, acknowledged);
        await storage.store.close();
      },
      120_000,
    );

    it('says in one sentence that it is gone', async () => {
      const url = 'postgres://ada:secret-word@127.0.0.1:9/strata';
      const error = await refusal(url);
      expect(error).toMatchObject({ code: 'STORE_UNREACHABLE' });
      expect(String(error)).toMatch(/postgres:\/\/ada@127\.0\.0\.1:9\/strata cannot be reached: .*ECONNREFUSED/);
      expect(String(error)).toMatch(/Start the server, or correct STRATA_STORAGE_URL, or url in \[storage\]\.$/);
      expect(String(error)).not.toContain('secret-word');
    });
  });

  describe('what cannot be used', () => {
    const named = (name: string) => Object.assign(new URL(database()), { pathname: `/${name}` }).href;

    it('is a database that does not exist', async () => {
      const error = await refusal(named('nowhere'));
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE' });
      expect(String(error)).toContain('the database does not exist');
    });

    it.skipIf(DATABASE_URL !== undefined)('is one that cannot hold every script', async () => {
      await ask(database(), "create database latin encoding 'LATIN1' locale 'C' template template0");
      const error = await refusal(named('latin'));
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE' });
      expect(String(error)).toContain('its encoding is LATIN1');
    });

    it.skipIf(DATABASE_URL !== undefined)('is one in which the user may not make tables', async () => {
      await ask(database(), 'create role guest login');
      await ask(database(), 'create database guarded');
      await ask(named('guarded'), 'revoke create on schema public from public');
      const url = new URL(named('guarded'));
      url.username = 'guest';
      const error = await refusal(url.href);
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE' });
      expect(String(error)).toContain('the user lacks a permission');
      expect(String(error)).toContain('Make the user the owner of the database');
    });

    it.skipIf(DATABASE_URL !== undefined)('is judged by the limits and state of its database', async () => {
      await ask(database(), 'create role visitor login');
      await ask(database(), 'create database small connection limit 12 owner visitor');
      const url = new URL(named('small'));
      url.username = 'visitor';
      await (await createPostgresStorage({ url: url.href })).store.close();
      await ask(database(), 'alter database small set default_transaction_read_only = on');
      const storage = await createPostgresStorage({ url: url.href });
      expect((await storage.upkeep.check()).filter(({ severity }) => severity !== 'ok')).toMatchObject([
        { checkId: 'writes', severity: 'fail', fixHint: expect.stringContaining('primary server') },
        ...[
          { checkId: 'durability' },
          {
            checkId: 'connections',
            message: expect.stringMatching(/^12 connections are enough for 1 process without a queue/),
          },
        ],
      ]);
      await storage.store.close();
    });

    it('was written by a newer program', async () => {
      const schema = await createSchema(database());
      await (await createPostgresStorage({ url: schema.url })).store.close();
      await schema.ask("insert into kysely_migration (name, timestamp) values ('9999_future', '2030')");
      const error = await refusal(schema.url);
      expect(error).toMatchObject({ code: 'STORE_NEWER' });
      expect(String(error)).toContain('9999_future');
      await schema.dispose();
    });
  });
});

async function refusal(url: string): Promise<unknown> {
  const error = await createPostgresStorage({ url }).then(
    async ({ store }) => store.close(),
    (failure: unknown) => failure,
  );
  expect(String(error).split('\n')).toHaveLength(1);
  return error;
}

/** Each room has its messages in a row, each once, and all that were acknowledged. */
async function check({ store }: Storage, acknowledged: readonly string[]): Promise<void> {
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const room of new Set(acknowledged.map((line) => line.split(' ')[0] ?? ''))) {
    const conversation = await store.conversations.find(parseKey(room).key);
    if (conversation === null) throw new Error(`${room} is lost`);
    const { id, nextSeq } = conversation;
    const entries = await store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1e6 });
    expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: nextSeq - 1 }, (_, index) => index + 1));
    const stored = entries.map((entry) => `${room} ${entry.externalId}`);
    expect(new Set(stored).size).toBe(stored.length);
    expect(acknowledged.filter((line) => line.startsWith(`${room} `) && !stored.includes(line))).toEqual([]);
  }
}
