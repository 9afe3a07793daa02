import { expect, it } from 'vitest';
import { createBotWorld } from '../../support/bot-world.ts';
import { faithful, scriptedModel } from './compaction.world.ts';

// Shows: S34
it.each([
  ['the agent’s own by default', 'auto', 'test:chat'],
  ['another one that the agent names', 'test:summariser', 'test:summariser'],
])('the model for summaries is %s', async (_, model, id) => {
  const models = ['test:chat', 'test:summariser'].map((name) => scriptedModel(faithful, { id: name }));
  await using world = await createBotWorld({ models, agent: { model: 'test:chat', compaction: { model } } });
  const story = 'The walrus in the harbour of Bremen sleeps on the second pier until the ferry comes at nine. '.repeat(
    12,
  );
  for (const part of ['First.', 'Second.', 'Third.']) await world.say(`${part} ${story}`, { asks: false });
  await world.settled();
  await world.command('compact');
  const called = world.events.flatMap((event) => (event.kind === 'model.called' ? [event.model] : []));
  expect(new Set(called)).toEqual(new Set([id]));
});
