import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { openPostgres } from '../../../adapters/stores/postgres/open.ts';
import { createBot, silentLog } from '../../../src/index.ts';
import { createKit, HERE, textParts } from '../../contracts/store-kit.ts';
import { openFreezer } from '../../support/freezer.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';

const programs = await findPostgres();

if (programs.kind === 'missing') it.skip(`skipped: ${programs.reason}`);
else {
  it('a bot reports a silent Postgres and goes on afterwards', async () => {
    await using server = await startPostgres(programs);
    await using relay = await openFreezer(server.url);
    const limits = { suspectMs: 500, patienceMs: 300, pauseMs: 50 };
    const storage = await openPostgres({ url: relay.url, create: true, limits });
    const models = createAiSdkModels({ environment: {} });
    const bot = createBot({ storage, models, queue: createLocalQueue(), log: silentLog });
    const reported = new Promise<string>((resolve) => {
      bot.events.on((event) => event.kind === 'error.internal' && resolve(event.message));
    });
    await bot.start();
    const kit = createKit(storage);
    await kit.say('Hello?');
    relay.freeze();
    const asked = Array.from({ length: 20 }, (_, index) => kit.say('Still there?', {}, { externalId: `x${index}` }));
    const ends = await Promise.allSettled(asked);
    expect(ends.map(({ status }) => status)).not.toContain('fulfilled');
    expect(ends).toMatchObject(ends.map(() => ({ reason: { code: 'STORE_UNREACHABLE' } })));
    expect(await reported).toMatch(/cannot be reached: .*reconnects automatically/);
    relay.thaw();
    await vi.waitFor(() => kit.say('Welcome back.'), { timeout: 20_000 });
    const { id, nextSeq } = await kit.get(1);
    const said = await storage.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 99 });
    expect(said.map(({ parts }) => parts)).toEqual([textParts('Hello?'), textParts('Welcome back.')]);
    await bot.stop({ deadlineMs: 100 });
  }, 50_000);

  it('does not drop connections of a slow statement', async () => {
    await using server = await startPostgres(programs);
    const limits = { suspectMs: 500, patienceMs: 500, pauseMs: 10 };
    const { store } = await openPostgres({ url: server.url, create: true, limits });
    const { conversation } = await createKit({ store } as Parameters<typeof createKit>[0]).say('Hello?');
    await using blocker = await openLock(server.url);
    const changed = store.conversations.change(conversation.id, { kind: 'maintain', at: 5 });
    await blocker.query('select pg_sleep(1.5)');
    await blocker.query('commit');
    await changed;
    expect((await store.conversations.get(conversation.id))?.maintainAt).toBe(5);
    await store.close();
  });

  it('a bot stops while Postgres does not respond', async () => {
    await using server = await startPostgres(programs);
    await using relay = await openFreezer(server.url);
    const storage = await createPostgresStorage({ url: relay.url });
    const models = createAiSdkModels({ environment: {} });
    const bot = createBot({ storage, models, queue: createLocalQueue(), log: silentLog });
    await bot.start();
    relay.freeze();
    const asked = [createKit(storage).say('Hello?'), storage.store.conversations.find(HERE)];
    const answers = Promise.allSettled(asked);
    await bot.stop({ deadlineMs: 100 });
    const unreachable = { status: 'rejected', reason: { code: 'STORE_UNREACHABLE' } };
    expect(await answers).toMatchObject([unreachable, unreachable]);
  }, 60_000);
}

/** A transaction that keeps the row of every conversation locked. */
async function openLock(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query('select id from conversation for update');
  return {
    query: (sql: string) => client.query(sql),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
