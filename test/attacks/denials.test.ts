import { describe, expect, it } from 'vitest';
import { isNearDuplicate } from '../../src/memory/statements/fingerprint.ts';
import { createNearDuplicates } from '../../src/memory/statements/near-duplicates.ts';
import { ada, DAY, general, openWorld } from '../core/memory/memory.world.ts';

const DENIED = [
  ['Ada eats meat', 'Ada does not eat meat'],
  ['Ada isst am Freitag Fleisch', 'Ada isst am Freitag nie Fleisch'],
  ['Ada hat Hunger', 'Ada hat keinen Hunger'],
  ['Ada mange de la viande', 'Ada ne mange rien de la viande'],
  ['Ada come carne', 'Ada no come carne'],
  ['Ada come carne', 'Ada nunca come carne'],
  ['Ada mangia carne', 'Ada non mangia carne'],
  ['Ada come carne', 'Ada não come carne'],
  ['Ada eet vlees', 'Ada eet geen vlees'],
  ['Ada äter kött', 'Ada äter inte kött'],
  ['Ada spiser kød', 'Ada spiser ikke kød'],
  ['Ada je mięso', 'Ada nie je mięsa'],
  ['Ada jí maso každý den v práci s kolegy z oddělení', 'Ada nejí maso každý den v práci s kolegy z oddělení'],
  ['Ада ест мясо', 'Ада не ест мясо'],
  ['Ада їсть м’ясо', 'Ада не їсть м’ясо'],
  ['Η Άντα τρώει κρέας', 'Η Άντα δεν τρώει κρέας'],
  ['Ada bugün okulda', 'Ada bugün okulda değil'],
  ['Ada eszik húst', 'Ada nem eszik húst'],
  ['Ada syö lihaa', 'Ada ei syö lihaa'],
  ['Ada mănâncă carne', 'Ada nu mănâncă carne'],
  ['عادة تأكل اللحم', 'عادة لا تأكل اللحم'],
  ['עדה אוכלת בשר', 'עדה לא אוכלת בשר'],
  ['अदा मांस खाती है', 'अदा मांस नहीं खाती है'],
  ['아다는 고기를 먹는다', '아다는 고기를 안 먹는다'],
  ['艾达吃肉', '艾达不吃肉'],
  ['アダは肉を食べた', 'アダは肉を食べなかった'],
  ['อาดากินเนื้อ', 'อาดาไม่กินเนื้อ'],
  ['Ada ăn thịt', 'Ada không ăn thịt'],
  ['Ada makan daging', 'Ada tidak makan daging'],
  [
    'Ada likes the new office near the central station in Hamburg and the market',
    'Ada dislikes the new office near the central station in Hamburg and the market',
  ],
] as const;

describe('a statement and its denial', () => {
  it.each(DENIED)('are two: %s | %s', (said, denied) => {
    expect(isNearDuplicate(said, denied)).toBe(false);
    expect(isNearDuplicate(denied, said)).toBe(false);
    expect(createNearDuplicates([said])(denied)).toBe(false);
  });

  it.each(DENIED)('stay the same in other letters: %s', (said, denied) => {
    expect(isNearDuplicate(said, `${said.toLowerCase()}.`)).toBe(true);
    expect(isNearDuplicate(denied, `${denied.toLowerCase()}.`)).toBe(true);
  });
});

it('a person who denies a claim outdates it', async () => {
  await using world = await openWorld();
  const claim = 'Ада ест мясо';
  const bob = { id: 'u-bob', name: 'Bob', kind: 'person' } as const;
  await world.say('привет', { by: { ...ada, name: 'Ада' }, key: general });
  const said = await world.say(claim, { by: bob, key: general });
  await world.learn([{ text: claim, about: 'Ада', sources: [said.seq] }], { key: general, entries: [said] });
  world.time.now += DAY;
  const denial = await world.say('Ада не ест мясо', { by: { ...ada, name: 'Ада' }, key: general });
  const proposal = { text: 'Ада не ест мясо', about: 'Ада', sources: [denial.seq] };
  await world.learn([proposal], { key: general, entries: [denial] });
  const all = (await world.all(general)).map(({ text, state }) => `${state}: ${text}`);
  expect(all.toSorted()).toEqual(['active: Ада не ест мясо', 'superseded: Ада ест мясо']);
});

describe('a decision that is reversed', () => {
  const [APPROVED, REJECTED] = ['approved', 'rejected'].map(
    (verb) =>
      `Ada ${verb} the request of the sales team to move the quarterly budget review to the last Friday morning`,
  );

  async function decided(first = '', second = '') {
    const world = await openWorld();
    for (const text of [first, second]) {
      const said = await world.say(text.replace('Ada', 'I'), { key: general });
      await world.learn([{ text, about: 'Ada', sources: [said.seq] }], { key: general, entries: [said] });
      world.time.now += DAY;
    }
    return world;
  }

  it('is another memory', async () => {
    await using world = await decided(APPROVED, REJECTED);
    const texts = (await world.all(general)).map(({ text }) => text);
    expect(texts.toSorted()).toEqual([APPROVED, REJECTED]);
  });

  it('is one memory if it only says more', async () => {
    await using world = await decided(APPROVED, `${APPROVED} in Hamburg`);
    expect(await world.all(general)).toHaveLength(1);
  });
});
