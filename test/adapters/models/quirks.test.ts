import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { ask, collect, rollDice, silentLog, textIn } from '../../fixtures/models-requests.ts';
import { type Answer, chunk, serve, sse } from '../../fixtures/models-server.ts';

/** More that servers do in their own way, and other clients accept. */

const LIMITS = { firstPartMs: 3000, nextPartMs: 3000 };

interface Setting {
  readonly id?: string;
  readonly limits?: { readonly firstPartMs: number; readonly nextPartMs: number };
}

async function answered(answer: Answer, { id = 'local:m', limits = LIMITS }: Setting = {}) {
  await using server = await serve((request, response) => {
    if (request.method === 'GET' || request.url === '/api/show') response.writeHead(404).end();
    else answer(request, response);
  });
  const { url } = server;
  const models = createAiSdkModels({
    environment: {
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: `${url}/v1`,
      GEMINI_API_KEY: 'k',
      GOOGLE_GEMINI_BASE_URL: url,
      OLLAMA_HOST: url,
    },
    providers: { local: { baseUrl: `${url}/v1` } },
    limits,
    log: silentLog,
  });
  return await collect(await models.open(id), ask('roll', { tools: [rollDice] }));
}

const streamed =
  (...events: readonly unknown[]): Answer =>
  (_, response) => {
    sse(response, [...events, '[DONE]']);
    response.end();
  };

const lines =
  (...values: readonly unknown[]): Answer =>
  (_, response) => {
    response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  };

const chat = [chunk({ content: 'Hello' }), chunk({}, 'stop')];
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hel' } };
const anthropic = [
  { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], model: 'm' } },
  block,
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const said = (parts: unknown, more: object = {}) => ({ candidates: [{ content: { role: 'model', parts }, ...more }] });
const counted = { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 } };
const google = [said([{ text: 'Hel' }]), { ...said([{ text: 'lo' }], { finishReason: 'STOP' }), ...counted }];
const ollama = [{ message: { role: 'assistant', content: 'Hello' } }, { done: true, done_reason: 'stop' }];

describe('a server that leaves the connection open after the answer', () => {
  const open: readonly [string, (response: ServerResponse) => void][] = [
    ['local:m', (response) => sse(response, [...chat, '[DONE]'])],
    ['openai:m', (response) => sse(response, [...chat, '[DONE]'])],
    ['anthropic:m', (response) => sse(response, anthropic)],
    ['local:m', (response) => sse(response, [...chat, { choices: [], usage: { prompt_tokens: 9 } }])],
    ['openai:m', (response) => sse(response, [...chat, { choices: [], usage: { prompt_tokens: 9 } }])],
    ['anthropic:m', (response) => sse(response, anthropic.slice(0, -1))],
    ['google:m', (response) => sse(response, google)],
    ['ollama:m', (response) => response.write(`${ollama.map((line) => JSON.stringify(line)).join('\n')}\n`)],
  ];
  test.each(open)('loses no reply of %s', async (id, write) => {
    let left: Promise<unknown> = Promise.resolve('never');
    const answer: Answer = (_, response) => {
      write(response);
      left = once(response, 'close').then(() => 'left');
    };
    expect(textIn(await answered(answer, { id }))).toBe('Hello');
    expect(await Promise.race([left, delay(2000, 'open')])).toBe('left');
  });

  test('is waited for only briefly if counts are missing', { timeout: 30_000 }, async () => {
    const ends: readonly (readonly [string, readonly unknown[]])[] = [
      ['local:m', chat],
      ['google:m', [google[0], said([{ text: 'lo' }], { finishReason: 'STOP' })]],
    ];
    const limits = { firstPartMs: 20_000, nextPartMs: 20_000 };
    const replies = ends.map(async ([id, events]) => {
      // Signs of life do not make it longer.
      const answer: Answer = (_, response) => {
        sse(response, events);
        const timer = setInterval(() => response.write(': ping\n\n'), 500);
        response.on('close', () => clearInterval(timer));
      };
      return textIn(await answered(answer, { id, limits }));
    });
    expect(await Promise.all(replies)).toEqual(['Hello', 'Hello']);
  });

  test.each([
    {
      id: 'local:m',
      stages: [
        [chunk({ content: 'He' }, 'stop')],
        [{ ...Object(chunk({ content: 'l' })), usage: { prompt_tokens: 9 } }],
        [chunk({ content: 'lo' }), chunk({}, 'stop')],
      ],
    },
    {
      id: 'google:m',
      stages: [
        [said([{ text: 'He' }], { finishReason: 'STOP' })],
        [{ ...Object(said([{ text: 'l' }])), usageMetadata: { promptTokenCount: 9 } }],
        [said([{ text: 'lo' }], { finishReason: 'STOP' })],
      ],
    },
  ])('is read by $id as long as it goes on', { timeout: 30_000 }, async ({ id, stages }) => {
    const answer: Answer = async (_, response) => {
      for (const events of stages) {
        sse(response, events);
        await delay(1500);
      }
      response.end();
    };
    expect(textIn(await answered(answer, { id }))).toBe('Hello');
  });

  test('needs no more than the reason for its end', async () => {
    const answer: Answer = (_, response) => {
      sse(response, anthropic.slice(0, -1));
      response.end();
    };
    expect(textIn(await answered(answer, { id: 'anthropic:m' }))).toBe('Hello');
  });

  test('may break off after the reason for its end', async () => {
    const answer: Answer = (_, response) => {
      sse(response, chat);
      setTimeout(() => response.destroy(), 200);
    };
    expect(textIn(await answered(answer))).toBe('Hello');
  });
});

