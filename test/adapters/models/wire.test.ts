import { describe, expect, test } from 'vitest';
import { plain } from '../../../adapters/models/ai-sdk/calls/dialect.ts';
import { endOf, toMessages } from '../../../adapters/models/ai-sdk/calls/map.ts';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { ollamaUrl } from '../../../adapters/models/ai-sdk/providers/environment.ts';
import type { ModelMessage, ModelRequest } from '../../../src/adapter-kit.ts';
import { ask, collect, rollDice, silentLog, textIn } from '../../fixtures/models-requests.ts';
import { chunk, type Received, serve, sse } from '../../fixtures/models-server.ts';

/** The request that a provider receives. Its response does not matter. */
async function sent(id: string, request: ModelRequest): Promise<Record<string, unknown>> {
  const calls: Received[] = [];
  const record: typeof fetch = async (input, init) => {
    const url = String(input);
    if (init?.method !== 'POST' || url.endsWith('/api/show')) {
      const data = [{ id: id.slice(id.indexOf(':') + 1), architecture: { input_modalities: ['image'] } }];
      return new Response(
        JSON.stringify({
          data,
          capabilities: ['completion', 'tools', 'vision'],
          model_info: { 'a.context_length': 9000 },
        }),
      );
    }
    calls.push({ method: 'POST', url, headers: {}, body: JSON.parse(String(init.body)) });
    return new Response('{}', { status: 500 });
  };
  const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' };
  const providers = { local: { baseUrl: 'https://models.example/v1' } };
  const model = await createAiSdkModels({ environment, providers, builtIn: {}, fetch: record, log: silentLog }).open(
    id,
  );
  await collect(model, request).catch(() => {});
  const body = calls[0]?.body;
  if (body === undefined || body === null) throw new Error('Nothing was sent.');
  return body;
}

const people: readonly ModelMessage[] = ['one', 'two', 'three'].map((text) => ({
  role: 'user',
  content: [{ kind: 'text', text }],
}));

describe('settings of a call', () => {
  const lively = { temperature: 1.5, providerOptions: { openai: { user: 'bot' }, anthropic: { x: 1 } } };

  test('go to the provider by its own names', async () => {
    const openai = await sent('openai:gpt-4.1', ask('newest', lively));
    expect(openai).toMatchObject({ temperature: 1.5, user: 'bot', store: false });
    const local = await sent('local:m', ask('newest', { ...lively, effort: 'low' }));
    expect(local).toMatchObject({ temperature: 1.5, reasoning_effort: 'low' });
    const gpt = await sent('openai:gpt-5.6-luna', ask('newest', { effort: 'high' }));
    expect(gpt['reasoning']).toMatchObject({ effort: 'high' });
    const claude = await sent('anthropic:claude-haiku-4-5', ask('newest', { effort: 'high', maxOutputTokens: 9000 }));
    expect(JSON.stringify(claude)).toMatch(/thinking|effort/);
  });

  test('are merged with those that the bot needs', async () => {
    const providerOptions = { ollama: { options: { top_k: 3 }, think: false } };
    const body = await sent('ollama:m', ask('newest', { providerOptions, windowTokens: 5000 }));
    expect(body).toMatchObject({ think: false, options: { top_k: 3, num_ctx: 5000, num_predict: 100 } });
  });

  test('are not sent where none are set', async () => {
    const body = await sent('local:m', ask('newest'));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['temperature']));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['reasoning_effort']));
  });
});

describe('a request for an answer without calls', () => {
  const none: Partial<ModelRequest> = { tools: [rollDice], toolChoice: 'none' };

  test.each([
    ['local:m', { tool_choice: 'none' }],
    ['openai:gpt-4.1', { tool_choice: 'none' }],
    ['openrouter:m', { tool_choice: 'none' }],
    ['anthropic:claude-haiku-4-5', { tool_choice: { type: 'none' } }],
    ['google:gemini-2.5-flash', { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }],
  ])('still lists the tools for %s', async (id, choice) => {
    const body = await sent(id, ask('newest', none));
    expect(body).toMatchObject(choice);
    expect(JSON.stringify(body['tools'])).toContain('roll_dice');
  });

  test('leaves out the choice if there are no tools', async () => {
    expect(await sent('local:m', ask('newest', { ...none, tools: [] }))).not.toHaveProperty('tool_choice');
  });
});

