import { expect, it } from 'vitest';
import { createWorld, scriptedModel } from './compaction.world.ts';

const GEORGIAN = [
  'ნინომ თქვა, რომ პარასკევს ბათუმში მატარებლით წავა',
  'ბილეთი ოცდახუთი ლარი ღირს, ოთხი ადგილია დარჩენილი',
  'მე მანქანით მირჩევნია წასვლა, მაგრამ საწვავი ძვირია',
].join('. ');
const HUNGARIAN = [
  'Péntek reggel vonattal megyek Szegedre a testvéremhez',
  'Kétezer-ötszáz forint a jegy, négy hely maradt az első osztályon',
  'Én inkább autóval mennék, de drága a benzin',
].join('. ');
const ENGLISH = 'Nino will travel by train on Friday. We could take a car instead, but fuel is expensive now. '.repeat(
  2,
);
const SUMMARY = 'One of them will take the train on Friday. A ticket is cheap, and there were four seats left.';
const PANCAKES = 'A good pancake needs flour and eggs with a pinch of salt, and it should be fried in butter.';

/** The summaries after a conversation of such messages, and how often each was asked for. */
async function summarised(said: string, summary: string) {
  const model = scriptedModel(() => ({ calls: [{ tool: 'summary_save', input: { summary } }] }), { window: 32_000 });
  await using world = await createWorld({ model });
  for (let index = 1; index <= 14; index += 1) await world.exchange(`${said} ${index}`, `${said} ${index}`);
  await world.run();
  const { stack } = await world.snapshot();
  return {
    texts: [...new Set(stack.map(({ text }) => text))],
    asked: model.requests.length / Math.max(1, stack.length),
  };
}

it.each([GEORGIAN, HUNGARIAN])('an English summary is used at second best: %s', async (said) => {
  expect(await summarised(said, SUMMARY)).toEqual({ texts: [SUMMARY], asked: 2 });
});

it.each([
  ['English', ENGLISH, PANCAKES],
  ['Georgian', GEORGIAN, 'ბოდიში, ამაში ვერ დაგეხმარებით და არც ვაპირებ.'],
  ['Georgian', GEORGIAN, 'It looks like the text that you want to have summed up was not attached.'],
  [
    'Georgian',
    GEORGIAN,
    'There is no conversation to summarize. Please share the messages and the summary will follow.',
  ],
  ['Hungarian', HUNGARIAN, 'Sure, I would be happy to help you with that! What would you like me to do?'],
  ['Georgian', GEORGIAN, 'Das Gespräch handelt von einer Reise mit dem Zug, und sie fahren am Freitag.'],
])('a text about something else is no summary of %s', async (_, said, summary) => {
  expect(await summarised(said, summary)).toEqual({ texts: [], asked: 2 });
});
