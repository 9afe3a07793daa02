import { expect, it } from 'vitest';
import type { AgentDirectory } from '../../../src/adapter-kit.ts';
import { createMaintenance } from '../../../src/compaction/maintenance.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import type { AgentSettings } from '../../../src/config/schema.ts';
import { createBreaker } from '../../../src/models/breaker.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { createWorld, faithful, filler, scriptedModel } from '../compaction/compaction.world.ts';

/** The configuration file is read again while a model is about to be called. */

const agentOf = (model: string, effort: 'low' | 'high') =>
  defaultAgent({ context_window: 3000, max_output_tokens: 300, persona: 'You are a bot.', tools: [], model, effort });

function changingTo(before: AgentSettings, after: AgentSettings) {
  let current = before;
  const agents: AgentDirectory = { agentFor: () => current, agent: () => current, list: () => [current] };
  return {
    agents,
    change: () => {
      current = after;
    },
  };
}

it('a reply asks its model with settings of one agent', async () => {
  const [one, two] = ['test:one', 'test:two'].map((id) => scriptedModel(() => ({ text: 'Hello.' }), { id }));
  if (one === undefined || two === undefined) throw new Error('Expected two models.');
  const directory = changingTo(agentOf(one.id, 'low'), agentOf(two.id, 'high'));
  let isRunning = false;
  await using here = await createBotWorld({
    models: [one, two],
    agents: directory.agents,
    onEvent: ({ kind }) => {
      isRunning ||= kind === 'turn.started';
    },
    storage: ({ store, ...rest }) => {
      const { memories } = store;
      const list: typeof memories.list = async (query) => {
        if (isRunning) directory.change();
        return await memories.list(query);
      };
      return { ...rest, store: { ...store, memories: { ...memories, list } } };
    },
  });
  for (const question of ['Hello?', 'And again?']) {
    await here.say(question);
    await here.settled();
  }
  expect(one.requests.map(({ effort }) => effort)).toEqual(['low']);
  expect(two.requests.map(({ effort }) => effort)).toEqual(['high']);
});

it('a job asks its model with settings of one agent', async () => {
  const model = scriptedModel(faithful, { id: 'test:summariser', window: 32_000 });
  await using world = await createWorld({ model });
  for (let index = 1; index <= 12; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
  const agent = world.services.agents.agentFor(world.key);
  const withEffort = (effort: 'low' | 'high') => ({ ...agent, compaction: { ...agent.compaction, effort } });
  const directory = changingTo(withEffort('low'), withEffort('high'));
  const { models } = world.services;
  const open: typeof models.open = async (id) => {
    directory.change();
    return await models.open(id);
  };
  const services = { ...world.services, agents: directory.agents, models: { ...models, open } };
  const maintenance = createMaintenance({ ...world, services, breaker: createBreaker(services) });
  const { id: conversationId } = await world.conversation();
  const { signal } = new AbortController();
  await maintenance.run({ conversationId, trigger: 'manual', instruction: null, signal });
  expect(new Set(model.requests.map(({ effort }) => effort))).toEqual(new Set(['low']));
});
