import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/adapter-kit.ts';
import { BOB, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

/** Questions that wait while a turn runs, in a window that cannot hold them all. */

const LONG = 'and the reason is written down in the notes of the last meeting '.repeat(8);

interface Waiting {
  readonly engine?: string;
  readonly windowTokens: number;
  readonly questions: readonly string[];
}

/** A running turn while all the questions arrive. */
async function waitWith({ engine = 'stacked', windowTokens, questions }: Waiting) {
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel(
    async (_, { count }) => {
      if (count === 1) await gate.promise;
      return { text: `Answer ${count}`, inputTokens: 0 };
    },
    { id: 'test:chat', window: windowTokens },
  );
  const world = await createBotWorld({ models: [model], agent: { engine, context_window: windowTokens } });
  await world.say('How are you?', { id: 'first' });
  await until(() => model.requests.length === 1);
  for (const [index, question] of questions.entries()) {
    await world.say(question, { id: `q${index}`, ...(index === 0 ? { author: BOB } : {}) });
  }
  gate.resolve();
  await world.settled();
  return Object.assign(world, { model });
}

function showing(requests: readonly ModelRequest[], text: string): readonly ModelRequest[] {
  return requests.filter(({ messages }) => JSON.stringify(messages).includes(text));
}

it.each(['stacked', 'sliding'])('many long mentions push out no other question (%s)', async (engine) => {
  const questions = [
    'Where is the key of the cabin?',
    ...Array.from({ length: 40 }, (_, at) => `Point ${at}: ${LONG}`),
  ];
  await using world = await waitWith({ engine, windowTokens: 2000, questions });
  expect(showing(world.model.requests, 'the key of the cabin')).not.toHaveLength(0);
  for (let at = 0; at < 40; at += 1) expect(showing(world.model.requests, `Point ${at}:`)).not.toHaveLength(0);
});

/** The newest message of each turn, with the only request of that turn. */
async function turnsOf(world: Awaited<ReturnType<typeof waitWith>>) {
  const read = world.events.flatMap((event) => (event.kind === 'turn.ended' ? [event.readUpto] : []));
  const requests = world.model.requests.filter(({ purpose }) => purpose === 'reply');
  expect(requests).toHaveLength(read.length);
  return read.map((readUpto, at) => ({ readUpto, request: JSON.stringify(requests[at]?.messages) }));
}

it('a turn answers only questions that its request shows', async () => {
  const length = fc.oneof(
    fc.integer({ min: 0, max: 40 }),
    { arbitrary: fc.integer({ min: 500, max: 1500 }), weight: 4 },
    fc.constant(9000),
  );
  const waiting = fc.record({
    engine: fc.constantFrom('stacked', 'sliding'),
    windowTokens: fc.integer({ min: 2000, max: 6000 }),
    lengths: fc.array(length, { minLength: 2, maxLength: 60 }),
  });
  const property = fc.asyncProperty(waiting, async ({ lengths, ...options }) => {
    const questions = lengths.map((characters, at) => `Question ${at}: ${LONG.repeat(20).slice(0, characters)}`);
    await using world = await waitWith({ ...options, questions });
    const turns = await turnsOf(world);
    const asked = (await world.entries()).filter(({ role }) => role === 'user').slice(1);
    expect(asked).toHaveLength(questions.length);
    for (const [at, { seq }] of asked.entries()) {
      expect(turns.find(({ readUpto }) => readUpto >= seq)?.request).toContain(`Question ${at}:`);
    }
  });
  await fc.assert(property, { numRuns: 12, endOnFailure: true });
});

it('what others say in between gets no answer', async () => {
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel(
    async (_, { count }) => {
      if (count === 1) await gate.promise;
      return { text: `Answer ${count}`, inputTokens: 0 };
    },
    { id: 'test:chat', window: 2000 },
  );
  await using world = await createBotWorld({ models: [model], agent: { context_window: 2000 } });
  await world.say('How are you?', { id: 'first' });
  await until(() => model.requests.length === 1);
  await world.say('Where is the key of the cabin?', { id: 'q0', author: BOB });
  for (let at = 0; at < 60; at += 1) await world.say(`Point ${at}: ${LONG}`, { id: `p${at}`, asks: false });
  await world.say('Who has the map?', { id: 'q1', author: BOB });
  gate.resolve();
  await world.settled();
  expect([...world.channel.posts.values()].map(({ replyTo }) => replyTo)).toEqual(['first', 'q0', 'q1']);
  expect(showing(model.requests, 'the key of the cabin')).not.toHaveLength(0);
});

it('every question gets one answer, however many turns', async () => {
  const questions = Array.from({ length: 30 }, (_, at) => `Point ${at}: ${LONG}`);
  await using world = await waitWith({ windowTokens: 2000, questions });
  const { replyDueSeq, answeredUpto } = await world.conversation();
  expect(answeredUpto).toBe(replyDueSeq);
  const read = (await turnsOf(world)).map(({ readUpto }) => readUpto);
  expect(read).toEqual([...new Set(read)].toSorted((a, b) => a - b));
  expect(read.length).toBeLessThan(10);
  const replies = [...world.channel.posts.values()];
  const said = await world.entries();
  const newest = read.map((readUpto) => said.find(({ seq }) => seq === readUpto)?.externalId);
  expect(replies.map(({ replyTo }) => replyTo)).toEqual(newest);
});
