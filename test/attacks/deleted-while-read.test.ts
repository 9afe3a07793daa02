import { expect, it } from 'vitest';
import type { ModelRequest } from '../../src/adapter-kit.ts';
import { type Said, scriptedModel, settle } from '../core/compaction/compaction.world.ts';
import { type BotWorld, createBotWorld, HERE } from '../support/bot-world.ts';

const SECRET = 'kingfisher';
const SUMMARY: Said = { calls: [{ tool: 'summary_save', input: { summary: 'People talked about filler words.' } }] };
const isTold = (request: ModelRequest) => JSON.stringify(request).includes(SECRET);

const remove = ({ bot }: BotWorld) => bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
const edit = ({ bot, clock }: BotWorld) => {
  const parts = [{ kind: 'text', text: 'Never mind.' }] as const;
  return bot.sink.edited({ conversation: HERE, externalId: 'm1', parts, at: clock.now() });
};

it.each([
  ['deleted', remove],
  ['edited', edit],
] as const)('what is %s during a job is not sent again', async (_how, change) => {
  const first = Promise.withResolvers<void>();
  const chat = scriptedModel(() => ({ text: 'ok' }), { id: 'test:chat' });
  const summariser = scriptedModel(async (_request, { count }) => {
    if (count > 1) return SUMMARY;
    await first.promise;
    return { text: '' };
  });
  const agent = { context_window: 3000, compaction: { model: 'test:summariser' } };
  await using world = await createBotWorld({ models: [chat, summariser], agent });
  await world.say(`The code of my gate is ${SECRET}.`, { id: 'm1' });
  for (let at = 0; at < 40 && summariser.requests.length === 0; at += 1) {
    await world.say(`filler words ${at} ${'x y z '.repeat(120)}`);
    await world.settled();
    await world.clock.advance(5000);
  }
  expect(summariser.requests.map(isTold)).toEqual([true]);
  await change(world);
  first.resolve();
  for (let second = 0; second < 60 && summariser.requests.length < 2; second += 1) {
    await settle();
    await world.clock.advance(1000);
  }
  expect(summariser.requests.length).toBeGreaterThan(1);
  expect(summariser.requests.slice(1).some(isTold)).toBe(false);
});