describe('values of another kind', () => {
  test.each([
    ['no choices', { choices: null }],
    ['a number as id', { ...Object(chunk({})), id: 5 }],
    ['a time as text', { ...Object(chunk({})), created: '2026-11-20' }],
    ['an unknown role', chunk({ role: 'model' })],
    ['reasoning in an object', chunk({ reasoning: { text: 'hm' } })],
    ['a call without a function', chunk({ tool_calls: [{ index: 0, id: 'a', function: null }] })],
    ['no error', { ...Object(chunk({})), error: null }],
  ])('%s loses no reply', async (_, event) => {
    for (const id of ['local:m', 'openai:m'])
      expect(textIn(await answered(streamed(event, ...chat), { id }))).toBe('Hello');
  });

  test('a number is content', async () => {
    expect(textIn(await answered(streamed(chunk({ content: 4 }), chunk({}, 'stop'))))).toBe('4');
  });

  test.each([
    ['an index as text', [{ index: '0', id: 'a' }]],
    ['an empty index', [{ index: null, id: 'a' }]],
    ['a number as id', [{ index: 0, id: 7 }]],
    ['another type', [{ index: 0, id: 'a', type: 'tool' }]],
    ['no list', { index: 0, id: 'a' }],
  ])('a call is made despite %s', async (_, given) => {
    const written = { function: { name: 'roll_dice', arguments: '{"sides":6}' } };
    const tool_calls = Array.isArray(given) ? given.map((one) => ({ ...one, ...written })) : { ...given, ...written };
    for (const id of ['local:m', 'openai:m']) {
      const parts = await answered(streamed(chunk({ tool_calls }), chunk({}, 'tool_calls')), { id });
      expect(parts).toContainEqual(
        expect.objectContaining({ call: expect.objectContaining({ tool: 'roll_dice', input: { sides: 6 } }) }),
      );
    }
  });

  test('counts may be texts', async () => {
    const usage = { prompt_tokens: '12', completion_tokens: '3' };
    const parts = await answered(streamed(...chat, { choices: [], usage }));
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 12, outputTokens: 3 } });
  });

  test('strange counts of Anthropic lose no reply', async () => {
    const usage = { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 'none' };
    const start = { type: 'message_start', message: { id: 'm', content: [], model: 'm', usage } };
    const events = [start, ...anthropic.slice(1)];
    const parts = await answered(
      (_, response) => {
        sse(response, events);
        response.end();
      },
      { id: 'anthropic:m' },
    );
    expect(textIn(parts)).toBe('Hello');
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 9, outputTokens: 2 } });
  });

  test('strange counts of Ollama lose no reply', async () => {
    const counted = { done: true, prompt_eval_count: 7, eval_count: '2', total_duration: 'long' };
    const parts = await answered(lines(ollama[0], counted), { id: 'ollama:m' });
    expect(textIn(parts)).toBe('Hello');
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 7, outputTokens: 2 } });
  });
});