describe('cache breakpoints', () => {
  // Shows: O34
  test('Anthropic gets them after marked blocks and before the newest', async () => {
    const body = await sent('anthropic:claude-haiku-4-5', ask('newest'));
    const mark = { type: 'ephemeral' };
    const kept = { type: 'ephemeral', ttl: '1h' };
    expect(body['system']).toEqual([
      { type: 'text', text: 'You are a bot.', cache_control: kept },
      { type: 'text', text: 'Earlier they said hello.', cache_control: kept },
    ]);
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'first' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'second', cache_control: mark }] },
      { role: 'user', content: [{ type: 'text', text: 'newest' }] },
    ]);
  });

  // Shows: O34
  test('OpenAI is asked to keep the prefix where it can', async () => {
    const request = ask('newest', { cacheKey: 'talk-1' });
    const kept = { prompt_cache_key: 'talk-1', prompt_cache_retention: '24h' };
    for (const id of ['gpt-5', 'gpt-5.1', 'gpt-5.1-codex-max', 'gpt-5.4', 'gpt-5.5-2026-04-24'])
      expect(await sent(`openai:${id}`, request), id).toMatchObject(kept);
    for (const id of ['gpt-4o', 'gpt-4.1', 'gpt-5-mini', 'gpt-5.4-nano', 'gpt-5.6-luna', 'o3']) {
      const body = await sent(`openai:${id}`, request);
      expect(body, id).toMatchObject({ prompt_cache_key: 'talk-1' });
      expect(body, id).not.toHaveProperty('prompt_cache_retention');
    }
    const short = { openai: { promptCacheRetention: 'in_memory' } };
    const own = await sent('openai:gpt-5.1', ask('newest', { providerOptions: short }));
    expect(own).toMatchObject({ prompt_cache_retention: 'in_memory' });
  });

  test('there are never more than four', async () => {
    const system = ['a', 'b', 'c', 'd', 'e', 'f'].map((text) => ({ text, cacheBreak: true }));
    const body = await sent('anthropic:claude-haiku-4-5', ask('newest', { system }));
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(JSON.stringify(body['system'])).toMatch(/"f","cache_control"/);
  });

  test('a quiet turn leaves the sent prefix unchanged', async () => {
    const first = ask('newest');
    const later: ModelRequest = {
      ...first,
      messages: [...first.messages, { role: 'assistant', text: 'answer', calls: [] }, ...people.slice(0, 1)],
    };
    const bare = (body: Record<string, unknown>) =>
      JSON.stringify([body['tools'], body['system'], body['messages']]).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
    for (const id of ['anthropic:claude-haiku-4-5', 'openai:gpt-4.1', 'google:gemini-2.5-flash']) {
      const [before, after] = [await sent(id, first), await sent(id, later)].map(bare);
      expect(after?.startsWith(before?.slice(0, -4) ?? '-')).toBe(true);
    }
  });

  test('Anthropic models behind OpenRouter get them inside the content', async () => {
    const body = await sent('openrouter:anthropic/claude-haiku-4.5', ask('newest'));
    expect(body['messages']).toMatchObject([
      { role: 'system', content: [{ type: 'text', text: 'You are a bot.', cache_control: { type: 'ephemeral' } }] },
      { role: 'system' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: [{ type: 'text', text: 'second', cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: 'newest' },
    ]);
    expect(JSON.stringify(await sent('openrouter:openai/gpt-4.1', ask('newest')))).not.toContain('cache_control');
  });
});

test('the version in an address follows the path of requests', async () => {
  await using server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    sse(response, [chunk({ content: 'Hello' }), chunk({}, 'stop'), '[DONE]']);
    response.end();
  });
  const deployment = '/openai/deployments/gpt';
  const sent: typeof fetch = (input, init) =>
    fetch(String(input).replace('https://mine.openai.azure.com', server.url), init);
  const baseUrl = `https://mine.openai.azure.com${deployment}?api-version=2024-10-21`;
  const providers = { azure: { baseUrl, apiKey: 'k' } };
  const models = createAiSdkModels({ environment: {}, providers, fetch: sent, log: silentLog });
  await collect(await models.open('azure:gpt'), ask('hello'));
  const [post] = server.received.filter(({ method }) => method === 'POST');
  expect(post?.url).toBe(`${deployment}/chat/completions?api-version=2024-10-21`);
  expect(post?.headers['api-key']).toBe('k');
});

