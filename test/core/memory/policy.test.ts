import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AUDIENCES, type Audience, isStrataError, type MemoryReader } from '../../../src/adapter-kit.ts';
import { assertReadable, canRead, readerFor } from '../../../src/memory/rights/policy.ts';
import { dm, general, memoryOf, openWorld } from './memory.world.ts';

const reader = (over: Partial<MemoryReader> = {}): MemoryReader => ({
  agentId: 'main',
  place: 'test:w:general',
  workspace: 'test:w',
  audience: 'public',
  sharePublic: false,
  ...over,
});

describe('canRead', () => {
  const publicOne = memoryOf('x', { place: 'test:w:general', audience: 'public' });
  const rows: readonly [string, boolean, ReturnType<typeof memoryOf>, MemoryReader][] = [
    ['a DM in itself', true, memoryOf('x'), reader({ place: 'test:w:dm-ada', audience: 'dm' })],
    ['a DM in a channel', false, memoryOf('x'), reader()],
    ['a DM in another DM', false, memoryOf('x'), reader({ place: 'test:w:dm-bob', audience: 'dm' })],
    ['a DM in a channel that shares', false, memoryOf('x'), reader({ sharePublic: true })],
    [
      'a private channel in itself',
      true,
      memoryOf('x', { place: 'test:w:p', audience: 'private' }),
      reader({ place: 'test:w:p', audience: 'private' }),
    ],
    [
      'a private channel after it was opened to all',
      false,
      memoryOf('x', { place: 'test:w:p', audience: 'private' }),
      reader({ place: 'test:w:p' }),
    ],
    [
      'a private channel in a public one that shares',
      false,
      memoryOf('x', { place: 'test:w:p', audience: 'private' }),
      reader({ sharePublic: true }),
    ],
    ['a public channel in itself', true, publicOne, reader()],
    ['a public channel after it was closed', true, publicOne, reader({ audience: 'private' })],
    ['a public channel in another one', false, publicOne, reader({ place: 'test:w:other' })],
    [
      'a public channel in another one that shares',
      true,
      publicOne,
      reader({ place: 'test:w:other', sharePublic: true }),
    ],
    [
      'a public channel in a private one that shares',
      false,
      publicOne,
      reader({ place: 'test:w:p', audience: 'private', sharePublic: true }),
    ],
    [
      'a public channel in another workspace that shares',
      false,
      publicOne,
      reader({ place: 'test:v:other', workspace: 'test:v', sharePublic: true }),
    ],
    [
      'a public channel by another agent that shares',
      false,
      publicOne,
      reader({ place: 'test:w:other', agentId: 'second', sharePublic: true }),
    ],
    [
      'a global one anywhere',
      true,
      memoryOf('x', { scope: 'global', place: '', workspace: '', audience: 'public' }),
      reader({ place: 'test:v:z', workspace: 'test:v', audience: 'dm', agentId: 'second' }),
    ],
  ];
  it.each(rows)('reads %s: %s', (_name, expected, memory, from) => {
    expect(canRead(memory, from)).toBe(expected);
  });

  it('refuses with a typed error, not with nothing', () => {
    const attempt = () => assertReadable(memoryOf('x'), reader());
    expect(attempt).toThrowError(/cannot be read here/);
    try {
      attempt();
    } catch (error) {
      expect(isStrataError(error, 'ACCESS_DENIED')).toBe(true);
    }
  });

  it('reads a thread as its channel', async () => {
    await using world = await openWorld();
    const thread = readerFor({ key: `${general}:t1` as typeof general, audience: 'public' }, world.agent);
    expect(canRead(memoryOf('x', { place: general, audience: 'public' }), thread)).toBe(true);
  });
});

describe('the rule in the store', () => {
  const audience = fc.constantFrom<Audience>(...AUDIENCES);
  const place = fc.constantFrom('a', 'b');
  const workspace = fc.constantFrom('v', 'w');
  const agentId = fc.constantFrom('main', 'second');
  const memory = fc.record({ audience, place, workspace, agentId, isGlobal: fc.nat(9).map((n) => n === 0) });
  // A place has one audience at a time; a memory captured with another audience belongs to another place.
  const from = fc.record({ audience, captured: audience, place, workspace, agentId, sharePublic: fc.boolean() });

  // Shows: C1, I9
  it('lists and finds exactly what canRead allows', async () => {
    await using world = await openWorld();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(memory, { minLength: 1, maxLength: 12 }),
        fc.array(from, { minLength: 1, maxLength: 4 }),
        async (captured, readers) => {
          run += 1;
          const memories = captured.map((one, index) =>
            memoryOf(`canary number ${run} ${index}`, {
              agentId: one.agentId,
              scope: one.isGlobal ? 'global' : 'place',
              place: one.isGlobal ? '' : `r${run}:${one.workspace}:${one.place}-${one.audience}`,
              workspace: one.isGlobal ? '' : `r${run}:${one.workspace}`,
              audience: one.isGlobal ? 'public' : one.audience,
            }),
          );
          const writes = memories.map((one) => ({ kind: 'insert', memory: one, sources: [] }) as const);
          await world.store.memories.save({ conversationId: null, writes, actor: 'test', now: 1 });
          for (const one of readers) {
            const asking = {
              ...one,
              place: `r${run}:${one.workspace}:${one.place}-${one.captured}`,
              workspace: `r${run}:${one.workspace}`,
            };
            const allowed = memories.filter((other) => canRead(other, asking)).map((other) => other.id);
            const ids = memories.map((other) => other.id);
            const listed = await world.store.memories.list({ reader: asking, ids, limit: 100, offset: 0 });
            expect(listed.map((other) => other.id).sort()).toEqual(allowed.toSorted());
            const hits = await world.search.memories({ reader: asking, text: `canary number ${run}`, limit: 500 });
            expect(
              hits
                .map((hit) => hit.id)
                .filter((id) => ids.includes(id))
                .sort(),
            ).toEqual(allowed.toSorted());
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps what a DM captured out of other places', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    await world.plant('the canary sings in the DM');
    expect(await world.memories.search({ reader: world.reader(general), text: 'canary', limit: 5 })).toEqual([]);
    expect(await world.memories.search({ reader: world.reader(dm), text: 'canary', limit: 5 })).toHaveLength(1);
  });
});
