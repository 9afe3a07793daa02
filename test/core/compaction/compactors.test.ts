import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ContextEngine, Entry, EventKind, Storage, Tier } from '../../../src/adapter-kit.ts';
import { createCompactor } from '../../../src/compaction/watch/compactor.ts';
import { createCompactors } from '../../../src/compaction/watch/compactors.ts';
import { createStackedEngine } from '../../../src/context/engines/stacked.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { createWorld, filler, scriptedModel, settle, until, type World } from './compaction.world.ts';

/** The compactors of a bot on a real store and queue; kicks are counted. */
async function watched(overrides: Partial<ContextEngine> = {}) {
  const world = await createWorld();
  const looks: number[] = [];
  const { queue } = world.services;
  const count = async (id: number) => void looks.push(id);
  queue.process(count, { concurrency: 1, signal: new AbortController().signal });
  const engine: ContextEngine = {
    ...createStackedEngine({ services: world.services, maintenance: world.maintenance }),
    ...overrides,
  };
  const { services, profiles } = world;
  const compactors = createCompactors({ services, profiles, engineFor: () => engine });
  const rest = async () => {
    await settle();
    await queue.idle();
    await settle();
  };
  return { world, compactors, looks, rest, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

async function newest(world: World): Promise<Entry> {
  const entry = (await world.snapshot()).tail.at(-1);
  if (entry === undefined) throw new Error('Nothing was said.');
  return entry;
}

/** Unanswered messages, each passed to the compactors as an actor would. */
async function overhear({ world, compactors, rest }: Awaited<ReturnType<typeof watched>>, messages: number) {
  for (let index = 0; index < messages; index += 1) {
    await world.say(filler(60, index));
    compactors.stored(await world.snapshot(), await newest(world));
    await rest();
  }
}

/** A store that takes long to keep when maintenance is due. */
function slowToRemember(storage: Storage): Storage {
  const { conversations } = storage.store;
  const change: typeof conversations.change = async (id, given) => {
    if (given.kind === 'maintain') await sleep(200);
    return await conversations.change(id, given);
  };
  return { ...storage, store: { ...storage.store, conversations: { ...conversations, change } } };
}

describe('the compactors', () => {
  // Shows: S1
  it('watch an unanswered channel and ask once when full', async () => {
    await using subject = await watched();
    await overhear(subject, 6);
    expect(subject.looks).toEqual([]);
    expect(subject.world.events).toEqual([]);
    await overhear(subject, 30);
    const { id, maintainAt } = await subject.world.conversation();
    expect(subject.looks).toEqual([id]);
    expect(maintainAt).toBeLessThanOrEqual(subject.world.clock.now());
    const tiers = subject.world.of('context.tier').map(({ tier }) => tier);
    expect(tiers).toEqual(['background', 'aggressive', 'emergency'].slice(0, tiers.length));
    expect(tiers.length).toBeGreaterThan(0);
  });

  // Shows: O28
  it('ask again after a job for what came during it', async () => {
    await using subject = await watched();
    await overhear(subject, 36);
    const { id } = await subject.world.conversation();
    subject.compactors.ended(id);
    await subject.rest();
    expect(subject.looks).toEqual([id, id]);
    subject.compactors.ended(id);
    await subject.rest();
    expect(subject.looks).toEqual([id, id]);
  });

  it('take a message once', async () => {
    await using subject = await watched();
    await overhear(subject, 36);
    const { id } = await subject.world.conversation();
    subject.compactors.ended(id);
    await subject.rest();
    subject.compactors.ended(id);
    await subject.rest();
    const before = subject.looks.length;
    for (let times = 0; times < 3; times += 1) {
      subject.compactors.stored(await subject.world.snapshot(), await newest(subject.world));
      await subject.rest();
    }
    expect(subject.looks).toHaveLength(before);
  });

  // Shows: S2
  it('hear of turns by verdict and measure only when due', async () => {
    let asked = 0;
    await using subject = await watched();
    const { world, compactors, rest, looks } = subject;
    await world.exchange('Hello.', 'Hello.');
    const profiles = {
      of: async () => {
        asked += 1;
        return await world.profiles.of(await world.conversation());
      },
    };
    const engineFor = () => createStackedEngine({ services: world.services, maintenance: world.maintenance });
    const counting = createCompactors({ services: world.services, profiles, engineFor });
    counting.answered(await world.snapshot(), { tier: 'none', due: false }, []);
    await rest();
    // Only to find the engine that takes in the turn.
    expect(asked).toBe(1);
    compactors.answered(await world.snapshot(), { tier: 'background', due: true }, []);
    await until(() => looks.length === 1);
    expect(world.of('context.tier')).toMatchObject([{ tier: 'background', window: 2000 }]);
  });

  it('tell when the view has room again, and then rest', async () => {
    await using subject = await watched();
    const { world, looks, rest } = subject;
    await world.exchange('Hello.', 'Hello.');
    let profilesRead = 0;
    const of: typeof world.profiles.of = async (place) => {
      profilesRead += 1;
      return await world.profiles.of(place);
    };
    const engineFor = () => createStackedEngine({ services: world.services, maintenance: world.maintenance });
    const compactors = createCompactors({ services: world.services, profiles: { of }, engineFor });
    const answered = async (tier: Tier, due: boolean) => {
      compactors.answered(await world.snapshot(), { tier, due }, []);
      await rest();
    };
    await answered('background', true);
    const [id] = looks;
    compactors.ended(id ?? 0);
    await answered('none', false);
    expect(world.of('context.tier').map(({ tier }) => tier)).toEqual(['background', 'none']);
    const readsOfTurn = async () => {
      const before = profilesRead;
      await answered('none', false);
      return profilesRead - before;
    };
    // Only to find the engine that takes in the turn.
    expect(await readsOfTurn()).toBe(1);
    await answered('none', true);
    compactors.ended(id ?? 0);
    expect(await readsOfTurn()).toBe(1);
  });

  it('report errors without delaying anything', async () => {
    await using subject = await watched({ ingest: () => Promise.reject(new Error('the engine is ill')) });
    await overhear(subject, 1);
    expect(subject.world.of('error.internal')).toMatchObject([{ message: 'the engine is ill' }]);
  });

  it('have requested what is due when a bot has settled', async () => {
    const model = scriptedModel(() => ({ text: 'Hm.' }), { id: 'test:chat', window: 2000 });
    await using world = await createBotWorld({ models: [model], agent: { mode: 'observe' }, storage: slowToRemember });
    const told = (kind: EventKind) => world.events.some((event) => event.kind === kind);
    for (let index = 0; index < 60 && !told('context.tier'); index += 1) {
      await world.say(filler(60, index));
      await world.bot.settled();
    }
    expect([told('context.tier'), told('maintenance.requested')]).toEqual([true, true]);
  });

  it('fall quiet where another process does the work', async () => {
    await using subject = await watched();
    const { clock, services } = subject.world;
    await subject.world.say('hello');
    const compactor = createCompactor({ services, conversation: await subject.world.conversation() });
    const measure = () => ({ used: 1, window: 2 });
    void compactor.assessed({ tier: 'background', due: true, measure, stored: true });
    void compactor.assessed({ tier: 'none', due: false, measure, stored: true });
    expect(compactor.quiet).toBe(false);
    await clock.advance(30_000);
    expect(compactor.quiet).toBe(true);
  });
});

it('a turn stores that work is due, without any kick', async () => {
  const dueAt: (number | null)[] = [];
  const noting = (storage: Storage): Storage => {
    const { transcript } = storage.store;
    const commitTurn: typeof transcript.commitTurn = (commit) => {
      dueAt.push(commit.maintainAt);
      return transcript.commitTurn(commit);
    };
    return { ...storage, store: { ...storage.store, transcript: { ...transcript, commitTurn } } };
  };
  const chat = scriptedModel(() => ({ text: filler(60) }), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [chat], storage: noting });
  const isRequested = () => world.events.some(({ kind }) => kind === 'maintenance.requested');
  for (let turn = 0; turn < 30 && !isRequested(); turn += 1) {
    await world.say(filler(60, turn));
    await world.settled();
  }
  expect(isRequested()).toBe(true);
  expect(dueAt.at(-1)).toBe(world.clock.now());
  expect(dueAt[0]).toBeGreaterThan(world.clock.now());
});
