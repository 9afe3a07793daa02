import { expect, it } from 'vitest';
import { createAiSdkModels } from '../../adapters/models/ai-sdk/index.ts';
import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { createBot, silentLog } from '../../src/index.ts';
import { createKit, HERE } from '../contracts/store-kit.ts';
import { openFreezer } from '../support/freezer.ts';
import { findPostgres, startPostgres } from '../support/postgres-server.ts';

const programs = await findPostgres();

if (programs.kind === 'missing') it.skip(`skipped: ${programs.reason}`);
else {
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