describe('the request', () => {
  test('compatible servers get one system message and alternating roles', async () => {
    const body = await sent(
      'local:m',
      ask('', { messages: [...people, { role: 'assistant', text: 'hm', calls: [] }, ...people] }),
    );
    expect(body['messages']).toEqual([
      { role: 'system', content: 'You are a bot.\n\nEarlier they said hello.' },
      { role: 'user', content: 'one\n\ntwo\n\nthree' },
      { role: 'assistant', content: 'hm' },
      { role: 'user', content: 'one\n\ntwo\n\nthree' },
    ]);
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true }, max_tokens: 100 });
  });

  test('OpenAI stores nothing, and optional tool fields stay optional', async () => {
    const body = await sent('openai:gpt-5-mini', ask('hello', { tools: [rollDice] }));
    expect(body).toMatchObject({ store: false, max_output_tokens: 100 });
    expect(JSON.stringify(body)).not.toContain('detailed');
    expect(body['tools']).toMatchObject([{ name: 'roll_dice', strict: false, parameters: rollDice.inputSchema }]);
  });

  test('Ollama receives its window and the answer’s length', async () => {
    const options = async (request: ModelRequest) => (await sent('ollama:m', request))['options'];
    expect(await options(ask('hello'))).toEqual({ num_ctx: 9000, num_predict: 100 });
    expect(await options(ask('hello', { windowTokens: 32_000 }))).toEqual({ num_ctx: 32_000, num_predict: 100 });
  });

  test('call ids suit providers, and failed results are marked', async () => {
    const messages: ModelMessage[] = [
      ...people,
      { role: 'assistant', text: '  ', calls: [{ callId: '12.1.1', tool: 'roll_dice', input: 'not json' }] },
      { role: 'tool', results: [{ callId: '12.1.1', tool: 'roll_dice', text: '', isError: true }] },
    ];
    const body = await sent('anthropic:claude-haiku-4-5', ask('', { messages, tools: [rollDice] }));
    const text = JSON.stringify(body['messages']);
    expect(text).toContain('"id":"12_1_1"');
    expect(text).toContain('"tool_use_id":"12_1_1"');
    expect(text).toContain('"input":{"input":"not json"}');
    expect(text).toContain('"is_error":true');
    expect(text).not.toContain('"text":"  "');
  });

  test.each([
    ['openai:gpt-5-mini', 'input'],
    ['local:m', 'messages'],
    ['anthropic:claude-haiku-4-5', 'messages'],
    ['google:gemini-2.5-flash', 'contents'],
  ])('%s gets no tool name that it rejects', async (id, field) => {
    const made = ['multi_tool_use.parallel', '1 look up', 'x'.repeat(200), 'ö', ''];
    const calls = made.map((tool, index) => ({ callId: `c${index}`, tool, input: {} }));
    const results = calls.map(({ callId, tool }) => ({ callId, tool, text: 'no such tool', isError: true }));
    const messages: ModelMessage[] = [...people, { role: 'assistant', text: '', calls }, { role: 'tool', results }];
    const body = await sent(id, ask('', { messages, tools: [rollDice] }));
    const names = [...JSON.stringify(body[field]).matchAll(/"name":"([^"]*)"/gu)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThanOrEqual(made.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][\w-]{0,63}$/u);
  });

  test('sends images as bytes, and others by name', async () => {
    const png = 'iVBORw0KGgo=';
    const images: ModelMessage = {
      role: 'user',
      content: [
        { kind: 'text', text: 'look' },
        { kind: 'image', mediaType: 'image/png', url: `data:image/png;base64,${png}` },
        { kind: 'image', mediaType: 'image/jpeg', url: 'http://127.0.0.1:1/private.jpg' },
        { kind: 'image', mediaType: 'image/gif', url: 'blob-17' },
      ],
    };
    const request = ask('', { messages: [images] });
    for (const id of [
      'anthropic:claude-haiku-4-5',
      'openai:gpt-4.1',
      'google:gemini-2.5-flash',
      'openrouter:openai/gpt-4.1',
      'ollama:m',
    ]) {
      const text = JSON.stringify(await sent(id, request));
      expect(text).toContain(png);
      expect(text).toContain('[image, image/jpeg]');
      expect(text).toContain('[image, image/gif]');
      expect(text).not.toContain('private.jpg');
    }
    const blind = createAiSdkModels({
      environment: {},
      providers: { local: { baseUrl: 'http://127.0.0.1:1' } },
      builtIn: {},
      log: silentLog,
    });
    expect((await blind.open('local:m')).traits.images).toBe(false);
  });

  test('an empty message is no empty block', () => {
    const empty: ModelMessage[] = [
      { role: 'user', content: [] },
      { role: 'assistant', text: '', calls: [] },
      { role: 'user', content: [{ kind: 'text', text: ' ' }] },
    ];
    expect(toMessages(empty, plain)).toEqual(
      Array.from({ length: 2 }, () => ({ role: 'user', content: [{ type: 'text', text: '(an empty message)' }] })),
    );
  });
});

test('thoughts of open models are not part of the answer', async () => {
  await using server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    sse(response, [
      chunk({ content: '<thi' }),
      chunk({ content: 'nk>They want a greeting.</think>Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
      '[DONE]',
    ]);
    response.end();
  });
  const models = createAiSdkModels({
    environment: {},
    providers: { local: { baseUrl: server.url } },
    builtIn: {},
    log: silentLog,
  });
  expect(textIn(await collect(await models.open('local:m'), ask('hello')))).toBe('Hello');
});

