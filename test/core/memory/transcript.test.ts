import { describe, expect, it } from 'vitest';
import { searchTranscript } from '../../../src/search/ranking/transcript-search.ts';
import { ada, bob, DAY, general, openWorld, type World } from './memory.world.ts';

async function search(
  world: World,
  question: string,
  over: { limit?: number; tokenBudget?: number; key?: typeof general } = {},
) {
  const { id } = await world.conversation(over.key);
  return searchTranscript(world.services, { conversationId: id, question, limit: 10, ...over });
}

async function talk(world: World) {
  const lines: readonly (readonly [typeof ada, string])[] = [
    [ada, 'Hey Bob! How have you been?'],
    [bob, 'Great, I adopted a dog from the shelter last week.'],
    [ada, 'Wow! What did you name him?'],
    [bob, 'Biscuit, after what he stole first.'],
    [ada, 'Lovely. I started pottery classes, my bowls look terrible.'],
    [bob, 'Bowls need patience. See you!'],
    [ada, 'See you, take care!'],
  ];
  for (const [by, text] of lines) await world.say(text, { by });
}

describe('searching the transcript', () => {
  it('finds the answer that follows a matching question', async () => {
    await using world = await openWorld();
    await talk(world);
    const hits = await search(world, 'What is the name of the dog that Bob adopted?');
    const found = hits.slice(0, 4).map((hit) => hit.seq);
    expect(found).toContain(2);
    expect(found).toContain(4);
    expect(hits[0]).toMatchObject({ id: 'm2', seq: 2, tokens: hits[0]?.entry.tokens });
  });

  it('prefers the speaker whom the question names', async () => {
    await using world = await openWorld();
    await world.say('I went hiking in the hills', { by: ada });
    await world.say('I went hiking in the hills', { by: bob });
    expect((await search(world, 'Where did Bob go hiking?'))[0]?.seq).toBe(2);
    expect((await search(world, 'Where did Ada go hiking?'))[0]?.seq).toBe(1);
  });

  it('uses the date that the question names', async () => {
    await using world = await openWorld();
    for (const text of [
      'We played a game of cards',
      'We played a game of cards again',
      'We played a game of cards as ever',
    ]) {
      world.time.now += 40 * DAY;
      await world.say(text);
    }
    const date = new Date(world.time.now - 40 * DAY);
    const month = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
    const hits = await search(
      world,
      `What game did we play on ${month} ${date.getUTCDate()}, ${date.getUTCFullYear()}?`,
    );
    expect(hits[0]?.seq).toBe(2);
  });

  it('lets no long bot answers drown a person’s words', async () => {
    await using world = await openWorld();
    for (let index = 0; index < 6; index++) {
      await world.say(`Tell me something about budgets, part ${index}`);
      await world.answer(
        `A budget for a wedding: ${'the budget of a wedding depends on the budget and the guests. '.repeat(40)}`,
      );
    }
    await world.say('My own wedding budget is 9,000 euros');
    await world.answer('Noted.');
    expect((await search(world, 'What is my wedding budget?'))[0]?.seq).toBe(13);
  });

  it('searches any script', async () => {
    await using world = await openWorld();
    await world.say('我的妹妹住在北京');
    await world.say('今天的天气很好');
    await world.say('Моя сестра живёт в Берлине');
    await world.say('Das Fahrrad steht im Keller');
    expect((await search(world, '妹妹住在哪里？'))[0]?.seq).toBe(1);
    expect((await search(world, 'где живёт моя сестра?'))[0]?.seq).toBe(3);
    expect((await search(world, 'Wo steht das Fahrrad?'))[0]?.seq).toBe(4);
  });

  it('keeps within the tokens and the limit', async () => {
    await using world = await openWorld();
    for (let index = 0; index < 30; index++)
      await world.say(`the report about topic ${index} is on the shelf ${'and so on '.repeat(index)}`);
    const all = await search(world, 'report topic shelf', { limit: 30 });
    const some = await search(world, 'report topic shelf', { limit: 30, tokenBudget: 200 });
    expect(some.reduce((sum, hit) => sum + hit.tokens, 0)).toBeLessThanOrEqual(200);
    expect(some.length).toBeGreaterThan(2);
    expect(some.map((hit) => hit.score)).toEqual(some.map((hit) => hit.score).toSorted((a, b) => b - a));
    expect(all.map((hit) => hit.seq)).toEqual(expect.arrayContaining(some.map((hit) => hit.seq)));
    expect(await search(world, 'report topic shelf', { limit: 3 })).toHaveLength(3);
  });

  it('shows neither deleted messages nor notices around a match', async () => {
    await using world = await openWorld();
    await world.say('the zebra of the DM');
    await world.say('the giraffe');
    await world.append(
      world.reader().place as never,
      { role: 'notice', author: null, externalId: null, parts: [{ kind: 'text', text: 'It failed.' }] },
      'dm',
    );
    const { id } = await world.conversation();
    await world.store.transcript.redact(id, { externalIds: ['m2'], now: 1 });
    expect((await search(world, 'zebra')).map((hit) => hit.seq)).toEqual([1]);
  });

  it('finds nothing elsewhere, deleted, or for an empty query', async () => {
    await using world = await openWorld();
    await world.say('the zebra of the channel', { key: general });
    await world.say('the zebra of the DM');
    await world.say('the giraffe');
    const { id } = await world.conversation();
    await world.store.transcript.redact(id, { externalIds: ['m2'], now: 1 });
    expect(await search(world, 'zebra')).toEqual([]);
    expect(await search(world, '?')).toEqual([]);
    expect(await search(world, '')).toEqual([]);
    expect((await search(world, 'zebra', { key: general })).map((hit) => hit.seq)).toEqual([1]);
    expect(await searchTranscript(world.services, { conversationId: 999, question: 'zebra', limit: 3 })).toEqual([]);
  });
});
