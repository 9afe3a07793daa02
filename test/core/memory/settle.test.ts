import { describe, expect, it } from 'vitest';
import { bob, DAY, general, openWorld, type Proposal, type World } from './memory.world.ts';

async function written(world: World, proposals: readonly Proposal[]) {
  const { writes } = await world.admit(proposals, { key: general });
  return writes.map((write) => [write.kind, 'memory' in write ? [write.memory.text, write.memory.state] : []]);
}

describe('statements of one answer that contradict each other', () => {
  it.each([
    ['I moved to Rome', undefined, [['insert', ['Ada lives in Rome', 'active']]]],
    [
      'Ada lives in Rome, you know',
      bob,
      [
        ['insert', ['Ada lives in Berlin', 'active']],
        ['insert', ['Ada lives in Rome', 'candidate']],
      ],
    ],
  ])('stay if the later is less trusted: %s', async (later, by, expected) => {
    await using world = await openWorld();
    await world.say('I live in Berlin', { key: general });
    world.time.now += 1000;
    await world.say(later, { key: general, ...(by === undefined ? {} : { by }) });
    const proposals = [
      { text: 'Ada lives in Berlin', about: 'Ada', sources: [1] },
      { text: 'Ada lives in Rome', about: 'Ada', sources: [2] },
    ];
    expect(await written(world, proposals)).toEqual(expected);
  });
});

describe('statements of one answer that outdate the same memory', () => {
  async function known() {
    const world = await openWorld();
    await world.say('I play the cello in an orchestra', { key: general });
    const proposal = { text: 'Ada plays the cello in an orchestra', about: 'Ada', sources: [1] };
    const { ids } = await world.learn([proposal], { key: general });
    world.time.now += DAY;
    return { world, supersedes: ids[0] ?? '' };
  }

  it('are both kept', async () => {
    const { world, supersedes } = await known();
    await using _ = world;
    await world.say('I sold my cello', { key: general });
    await world.say('I left the orchestra', { key: general });
    const proposals = [
      { text: 'Ada sold her cello', about: 'Ada', sources: [2], supersedes },
      { text: 'Ada left the orchestra', about: 'Ada', sources: [3], supersedes },
    ];
    expect(await written(world, proposals)).toEqual([
      ['supersede', ['Ada sold her cello', 'active']],
      ['insert', ['Ada left the orchestra', 'active']],
    ]);
  });

  it('is kept beside its repetition', async () => {
    const { world, supersedes } = await known();
    await using _ = world;
    await world.say('I play the cello in an orchestra', { key: general });
    await world.say('I sold my cello', { key: general });
    const proposals = [
      { text: 'Ada plays the cello in an orchestra', about: 'Ada', sources: [2] },
      { text: 'Ada sold her cello', about: 'Ada', sources: [3], supersedes },
    ];
    expect(await written(world, proposals)).toEqual([
      ['corroborate', []],
      ['insert', ['Ada sold her cello', 'active']],
    ]);
  });
});
