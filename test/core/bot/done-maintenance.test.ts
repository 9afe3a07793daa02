import { describe, expect, it } from 'vitest';
import { assembleView, type ContextEngine, defineEngine } from '../../../src/adapter-kit.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { type BotWorld, type BotWorldOptions, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

const assemble: ContextEngine['assemble'] = async (request) => assembleView(request, { tail: request.snapshot.tail });
const without = defineEngine({ id: 'without', assemble });
const own = defineEngine({ id: 'own', assemble, maintain: async () => ({ changed: true, reason: 'it is tidy' }) });

async function talking(engine: string, storage?: BotWorldOptions['storage']) {
  const world = await createBotWorld({
    models: [scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' })],
    agent: { engine },
    engines: { without, own },
    ...(storage === undefined ? {} : { storage }),
  });
  await world.say('Hello?');
  await world.settled();
  return world;
}

describe.each(['sliding', 'without', 'own'])('a conversation with the engine %s', (engine) => {
  it('is due once after a pause', async () => {
    await using world = await talking(engine);
    expect((await world.conversation()).maintainAt).not.toBeNull();
    await world.clock.advance(HOUR_MS);
    await until(async () => (await world.conversation()).maintainAt === null);
    expect(await world.conversation()).toMatchObject({ maintenanceUntil: null, failures: 0 });
    await world.say('And again?');
    await world.settled();
    expect((await world.conversation()).maintainAt).not.toBeNull();
  });

  it('is due again for a message that arrives meanwhile', async () => {
    let claims = 0;
    await using world: BotWorld = await talking(engine, ({ store, ...rest }) => {
      const { conversations } = store;
      const claim: typeof conversations.claim = async (request) => {
        const won = await conversations.claim(request);
        if (request.work === 'maintenance') claims += 1;
        if (claims === 1) await world.say('One more.', { asks: false });
        return won;
      };
      return { ...rest, store: { ...store, conversations: { ...conversations, claim } } };
    });
    await world.clock.advance(HOUR_MS);
    await expect.poll(() => world.clock.advance(1000).then(() => claims)).toBeGreaterThan(1);
    await until(async () => (await world.conversation()).maintainAt === null);
  });
});
