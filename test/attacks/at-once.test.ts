import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Author, Storage } from '../../src/adapter-kit.ts';
import { placeOf, workspaceOf } from '../../src/domain/key.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { memoryOf } from '../core/memory/memory.world.ts';
import { ADA, BOB, type BotWorld, createBotWorld, HERE } from '../support/bot-world.ts';

/**
 * Many commands at once. Each takes little time without a pause, but together they must not take a turn of the event loop
 * that others wait for.
 */

const MANY = 20;

async function worldOf(memories: number, storage = (given: Storage): Storage => given): Promise<BotWorld> {
  const world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'ok' }))], storage });
  await world.say('The tent is orange.', { asks: false, audience: 'public' });
  const here = { place: placeOf(HERE), workspace: workspaceOf(HERE), audience: 'public', subjectId: ADA.id } as const;
  const writes = Array.from({ length: memories }, (_, index) => {
    return { kind: 'insert', memory: memoryOf(`Ada owns tent ${index}`, here), sources: [] } as const;
  });
  await world.bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: 1 });
  return world;
}

/** How many turns of the event loop pass while the work runs. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await nextTurn();
  await end;
  return turns;
}

it('every command begins in a turn of its own', async () => {
  await using world = await worldOf(0);
  const commands = Array.from({ length: MANY }, () => world.command('help'));
  expect(await turnsOf(Promise.all(commands))).toBeGreaterThanOrEqual(MANY);
});

it('nobody waits for all the requests of somebody else', async () => {
  await using world = await worldOf(10);
  const { memories } = world.bot.commandServices;
  const { store } = world.bot.services;
  const place = placeOf(HERE);
  const reader = {
    agentId: 'main',
    place,
    workspace: workspaceOf(HERE),
    audience: 'public',
    sharePublic: false,
  } as const;
  const ended: string[] = [];
  const ask = async (author: Author) => {
    const by = { reader, author, rights: 'member' } as const;
    await memories.previewForget({ kind: 'person', personId: author.id }, by);
    ended.push(author.id);
  };
  const writes = Array.from({ length: 40 }, (_, index) => {
    const memory = memoryOf(`Bob owns boat ${index}`, { ...reader, subjectId: BOB.id, subjectName: BOB.name });
    return { kind: 'insert', memory, sources: [] } as const;
  });
  await store.memories.save({ conversationId: null, writes, actor: 'test', now: 1 });
  await Promise.all([...Array.from({ length: MANY }, () => ask(ADA)), ask(BOB)]);
  expect(ended.indexOf(BOB.id)).toBeLessThan(MANY / 2);
});

it('requests to forget go on one after the other', async () => {
  const memories = 10;
  await using world = await worldOf(memories);
  const asking = Array.from({ length: MANY }, () => world.command('memory forget', { id: 'me' }));
  // A request pauses after each memory, twice.
  expect(await turnsOf(Promise.all(asking))).toBeGreaterThanOrEqual(MANY * memories * 2);
});

it('a copy of the data stays as long as before', async () => {
  await using world = await worldOf(10);
  const lengthOf = async () => (await world.command('memory export')).file?.text.length ?? 0;
  await lengthOf();
  const first = await lengthOf();
  for (let copy = 0; copy < 20; copy += 1) await lengthOf();
  expect(await lengthOf()).toBe(first);
});

it('copies of one person are made one after the other', async () => {
  let open = 0;
  let most = 0;
  const kept = 10;
  await using world = await worldOf(kept, ({ store, ...storage }) => ({
    ...storage,
    store: {
      ...store,
      memories: {
        ...store.memories,
        async events(id) {
          open += 1;
          most = Math.max(most, open);
          const found = await store.memories.events(id);
          await nextTurn();
          open -= 1;
          return found;
        },
      },
    },
  }));
  await Promise.all(Array.from({ length: MANY }, () => world.command('memory export')));
  // One copy reads the events of its memories together.
  expect(most).toBe(kept);
});
