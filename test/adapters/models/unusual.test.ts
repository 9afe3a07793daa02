import { describe, expect, test } from 'vitest';
import { reasonIn } from '../../../adapters/models/ai-sdk/failures/error-body.ts';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ChatModel } from '../../../src/adapter-kit.ts';
import { ask, collect, rollDice, silentLog, textIn } from '../../fixtures/models-requests.ts';
import { type Answer, chunk, claude, gemini, serve, sse, type TestServer } from '../../fixtures/models-server.ts';

/** Servers that speak a provider's interface in their own way. */

const limits = { firstPartMs: 5000, nextPartMs: 5000 };

async function open({ url }: TestServer, id: string): Promise<ChatModel> {
  const environment = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url, GEMINI_API_KEY: 'k', OPENAI_API_KEY: 'k' };
  const addresses = { GOOGLE_GENERATIVE_AI_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1` };
  const providers = { local: { baseUrl: `${url}/v1` } };
  const models = createAiSdkModels({
    environment: { ...environment, ...addresses },
    providers,
    limits,
    log: silentLog,
  });
  return await models.open(id);
}

async function answered(answer: Answer, id = 'local:m') {
  await using server = await serve((request, response) => {
    if (request.method === 'GET') response.writeHead(404).end();
    else answer(request, response);
  });
  return await collect(await open(server, id), ask('roll', { tools: [rollDice] }));
}

const json =
  (status: number, body: unknown): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

const streamed =
  (...events: readonly unknown[]): Answer =>
  (_, response) => {
    sse(response, [...events, '[DONE]']);
    response.end();
  };

const providers = ['local:m', 'openai:m', 'anthropic:m', 'google:m'];

describe('a response that is no stream', () => {
  test.each(providers)('an error with status 200 is an error of %s', async (id) => {
    const body = { error: { message: 'The model crashed', type: 'server_error', code: 503, status: 'UNAVAILABLE' } };
    await expect(answered(json(200, { type: 'error', ...body }), id)).rejects.toThrow(
      /\(transient\): The model crashed\. Check/,
    );
  });

  test.each(providers)('a web page is no answer of %s', async (id) => {
    const page: Answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('\n<!doctype html><title>Log in\n</title>');
    };
    const failure = answered(page, id);
    await expect(failure).rejects.toThrow(/: The server answered with a web page "Log in" instead of a stream\. Check/);
  });

  test('a whole answer of another interface is no stream', async () => {
    const failure = answered(json(200, { type: 'message', content: [{ type: 'text', text: 'Hello' }] }), 'anthropic:m');
    await expect(failure).rejects.toThrow(/\(transient\): The server answered with JSON instead of a stream\. Check/);
  });

  test('tells what a server says to a wrong path', async () => {
    const error = 'Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway';
    await expect(answered(json(200, { error }))).rejects.toThrow(error);
  });

  test('a rejected key with status 200 is a rejected key', async () => {
    const failure = answered(json(200, { error: { message: 'Incorrect key', code: 401 } }));
    await expect(failure).rejects.toMatchObject({ reason: 'auth' });
  });

  test('an error without a number is worth another try', async () => {
    await expect(answered(json(200, { error: { message: 'Out of slots' } }))).rejects.toMatchObject({
      reason: 'transient',
    });
  });

  test('a whole answer is an answer', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
    const message = { role: 'assistant', content: 'Hello' };
    const parts = await answered(
      json(200, { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
    );
    expect(textIn(parts)).toBe('Hello');
    expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: 'stop', usage: { inputTokens: 7, outputTokens: 2 } });
  });

  test.each(['local:m', 'openai:m'])('calls in a whole answer of %s are calls', async (id) => {
    const call = { id: 'x', type: 'function', function: { name: 'roll_dice', arguments: '{"sides":6}' } };
    const message = { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'y' }] };
    const whole = { id: 'c', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const parts = await answered(json(200, whole), id);
    const input = { sides: 6 };
    expect(parts.filter(({ kind }) => kind === 'call')).toEqual([
      { kind: 'call', call: { callId: 'x', tool: 'roll_dice', input } },
      { kind: 'call', call: { callId: 'y', tool: 'roll_dice', input } },
    ]);
  });

  test('spaces before a stream do not matter', async () => {
    const parts = await answered((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('\n\n');
      streamed(chunk({ content: 'Hello' }, 'stop'))(request, response);
    });
    expect(textIn(parts)).toBe('Hello');
  });
});

describe('lines of Ollama', () => {
  const roll = (call: Readonly<Record<string, unknown>>) => ({
    message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'roll_dice', ...call } }] },
  });
  const said = (content: string | null) => ({ message: { role: 'assistant', content } });
  const end = { ...said(''), done: true };

  async function told(...lines: readonly unknown[]) {
    await using server = await serve((request, response) => {
      if (request.url === '/api/show') return void response.writeHead(404).end('{}');
      const known = { model: 'm', created_at: '2026-11-20T10:00:00Z', done: false };
      const written = lines.map((line) =>
        typeof line === 'string' ? line : JSON.stringify({ ...known, ...Object(line) }),
      );
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(`${written.join('\n')}\n`);
    });
    const models = createAiSdkModels({ environment: { OLLAMA_HOST: server.url }, limits, log: silentLog });
    return await collect(await models.open('ollama:m'), ask('roll', { tools: [rollDice] }));
  }

  test('an answer may end without a reason', async () => {
    expect(textIn(await told(said('Hel'), said(null), said('lo'), end))).toBe('Hello');
  });

  test.each([
    [{ arguments: { sides: 6 } }, { sides: 6 }],
    [{ arguments: '{"sides":6}' }, { sides: 6 }],
    [{ arguments: 'six' }, { input: 'six' }],
    [{ arguments: '' }, {}],
    [{}, {}],
  ])('a call with %j is a call', async (call, input) => {
    const parts = await told(roll(call), end);
    expect(parts).toContainEqual({ kind: 'call', call: expect.objectContaining({ tool: 'roll_dice', input }) });
  });

  test.each([
    ['{"message":', 'a line that is not an answer of Ollama'],
    ['[1]', 'a line that is not an answer of Ollama'],
    ['<html>Log in</html>', 'a web page'],
  ])('a line such as %j ends the answer', async (line, kind) => {
    await expect(told(said('Hel'), line, end)).rejects.toThrow(
      `(transient): Invalid JSON response: the server sent ${kind}`,
    );
  });
});

const greetings: Readonly<Record<string, readonly unknown[]>> = {
  'anthropic:m': claude('Hello', 'end_turn'),
  'google:m': gemini({ candidates: [{ index: 0, content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] }),
};

describe('events', () => {
  test('the last one may lack its empty line', async () => {
    const parts = await answered((_, response) => {
      sse(response, [chunk({ content: 'Hello' })]);
      response.end(`data: ${JSON.stringify(chunk({}, 'stop'))}`);
    });
    expect(textIn(parts)).toBe('Hello');
  });

  test.each(providers)('empty ones end no answer of %s', async (id) => {
    const parts = await answered((_, response) => {
      const events = greetings[id] ?? [chunk({ content: 'Hello' }), chunk({}, 'stop'), '[DONE]'];
      sse(response, ['', ...events.flatMap((event) => [event, ''])]);
      response.end();
    }, id);
    expect(textIn(parts)).toBe('Hello');
  });

  test('the mark at the end finishes without a reason', async () => {
    const parts = await answered(streamed(chunk({ content: 'Hel' }), chunk({ content: 'lo' })));
    expect(textIn(parts)).toBe('Hello');
    expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: 'stop' });
  });

  test.each([[[]], [[chunk({ content: '' })]], [[chunk({ content: 'Hel' }), { error: { message: 'gone' } }]]])(
    'the mark after %j completes nothing',
    async (events) => {
      await expect(answered(streamed(...events))).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    },
  );

  test('an event may be a whole answer', async () => {
    const message = { role: 'assistant', content: 'Hello' };
    const whole = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(textIn(await answered(streamed(whole)))).toBe('Hello');
  });

  test('arguments may be JSON in a JSON text', async () => {
    const written = JSON.stringify('{"sides":6}');
    const call = { index: 0, id: 'x', type: 'function', function: { name: 'roll_dice', arguments: written } };
    const parts = await answered(streamed(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')));
    expect(parts).toContainEqual({ kind: 'call', call: { callId: 'x', tool: 'roll_dice', input: { sides: 6 } } });
  });

  test.each(['local:m', 'openai:m'])('an error next to content is an error of %s', async (id) => {
    const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }];
    const failure = { id: 'c', choices, error: { code: 502, message: 'Provider disconnected' } };
    await expect(answered(streamed(chunk({ content: 'Hel' }), failure), id)).rejects.toThrow(
      '(transient): Provider disconnected',
    );
  });

  test.each(['local:m', 'openai:m'])('an error may be the event itself for %s', async (id) => {
    const failure = { object: 'error', message: 'The engine died', type: 'InternalServerError', code: 500 };
    const error = answered(streamed(chunk({ content: 'Hel' }), failure), id);
    await expect(error).rejects.toThrow(/\(transient\): The engine died/);
  });

  test.each(['local:m', 'openai:m'])('calls of %s may lack their index', async (id) => {
    const made = { type: 'function', function: { name: 'roll_dice', arguments: '{"sides":6}' } };
    const calls = [
      { ...made, id: 'x' },
      { ...made, id: 'y' },
    ];
    const parts = await answered(streamed(chunk({ tool_calls: calls }), chunk({}, 'tool_calls')), id);
    expect(parts.flatMap((part) => (part.kind === 'call' ? [part.call.callId] : []))).toEqual(['x', 'y']);
  });

  test('usage may be in the field of Groq', async () => {
    const x_groq = { id: 'r', usage: { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 } };
    const parts = await answered(streamed(chunk({ content: 'Hello' }), Object.assign({ x_groq }, chunk({}, 'stop'))));
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 11, outputTokens: 2 } });
  });

  const usageOf = async (told: object) => {
    const parts = await answered(streamed(chunk({ content: 'Hello' }), { ...Object(chunk({}, 'stop')), usage: told }));
    const end = parts.at(-1);
    return end?.kind === 'finish' ? end.usage : undefined;
  };

  test.each<{ how: string; sum?: number; told?: number; output: number; reasoning: number }>([
    { how: 'in the sum alone', sum: 350, output: 342, reasoning: 333 },
    { how: 'beside the output', sum: 27, told: 10, output: 19, reasoning: 10 },
    { how: 'without a sum', told: 300, output: 309, reasoning: 300 },
    { how: 'in the output', sum: 17, told: 10, output: 9, reasoning: 10 },
    { how: 'in an absurd sum', sum: 9e15, output: 9, reasoning: 0 },
  ])('reasoning may be counted $how', async ({ sum, told, output, reasoning }) => {
    const details = told === undefined ? {} : { completion_tokens_details: { reasoning_tokens: told } };
    const usage = await usageOf({ prompt_tokens: 8, completion_tokens: 9, total_tokens: sum, ...details });
    expect(usage).toMatchObject({ inputTokens: 8, outputTokens: output, reasoningTokens: reasoning });
  });

  test('cached tokens may be counted beside the input', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 1900 } };
    const told = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, ...details };
    expect(await usageOf(told)).toMatchObject({ inputTokens: 1905, outputTokens: 2, cacheReadTokens: 1900 });
  });

  test.each([0, 30])('the sum may show cached tokens, and %s of reasoning', async (reasoning) => {
    const cached = { prompt_tokens_details: { cached_tokens: 1900 } };
    const details = { ...cached, completion_tokens_details: { reasoning_tokens: reasoning } };
    const told = { prompt_tokens: 2000, completion_tokens: 2, total_tokens: 3902 + reasoning, ...details };
    const counted = { inputTokens: 3900, outputTokens: 2 + reasoning, cacheReadTokens: 1900 };
    expect(await usageOf(told)).toMatchObject({ ...counted, reasoningTokens: reasoning });
  });

  test.each([
    ['model_length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['guardrail_intervened', 'filtered'],
    ['SAFETY', 'filtered'],
    ['LANGUAGE', 'filtered'],
    ['recitation', 'filtered'],
    ['COMPLETE', 'other'],
  ])('the reason %s is %s', async (reason, known) => {
    const parts = await answered(streamed(chunk({ content: 'Hel' }), chunk({}, reason)));
    expect(parts.at(-1)).toMatchObject({ reason: known });
  });

  test.each(['error', 'abort', 'insufficient_system_resource', 'network_error', 'MALFORMED_RESPONSE'])(
    'the reason %s ends no answer',
    async (reason) => {
      const failure = answered(streamed(chunk({ content: 'Hel' }), chunk({}, reason)), 'openai:m');
      await expect(failure).rejects.toMatchObject({ reason: 'transient' });
    },
  );

  test('an error may be a text', async () => {
    await expect(answered(streamed({ error: 'CUDA out of memory' }))).rejects.toThrow(/: CUDA out of memory/);
  });

  test('content may be a list of parts', async () => {
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] };
    const content = [thought, { type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }];
    expect(textIn(await answered(streamed(chunk({ content }), chunk({}, 'stop'))))).toBe('Hello');
  });

  test('arguments may be an object', async () => {
    const call = { index: 0, id: 'x', type: 'function', function: { name: 'roll_dice', arguments: { sides: 6 } } };
    expect(await answered(streamed(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')))).toContainEqual({
      kind: 'call',
      call: { callId: 'x', tool: 'roll_dice', input: { sides: 6 } },
    });
  });

  test('a finish reason may be a number', async () => {
    const end = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 2 }] };
    expect(textIn(await answered(streamed(chunk({ content: 'Hello' }), end)))).toBe('Hello');
  });

  test('a call without a name is worth another try', async () => {
    const call = { index: 0, id: 'x', type: 'function', function: { name: null, arguments: '{}' } };
    const failure = answered(streamed(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')));
    await expect(failure).rejects.toMatchObject({ reason: 'transient' });
  });
});

describe('events of Anthropic', () => {
  const begin = { type: 'message_start', message: { id: 'm', role: 'assistant', model: 'c', content: [] } };
  const block = (index: number, type: string) => ({
    type: 'content_block_start',
    index,
    content_block: { type, text: '' },
  });
  const delta = (index: number, type: string, text: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type, text },
  });
  const close = (index: number) => ({ type: 'content_block_stop', index });
  const hello = [block(1, 'text'), delta(1, 'text_delta', 'Hello'), close(1)];
  const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];

  test.each([
    ['an unknown event', [{ type: 'weather', rain: true }]],
    [
      'an unknown block',
      [block(0, 'hologram'), delta(0, 'hologram_delta', 'x'), delta(0, 'text_delta', 'y'), close(0)],
    ],
    ['an unknown delta', [block(0, 'text'), delta(0, 'hologram_delta', 'x'), close(0)]],
    ['a ping', [{ type: 'ping' }]],
  ])('%s is left out', async (_, events) => {
    expect(textIn(await answered(streamed(begin, ...events, ...hello, ...end), 'anthropic:m'))).toBe('Hello');
  });

  test('a whole answer may end without a reason', async () => {
    const [, stop] = end;
    const open = { type: 'message_delta', delta: { stop_reason: null } };
    expect(textIn(await answered(streamed(begin, ...hello, open, stop), 'anthropic:m'))).toBe('Hello');
    await expect(answered(streamed(begin, ...hello, open), 'anthropic:m')).rejects.toMatchObject({
      reason: 'transient',
    });
  });

  test('missing counts are not reported ones', async () => {
    const parts = await answered(streamed(begin, ...hello, ...end), 'anthropic:m');
    expect(parts.at(-1)).toMatchObject({ reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } });
  });
});

describe('the reason of a refusal', () => {
  test.each([
    [{ message: 'Tools need a parser' }, 'Tools need a parser'],
    [{ error: 'no such model' }, 'no such model'],
    [{ detail: 'Not allowed' }, 'Not allowed'],
    [{ detail: [{ loc: ['body', 'seed'], msg: 'not permitted', input: 'Ada' }] }, 'body.seed: not permitted'],
    [{ message: { detail: [{ loc: ['body', 'seed'], msg: 'not permitted' }] } }, 'body.seed: not permitted'],
    [[{ error: { message: 'Precondition failed' } }], 'Precondition failed'],
    [{ errors: [{ message: 'a' }, { message: 'b' }] }, 'a; b'],
    [
      {
        error: {
          message: 'Provider returned error',
          metadata: { raw: '{"message":"Odd request"}', provider_name: 'x' },
        },
      },
      'Odd request',
    ],
    [{ error: { message: 'Provider returned error', metadata: { raw: 'Odd request' } } }, 'Odd request'],
  ])('%j', async (body, reason) => {
    await expect(answered(json(400, body))).rejects.toThrow(`(fatal): ${reason} (HTTP 400)`);
  });

  test.each([
    ['Payload too odd', 'Payload too odd'],
    ['<html>Bad Request</html>', null],
    ['{"error":', null],
    ['{}', null],
    ['', null],
  ])('of %j is %j', (body, reason) => {
    expect(reasonIn(body)).toBe(reason);
  });
});