test('hands over a call whose input is no JSON', async () => {
  await using server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    const call = { index: 0, id: 'x', type: 'function', function: { name: 'roll_dice', arguments: '{"sides": ' } };
    sse(response, [chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), '[DONE]']);
    response.end();
  });
  const models = createAiSdkModels({
    environment: {},
    providers: { local: { baseUrl: server.url } },
    builtIn: {},
    log: silentLog,
  });
  const parts = await collect(await models.open('local:m'), ask('roll', { tools: [rollDice] }));
  expect(parts).toContainEqual({ kind: 'call', call: { callId: 'x', tool: 'roll_dice', input: '{"sides": ' } });
});

test('hands over calls of unoffered tools for the registry', async () => {
  await using server = await serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    const call = { index: 0, id: 'x', type: 'function', function: { name: 'format_disk', arguments: '{}' } };
    sse(response, [chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), '[DONE]']);
    response.end();
  });
  const models = createAiSdkModels({
    environment: {},
    providers: { local: { baseUrl: server.url } },
    builtIn: {},
    log: silentLog,
  });
  const parts = await collect(await models.open('local:m'), ask('roll', { tools: [rollDice] }));
  expect(parts).toContainEqual({ kind: 'call', call: { callId: 'x', tool: 'format_disk', input: {} } });
});

test.each([
  ['127.0.0.1:11434', 'http://127.0.0.1:11434'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  [':1234', 'http://127.0.0.1:1234'],
  ['box.local', 'http://box.local:11434'],
  ['http://box.local:80/', 'http://box.local'],
  ['https://ollama.example.org', 'https://ollama.example.org'],
  ['http://127.0.0.1:11434', 'http://127.0.0.1:11434'],
])('OLLAMA_HOST "%s" is %s', (host, url) => {
  expect(ollamaUrl(host)).toBe(url);
});

/** The model has read the request and written nothing. */
const unwritten = { inputTokens: 5, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

test.each([
  [
    { finishReason: 'stop', rawFinishReason: 'stop' },
    { kind: 'finished', reason: 'stop' },
  ],
  [
    { finishReason: 'stop', rawFinishReason: undefined },
    { kind: 'finished', reason: 'stop' },
  ],
  [
    { finishReason: 'stop', rawFinishReason: 'STOP', calls: 1 },
    { kind: 'finished', reason: 'tool-calls' },
  ],
  [
    { finishReason: 'other', rawFinishReason: 'FUNCTION_CALL', calls: 1 },
    { kind: 'finished', reason: 'tool-calls' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'SAFETY' },
    { kind: 'finished', reason: 'filtered' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'refusal' },
    { kind: 'finished', reason: 'refused' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'refusal', isSilent: false },
    { kind: 'finished', reason: 'filtered' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'content_filter' },
    { kind: 'finished', reason: 'filtered' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'stop', isSilent: false },
    { kind: 'finished', reason: 'declined' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: undefined, isSilent: false },
    { kind: 'finished', reason: 'declined' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'content_filter', isSilent: false },
    { kind: 'finished', reason: 'filtered' },
  ],
  [
    { finishReason: 'content-filter', rawFinishReason: 'content_filter', usage: unwritten },
    { kind: 'finished', reason: 'refused' },
  ],
  [
    { finishReason: 'content-filter', providerMetadata: { google: { promptFeedback: null } }, usage: unwritten },
    { kind: 'finished', reason: 'filtered' },
  ],
  [
    { finishReason: 'content-filter', providerMetadata: { google: { promptFeedback: { blockReason: 'SAFETY' } } } },
    { kind: 'finished', reason: 'refused' },
  ],
  [
    { finishReason: 'length', rawFinishReason: 'length', calls: 1 },
    { kind: 'finished', reason: 'length' },
  ],
  [
    { finishReason: 'other', rawFinishReason: 'UNEXPECTED_TOOL_CALL' },
    { kind: 'finished', reason: 'other' },
  ],
  [{ finishReason: 'other', rawFinishReason: undefined }, { kind: 'cut' }],
  [{ finishReason: 'interrupted', rawFinishReason: undefined }, { kind: 'cut' }],
  [{ finishReason: 'error', rawFinishReason: undefined }, { kind: 'cut' }],
  [{ finishReason: 'length', rawFinishReason: 'model_context_window_exceeded' }, { kind: 'overflow' }],
] as const)('the end %j is %j', (facts, expected) => {
  const usage = { inputTokens: 5, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const base = { calls: 0, isSilent: true, rawFinishReason: undefined, windowTokens: null, usage };
  expect(endOf({ ...base, ...facts })).toEqual(expected);
});
