import { expect, it } from 'vitest';
import { createBotWorld } from '../../support/bot-world.ts';
import { createWorld, faithful, filler, scriptedModel } from '../compaction/compaction.world.ts';

const TOOLS = ['transcript_search', 'memory_recall'];
const NAMES = [
  'functions.transcript_search',
  'default_api:transcript_search',
  'functions.transcript_search:0',
  'transcript-search',
  'transcriptSearch',
  'transcript_search()',
  'transcript_search<|channel|>commentary',
];

/** The results that the model reads after it called the tool under this name. */
async function resultsOf(tool: string): Promise<string> {
  const model = scriptedModel(
    ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'Found.' }
        : { calls: [{ tool, input: { query: 'kayak' } }] },
    { id: 'test:chat' },
  );
  await using here = await createBotWorld({ models: [model], agent: { tools: TOOLS } });
  await here.say('The kayak is in the shed.', { asks: false });
  await here.say('Look for the kayak!');
  await here.settled();
  return JSON.stringify(model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool'));
}

it.each(NAMES)('calls the tool that %s means', async (name) => {
  const results = await resultsOf(name);
  expect(results).toContain('The kayak is in the shed.');
  expect(results).toContain('"tool":"transcript_search"');
});

const OTHERS = ['functions.search', 'transcript_search.memory_recall', 'transcript_search.delete', 'memory_save'];

it.each(OTHERS)('calls no tool for %s', async (name) =>
  expect(await resultsOf(name)).toContain(`There is no tool ${name} here`),
);

it('takes a summary and memories from such calls', async () => {
  const model = scriptedModel(
    async (...asked) => {
      const { calls = [], ...said } = await faithful(...asked);
      return { ...said, calls: calls.map((call) => ({ ...call, tool: `functions.${call.tool}` })) };
    },
    { window: 32_000 },
  );
  await using world = await createWorld({ model });
  for (let index = 1; index <= 12; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
  await world.run();
  expect((await world.snapshot()).stack).toMatchObject([{ kind: 'summary' }]);
  expect(model.requests).toHaveLength(1);
});