describe('an answer of Google', () => {
  const end = google[1];
  test.each<[string, readonly unknown[]]>([
    [
      'counts that are texts',
      [google[0], { ...Object(end), usageMetadata: { promptTokenCount: '12', candidatesTokenCount: '3' } }],
    ],
    [
      'details of another form',
      [{ ...Object(google[0]), usageMetadata: { promptTokensDetails: [{ modality: 'TEXT', tokenCount: '9' }] } }, end],
    ],
    ['counts in a list', [{ ...Object(google[0]), usageMetadata: [] }, end]],
    ['ratings that are no list', [said([{ text: 'Hel' }], { safetyRatings: 'none' }), end]],
    [
      'sources without an address',
      [said([{ text: 'Hel' }], { groundingMetadata: { groundingChunks: [{ web: {} }] } }), end],
    ],
    ['a number as the reason', [{ ...Object(google[0]), promptFeedback: { blockReason: 0 } }, end]],
    ['a thought marked by a text', [said([{ text: 'Hm.', thought: 'true' }]), ...google]],
    ['no parts', [said(null), ...google]],
  ])('may have %s', async (_, events) => {
    const parts = await answered(streamed(...events), { id: 'google:m' });
    expect(textIn(parts)).toBe('Hello');
    expect(parts.at(-1)).toMatchObject({ reason: 'stop', usage: { inputTokens: 12, outputTokens: 3 } });
  });

  test('may be one object or a list', async () => {
    for (const body of [google, { ...said([{ text: 'Hello' }], { finishReason: 'STOP' }), ...counted }]) {
      const answer: Answer = (_, response) => void response.end(JSON.stringify(body));
      expect(textIn(await answered(answer, { id: 'google:m' }))).toBe('Hello');
    }
  });

  test('may call with a number as the id', async () => {
    const call = { functionCall: { id: 7, name: 'roll_dice', args: { sides: 6 } } };
    const parts = await answered(streamed(said([call], { finishReason: 'STOP' })), { id: 'google:m' });
    expect(parts).toContainEqual({ kind: 'call', call: { callId: '7', tool: 'roll_dice', input: { sides: 6 } } });
  });

  test('names why it ended early', async () => {
    const answer = streamed(said([], { finishReason: 'MALFORMED_FUNCTION_CALL' }));
    const failure = expect(answered(answer, { id: 'google:m' })).rejects;
    await failure.toThrow('the answer ended before it was complete (MALFORMED_FUNCTION_CALL)');
  });

  test('may be an error in a list', async () => {
    const answer: Answer = (_, response) =>
      void response.end('[{"error": {"code": 429, "message": "Resource has been exhausted"}}]');
    await expect(answered(answer, { id: 'google:m' })).rejects.toMatchObject({ reason: 'rate-limit' });
  });
});

describe('a user and a password in an address', () => {
  async function heard(id: string, more: { readonly apiKey?: string; readonly query?: string } = {}) {
    await using server = await serve((request, response) => {
      if (request.method === 'GET' || request.url === '/api/show') response.writeHead(404).end();
      else response.writeHead(500).end();
    });
    const url = server.url.replace('//', '//me:sesame%20street@');
    const local = { ...more, baseUrl: `${url}/v1${more.query ?? ''}` };
    const environment = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url, OLLAMA_HOST: url };
    const models = createAiSdkModels({ environment, providers: { local }, log: silentLog });
    await expect(collect(await models.open(id), ask('hi'))).rejects.toMatchObject({ reason: 'transient' });
    return server.received.map(({ headers }) => headers.authorization);
  }
  const basic = `Basic ${Buffer.from('me:sesame street').toString('base64')}`;

  test.each(['local:m', 'anthropic:m', 'ollama:m'])('are sent with each request of %s', async (id) => {
    expect(new Set(await heard(id))).toEqual(new Set([basic]));
  });

  test('are sent next to what follows the path', async () => {
    expect(await heard('local:m', { query: '?api-version=1' })).toContain(basic);
  });

  test('give way to a key', async () => {
    expect(new Set(await heard('local:m', { apiKey: 'secret' }))).toEqual(new Set(['Bearer secret']));
  });
});

describe('the error', () => {
  test.each(['local:m', 'openai:m'])('of %s shows no text of the answer', async (id) => {
    const secret = 'the surprise party';
    for (const event of [`{"choices":[{"delta":{"content":"${secret}`, chunk({ content: { secret } })]) {
      const error = await answered(streamed(event), { id }).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ reason: 'transient' });
      expect(String(error)).not.toContain('surprise');
    }
  });

  test('is not guessed from the text of the answer', async () => {
    const event = '{"choices":[{"delta":{"content":"a rate limit exceeded the context window';
    await expect(answered(streamed(event))).rejects.toMatchObject({ reason: 'transient' });
  });

  test.each(['local:m', 'openai:m'])('of %s may be a field of its own', async (id) => {
    const answer: Answer = (_, response) => {
      sse(response, [chunk({ content: 'Hel' })]);
      response.end('error: {"code":500,"message":"Context size has been exceeded.","type":"server_error"}\n\n');
    };
    await expect(answered(answer, { id })).rejects.toMatchObject({ reason: 'overflow' });
  });

  test('at the beginning of a stream is told', async () => {
    const failure = answered(streamed({ error: 'inputs must have less than 4096 tokens' }), { id: 'openai:m' });
    await expect(failure).rejects.toThrow(/inputs must have less than 4096 tokens/);
  });
});
