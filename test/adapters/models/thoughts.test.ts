import { describe, expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ChatModel } from '../../../src/adapter-kit.ts';
import { collectStep } from '../../../src/models/step.ts';
import { ask, collect, silentLog } from '../../fixtures/models-requests.ts';
import { chunk, serve, sse } from '../../fixtures/models-server.ts';

/** A server whose model answers each request with the next of these, piece by piece. */
async function talk(
  answers: readonly (readonly string[])[],
  { id = 'local:qwen3', ends = 'stop' }: { readonly id?: string; readonly ends?: string } = {},
) {
  let asked = 0;
  const server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    const pieces = answers[asked] ?? [];
    asked += 1;
    const isLast = asked === answers.length;
    sse(response, [...pieces.map((content) => chunk({ content })), chunk({}, isLast ? ends : 'stop'), '[DONE]']);
    response.end();
  });
  const models = createAiSdkModels({
    environment: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.url },
    providers: { local: { baseUrl: server.url } },
    log: silentLog,
  });
  const model = await models.open(id);
  const told: (readonly string[])[] = [];
  for (const _ of answers) told.push(await seen(model));
  await server[Symbol.asyncDispose]();
  return told;
}

/** What people see while the model answers, step by step, and the answer at the end. */
async function seen(model: ChatModel): Promise<readonly string[]> {
  const drafts: string[] = [];
  const step = await collectStep(model, ask('Hello'), {
    signal: AbortSignal.timeout(5000),
    onText: (text) => drafts.push(text),
  });
  return [...drafts, `= ${step.text}`];
}

const THOUGHTS = ['They want ', 'a greeting.\n</th', 'ink>\n\nHel', 'lo'];

describe('reasoning that only an end tag marks', () => {
  test('is never shown, in the first answer or later', async () => {
    const hello = ['\n\nHel', '\n\nHello', '= \n\nHello'];
    expect(await talk([THOUGHTS, THOUGHTS])).toEqual([hello, hello]);
  });

  test('is taken back where answers began without', async () => {
    const [first, second, third] = await talk([['Good ', 'day'], THOUGHTS, THOUGHTS]);
    expect(first).toEqual(['Good day', '= Good day']);
    expect(second).toEqual(['They want ', 'They want a greeting.\n', '', '\n\nHel', '\n\nHello', '= \n\nHello']);
    expect(third).toEqual(['\n\nHel', '\n\nHello', '= \n\nHello']);
  });

  test('is taken back and then held with unknown families', async () => {
    const [first, second] = await talk([THOUGHTS, THOUGHTS], { id: 'local:m' });
    expect(first?.slice(-2)).toEqual(['\n\nHello', '= \n\nHello']);
    expect(second).toEqual(['\n\nHel', '\n\nHello', '= \n\nHello']);
  });

  test('is no answer when it is cut at the limit', async () => {
    const told = await talk([THOUGHTS, ['They want ', 'a joke']], { ends: 'length' });
    expect(told[1]).toEqual(['= ']);
  });

  test('is found behind the address of another server too', async () => {
    expect((await talk([THOUGHTS], { id: 'openai:qwen3' }))[0]?.at(-1)).toBe('= \n\nHello');
  });
});

async function helloServer() {
  const server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    sse(response, [chunk({ content: 'Hello' }), chunk({}, 'stop'), '[DONE]']);
    response.end();
  });
  const providers = { local: { baseUrl: server.url } };
  const model = await createAiSdkModels({ environment: {}, providers, log: silentLog }).open('local:qwen3');
  return { model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('an answer that was held does not count as reasoning', async () => {
  await using server = await helloServer();
  expect(await collect(server.model, ask('Hello'))).toMatchObject([
    { kind: 'reasoning', text: '' },
    { kind: 'text', text: 'Hello' },
    { kind: 'finish' },
  ]);
});

test('an aborted answer that was held is not complete', async () => {
  await using server = await helloServer();
  const { model } = server;
  const stop = new AbortController();
  const kinds: string[] = [];
  const reading = async () => {
    for await (const { kind } of model.stream(ask('Hello'), { signal: stop.signal })) {
      kinds.push(kind);
      if (kind === 'text') stop.abort();
    }
  };
  await expect(reading()).rejects.toThrow();
  expect(kinds).toEqual(['reasoning', 'text']);
});

describe('an answer without reasoning', () => {
  test('is shown piece by piece after a first whole one', async () => {
    const pieces = ['Good ', 'day'];
    const streamed = ['Good ', 'Good day', '= Good day'];
    expect(await talk([pieces, pieces, pieces])).toEqual([['Good day', '= Good day'], streamed, streamed]);
  });

  test('is shown at once by models of other families', async () => {
    expect(await talk([['Good ', 'day']], { id: 'local:m' })).toEqual([['Good ', 'Good day', '= Good day']]);
  });

  test('is cut at the limit, not lost', async () => {
    const [told = []] = await talk([Array.from({ length: 50 }, () => 'word '.repeat(100))]);
    expect(told.length).toBeGreaterThan(10);
    expect(told.at(-1)?.length).toBeGreaterThan(10_000);
  });

  test('is shown at once after marked reasoning', async () => {
    const told = await talk([['<think>A greeting.</think>', 'Good ', 'day']]);
    expect(told).toEqual([['Good ', 'Good day', '= Good day']]);
    const [between = []] = await talk([['Hm. ', '<think>A greeting.</think>', 'Good day']]);
    expect(between.at(-1)).toMatch(/^= Hm\.\s+Good day$/);
    const [behind = []] = await talk([['<think>A gre', 'eting.</think>Good day']], { id: 'openai:m' });
    expect(behind).toEqual(['Good day', '= Good day']);
  });

  test('is kept whole where the model had reasoned before', async () => {
    const pieces = ['Good ', 'day'];
    const told = await talk([THOUGHTS, pieces, pieces]);
    expect(told.slice(1)).toEqual([
      ['Good day', '= Good day'],
      ['Good ', 'Good day', '= Good day'],
    ]);
  });

  test('may quote the tag as code', async () => {
    const quote = ['It ends with `</think>`, ', 'and then speaks.'];
    expect((await talk([quote]))[0]?.at(-1)).toBe(`= ${quote.join('')}`);
  });
});
