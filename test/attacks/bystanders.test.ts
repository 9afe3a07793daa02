import { expect, it } from 'vitest';
import { textOf } from '../../src/adapter-kit.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { ADA, BOB, createBotWorld, HERE } from '../support/bot-world.ts';

const MALLORY = { id: 'u-mal', name: 'Mallory', kind: 'person' } as const;
const ANSWER = 'The library opens at nine.';

it.each([
  ['in another script', 'привет всем', null],
  ['that was edited', 'hello everybody', 'hi everybody'],
])('deleting a message %s takes no answer to another', async (_, said, edited) => {
  const model = scriptedModel(() => ({ text: ANSWER }), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model] });
  await world.say(said, { id: 'm1', author: MALLORY, asks: false });
  await world.say('When does the library open?', { author: BOB });
  await world.settled();
  if (edited !== null) {
    const parts = [{ kind: 'text', text: edited }] as const;
    await world.bot.sink.edited({ conversation: HERE, externalId: 'm1', parts, at: world.clock.now() });
  }
  await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
  const texts = (await world.entries()).map(({ parts }) => textOf(parts));
  expect(texts).toEqual(['', 'When does the library open?', ANSWER]);
});

it('deleting a message keeps an answer to an earlier question', async () => {
  // The turn may begin at once, but the answer comes after the message of somebody else.
  const said = Promise.withResolvers<void>();
  const model = scriptedModel(() => said.promise.then(() => ({ text: ANSWER })), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model], started: false });
  await world.say('When does the library open?', { author: BOB });
  await world.say('привет всем', { id: 'x1', author: MALLORY, asks: false });
  said.resolve();
  await world.bot.start();
  await world.settled();
  await world.bot.sink.removed({ conversation: HERE, externalIds: ['x1'] });
  expect((await world.entries()).at(-1)?.parts).toEqual([{ kind: 'text', text: ANSWER }]);
});

it.each([
  ['its author asked', ADA, 'What is it in English?', 'The fish is swordfish.'],
  ['that names its author', BOB, 'What did she say?', 'Ada says it is swordfish.'],
])('deleting a message takes an answer %s', async (_, author, question, answer) => {
  const model = scriptedModel(() => ({ text: answer }), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model] });
  await world.say('это рыба-меч', { id: 'm1', asks: false });
  await world.say(question, { author });
  await world.settled();
  await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
  expect((await world.entries()).map(({ parts }) => textOf(parts))).toEqual(['', question, '']);
});

it("an answer with the author's first name goes too", async () => {
  const model = scriptedModel(() => ({ text: 'Mallory says it is swordfish.' }), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model] });
  await world.say('это рыба-меч', { id: 'm1', author: { ...MALLORY, name: 'Mallory Smith' }, asks: false });
  await world.say('What did she say?', { author: BOB });
  await world.settled();
  await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
  expect((await world.entries()).map(({ parts }) => textOf(parts))).toEqual(['', 'What did she say?', '']);
});
