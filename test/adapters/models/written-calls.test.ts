import { describe, expect, test } from 'vitest';
import { writtenCalls } from '../../../adapters/models/ai-sdk/calls/written-calls.ts';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ModelPart } from '../../../src/adapter-kit.ts';
import { ask, collect, rollDice, silentLog } from '../../fixtures/models-requests.ts';
import { chunk, serve, sse } from '../../fixtures/models-server.ts';

/** Models that write their calls into the text, because their server has no parser for them. */

const tools = [rollDice, { ...rollDice, name: 'draw_card' }];
const roll = { tool: 'roll_dice', input: { sides: 6 } };

describe('calls in a text', () => {
  test.each([
    ['{"name":"roll_dice","arguments":{"sides":6}}', [roll]],
    ['{"type":"function","name":"roll_dice","parameters":{"sides":6}}', [roll]],
    ['```json\n{"name":"roll_dice","arguments":{"sides":6}}\n```', [roll]],
    ['<tool_call>\n{"name": "roll_dice", "arguments": {"sides": 6}}\n</tool_call>', [roll]],
    [
      '<tool_call>{"name":"roll_dice","arguments":{"sides":6}}</tool_call>\n<tool_call>{"name":"draw_card"}</tool_call>',
      [roll, { tool: 'draw_card', input: {} }],
    ],
    ['[{"name":"roll_dice","arguments":{"sides":6}},{"name":"draw_card"}]', [roll, { tool: 'draw_card', input: {} }]],
    ['<function=roll_dice>{"sides":6}</function>', [roll]],
    [
      '<function=roll_dice>{"sides":6}</function>\n<function=draw_card></function>',
      [roll, { tool: 'draw_card', input: {} }],
    ],
    ['<tool_call>\n<function=roll_dice>\n<parameter=sides>\n6\n</parameter>\n</function>\n</tool_call>', [roll]],
    ['<tool_call>roll_dice\n<arg_key>sides</arg_key>\n<arg_value>6</arg_value>\n</tool_call>', [roll]],
    ['[TOOL_CALLS] [{"name": "roll_dice", "arguments": {"sides": 6}}]', [roll]],
    ['[TOOL_CALLS]roll_dice[ARGS]{"sides": 6}', [roll]],
    [
      '[TOOL_CALLS]roll_dice[CALL_ID]a1b2c3d4e[ARGS]{"sides": 6}[TOOL_CALLS]draw_card[ARGS]{}',
      [roll, { tool: 'draw_card', input: {} }],
    ],
  ])('%s', (text, expected) => {
    expect(writtenCalls(text, tools)).toEqual(expected.map((call) => expect.objectContaining(call)));
  });

  test.each([
    'roll_dice',
    'Like this: {"name":"roll_dice","arguments":{"sides":6}}',
    '{"name":"launch_rocket","arguments":{}}',
    '{"name":"roll_dice","arguments":{"sides":6},"note":"an example"}',
    '[]',
    '<tool_call>{"name":"roll_dice"',
    '{"name":"Ada"}',
    '<function=roll_dice>{"sides":6}</function> rolls a die',
    '<function=roll_dice>sides</function>',
    '[TOOL_CALLS] marks calls',
    '<tool_call>roll_dice<arg_key>sides</tool_call>',
  ])('are not in %s', (text) => {
    expect(writtenCalls(text, tools)).toEqual([]);
  });
});

const JSON_PIECES = ['{"name":"roll_dice",', '"arguments":{"sides":6}}'];

async function partsOf(finish: string, { id = 'local:m', pieces = JSON_PIECES } = {}) {
  await using server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    sse(
      response,
      pieces.map((content) => chunk({ content })),
    );
    sse(response, [chunk({}, finish), '[DONE]']);
    response.end();
  });
  const models = createAiSdkModels({
    environment: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1` },
    providers: { local: { baseUrl: `${server.url}/v1` } },
    log: silentLog,
  });
  return await collect(await models.open(id), ask('roll', { tools: [rollDice] }));
}

test.each(['local:m', 'openai:m'])('a written call of %s is no answer', async (id) => {
  const parts = await partsOf('stop', { id });
  expect(parts.slice(-3)).toMatchObject([
    { kind: 'retract' },
    { kind: 'call', call: roll },
    { kind: 'finish', reason: 'tool-calls' },
  ]);
});

test('a call that was cut stays a text', async () => {
  expect((await partsOf('length')).map(({ kind }) => kind)).toEqual(['text', 'text', 'finish']);
});

// A call in a channel counts like reasoning until it is whole.
const isSeen = ({ kind }: ModelPart) => kind !== 'reasoning';
const CHANNEL = '<|channel|>commentary to=functions.roll_dice <|constrain|>json<|message|>{"sides":6';

test.each([['}<|call|>'], ['}']])('a call in a channel is made, ending %s', async (last) => {
  const parts = await partsOf('stop', { pieces: [CHANNEL, last] });
  expect(parts.filter(isSeen)).toMatchObject([
    { kind: 'call', call: roll },
    { kind: 'finish', reason: 'tool-calls' },
  ]);
});

test('a cut call in a channel is not made', async () => {
  const parts = await partsOf('length', { pieces: [CHANNEL] });
  expect(parts.filter(isSeen)).toMatchObject([{ kind: 'finish', reason: 'length' }]);
});
