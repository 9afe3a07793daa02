import { expect, test } from 'vitest';
import { textOf } from '../../../src/adapter-kit.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { faithful, type Said, scriptedModel } from '../compaction/compaction.world.ts';

/** What people see, and what is stored, of the first answer. */
async function answered(said: Said) {
  const chat = scriptedModel(() => said, { id: 'test:chat' });
  const summariser = scriptedModel(faithful, { window: 32_000 });
  const agent = { compaction: { model: summariser.id } };
  await using world = await createBotWorld({ models: [chat, summariser], agent });
  await world.say('Tell me everything about the ferry.');
  await world.settled();
  const posted = [...world.channel.posts.values()].map(({ body }) => (body.kind === 'text' ? body.text : ''));
  const stored = (await world.entries()).filter(({ role }) => role === 'assistant').map(({ parts }) => textOf(parts));
  return { posted: posted.join('\n'), stored, ended: world.events.find(({ kind }) => kind === 'turn.ended') };
}

test('people see that an answer was cut at its limit', async () => {
  const { posted, stored, ended } = await answered({ text: 'The ferry leaves at nine and', finish: 'length' });
  expect(posted).toMatch(/^The ferry leaves at nine and\n\n\(.*maximum length.*\)$/);
  expect(stored).toEqual(['The ferry leaves at nine and']);
  expect(ended).toMatchObject({ cut: 'length' });
});

test('people see that a filter cut an answer', async () => {
  const { posted, ended } = await answered({ text: 'The ferry leaves', finish: 'filtered' });
  expect(posted).toMatch(/^The ferry leaves\n\n\(.*filter.*\)$/);
  expect(ended).toMatchObject({ cut: 'filtered' });
});

test('a whole answer is posted as it is', async () => {
  const { posted, ended } = await answered({ text: 'At nine.' });
  expect(posted).toBe('At nine.');
  expect(ended).toMatchObject({ cut: null });
});

test('a refusal in words is posted as it is', async () => {
  const { posted, ended } = await answered({ text: 'I would rather not say.', finish: 'declined' });
  expect(posted).toBe('I would rather not say.');
  expect(ended).toMatchObject({ cut: null });
});

test.each([
  ['```js\nconst ferry =', '```js\nconst ferry =\n```\n\n('],
  ['~~~~\nferry\n```', '~~~~\nferry\n```\n~~~~\n\n('],
  ['~~~ `now`\nferry', '~~~ `now`\nferry\n~~~\n\n('],
  ['```\nferry\n```js', '```\nferry\n```js\n```\n\n('],
  ['So:\n    ```\nferry', 'So:\n    ```\nferry\n\n('],
  ['```\nferry\n```\nThen', '```\nferry\n```\nThen\n\n('],
  ['```ferry``` leaves', '```ferry``` leaves\n\n('],
])('the note is no code after %j', async (text, start) => {
  const { posted } = await answered({ text, finish: 'length' });
  expect(posted.startsWith(start)).toBe(true);
});
