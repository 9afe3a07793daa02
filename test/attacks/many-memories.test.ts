import { expect, it } from 'vitest';
import { placeOf, workspaceOf } from '../../src/domain/key.ts';
import type { MemoryId } from '../../src/domain/message.ts';
import { memoriesView } from '../../src/inspection/memory-list.ts';
import { ADA, cells, openWorld } from '../core/commands/commands.world.ts';
import { memoryOf } from '../core/memory/memory.world.ts';

// Shows: I14
it('people find what is about them among many memories', async () => {
  await using world = await openWorld({ audience: 'public' });
  const { place, bot } = world;
  const here = { place: placeOf(place), workspace: workspaceOf(place), audience: 'public' } as const;
  const eves = Array.from({ length: 1001 }, (_, index) =>
    memoryOf(`Eve owns boat ${index}`, { ...here, subjectId: 'u-eve', subjectName: 'Eve', pinned: true }),
  );
  const id = 'zbees' as MemoryId;
  const own = memoryOf('Ada keeps bees', { ...here, id, subjectId: ADA.id, subjectName: ADA.name });
  const writes = [...eves, own].map((memory) => ({ kind: 'insert', memory, sources: [] }) as const);
  await bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: 1 });
  for (const line of ['/memory list about=me', '/memory list about=Ada']) {
    expect(cells(await world.type(line)).map((row) => row[2])).toEqual(['Ada keeps bees']);
  }
  expect(await world.type('/memory show zb')).toMatchObject({ title: `Memory ${id}`, text: 'Ada keeps bees' });
  expect((await world.type('/memory list')).text).toContain('1,000 memories here, the most important first. There are');
  expect((await world.type('/memory list about=Bo')).text).toContain('There are no memories about Bo here.');
  const filter = { text: '', kind: null, state: null, audience: null, personId: ADA.id, maxAgeDays: null };
  const viewer = { name: 'Olga', role: 'operator' } as const;
  expect(await memoriesView(bot.commandServices, { viewer, key: null, filter })).toMatchObject({ memories: [{ id }] });
});
