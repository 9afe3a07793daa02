import { describe, expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ChatModel } from '../../../src/adapter-kit.ts';
import { billedTokens } from '../../../src/costs/usage.ts';
import { otherRefusals, overflows } from '../../fixtures/models-refusals.ts';
import { ask, collect, finishIn, rollDice, silentLog, textIn } from '../../fixtures/models-requests.ts';
import { type Answer, chunk, claude, serve, sse, type TestServer } from '../../fixtures/models-server.ts';

const limits = { firstPartMs: 5000, nextPartMs: 5000 };

/** A model whose provider is the server; `id` decides which interface it uses. */
async function open(server: TestServer, id = 'local:m', own = limits): Promise<ChatModel> {
  const { url } = server;
  const turned: typeof fetch = (input, init) => fetch(String(input).replace('https://api.openai.com', url), init);
  const models = createAiSdkModels({
    environment: {
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: 'k',
      GEMINI_API_KEY: 'k',
      GOOGLE_GENERATIVE_AI_BASE_URL: url,
      OLLAMA_HOST: url,
    },
    providers: { local: { baseUrl: `${url}/v1`, apiKey: 'secret' } },
    builtIn: {},
    fetch: turned,
    limits: own,
    log: silentLog,
  });
  return models.open(id);
}

/** Requests for the abilities of a model get an empty answer; calls get the given one. */
function chat(answer: Answer): Answer {
  return (request, response) => {
    if (request.method === 'POST' && !request.url.endsWith('/api/show')) answer(request, response);
    else response.writeHead(404).end('{}');
  };
}

describe('refusals over HTTP', () => {
  test.each([...overflows, ...otherRefusals])('$name', async ({ status, body, headers, reason, ...facts }) => {
    await using server = await serve(
      chat((_, response) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
      }),
    );
    const failure = await collect(await open(server), ask('hello')).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'MODEL_FAILED', reason });
    if (facts.windowTokens !== undefined) expect(failure).toMatchObject({ windowTokens: facts.windowTokens });
    if (facts.retryAfterMs !== undefined) expect(failure).toMatchObject({ retryAfterMs: facts.retryAfterMs });
    expect(String(failure)).not.toContain('secret');
    expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('no error shows the key that a server repeats', async () => {
    const body = '{"error":{"message":"The key secret is not valid here, only public-secret"}}';
    await using server = await serve(
      chat((_, response) => {
        response.writeHead(401, { 'content-type': 'application/json' }).end(body);
      }),
    );
    const failure = await collect(await open(server), ask('hello')).catch((error: unknown) => error);
    expect(String(failure)).toContain('The key *** is not valid here');
    expect(String(failure)).not.toContain('secret');
  });

  test('no error shows the password in an address', async () => {
    await using server = await serve(({ headers, url }, response) => {
      const basic = String(headers.authorization).replace('Basic ', '');
      const message = `${Buffer.from(basic, 'base64')} at ${url} is not ${basic}`;
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    });
    const providers = { local: { baseUrl: `${server.url.replace('//', '//me:sesame-street@')}/v1` } };
    const models = createAiSdkModels({ environment: {}, providers, limits, log: silentLog });
    const failure = await collect(await models.open('local:m'), ask('hello')).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'MODEL_FAILED',
      data: { detail: expect.stringMatching(/^me:\*{3} at .* is not \*{3} /) },
    });
    expect(String(failure)).not.toContain('sesame');
  });

  test('a model found without tools says so in its traits', async () => {
    await using server = await serve(
      chat((request, response) => {
        if (request.body?.['tools'] !== undefined) response.writeHead(400).end('{"error":"m does not support tools"}');
        else {
          sse(response, [chunk({ content: 'fine' }), chunk({}, 'stop'), '[DONE]']);
          response.end();
        }
      }),
    );
    const model = await open(server);
    expect(model.traits.tools).toBe(true);
    await expect(collect(model, ask('hello', { tools: [rollDice] }))).rejects.toMatchObject({ reason: 'unsupported' });
    expect(model.traits.tools).toBe(false);
    expect(textIn(await collect(model, ask('hello')))).toBe('fine');
  });

  test('a model found without images says so in its traits', async () => {
    const url = 'data:image/png;base64,AAAA';
    const content = [{ kind: 'image', mediaType: 'image/png', url }] as const;
    await using server = await serve(
      chat((request, response) => {
        if (JSON.stringify(request.body).includes('image_url')) {
          response
            .writeHead(400)
            .end('{"error":{"message":"messages[1]: unknown variant `image_url`, expected `text`"}}');
        } else {
          sse(response, [chunk({ content: 'fine' }), chunk({}, 'stop'), '[DONE]']);
          response.end();
        }
      }),
    );
    const environment = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1` };
    const model = await createAiSdkModels({ environment, log: silentLog }).open('openai:m');
    const request = ask('hello', { tools: [rollDice], messages: [{ role: 'user', content }] });
    await expect(collect(model, request)).rejects.toMatchObject({ reason: 'unsupported' });
    expect(model.traits).toMatchObject({ images: false, tools: true });
    expect(textIn(await collect(model, request))).toBe('fine');
  });

  test('a server that is not there is transient', async () => {
    const server = await serve(() => {});
    const model = await open(server).catch(() => null);
    await server[Symbol.asyncDispose]();
    expect(model).not.toBeNull();
    if (model !== null) await expect(collect(model, ask('hello'))).rejects.toMatchObject({ reason: 'transient' });
  });
});

const tooLong = {
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  param: 'input',
};

describe('errors inside of a stream', () => {
  test.each([
    ['before any output', []],
    [
      'after some output',
      [
        { type: 'response.created', sequence_number: 0, response: { id: 'r', created_at: 1, model: 'gpt-5' } },
        { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { type: 'message', id: 'i' } },
        { type: 'response.output_text.delta', sequence_number: 2, item_id: 'i', output_index: 0, delta: 'Hel' },
      ],
    ],
  ])('an overflow of the Responses interface %s', async (_, before) => {
    await using server = await serve(
      chat((__, response) => {
        sse(response, [...before, { type: 'error', sequence_number: 9, error: tooLong }]);
        response.end();
      }),
    );
    await expect(collect(await open(server, 'openai:gpt-5'), ask('hello'))).rejects.toMatchObject({
      reason: 'overflow',
    });
  });

  test('a failed response of the Responses interface', async () => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [
          {
            type: 'response.failed',
            sequence_number: 1,
            response: { id: 'r', error: { code: 'server_error', message: 'The model is down' }, usage: null },
          },
        ]);
        response.end();
      }),
    );
    await expect(collect(await open(server, 'openai:gpt-5'), ask('hello'))).rejects.toMatchObject({
      reason: 'transient',
    });
  });

  test.each([
    ['overloaded_error', 'Overloaded', 'transient'],
    ['invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'overflow'],
    ['rate_limit_error', 'Number of requests has exceeded your rate limit', 'rate-limit'],
  ])('%s of Anthropic', async (type, message, reason) => {
    await using server = await serve(
      chat((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`);
      }),
    );
    await expect(collect(await open(server, 'anthropic:claude-haiku-4-5'), ask('hello'))).rejects.toMatchObject({
      reason,
    });
  });

  test('an error chunk of a compatible server', async () => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [
          chunk({ content: 'Hel' }),
          { error: { message: "exceeds the model's maximum context length of 4096 tokens", code: 400 } },
        ]);
        response.end();
      }),
    );
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({
      reason: 'overflow',
      windowTokens: 4096,
    });
  });

  test.each([
    ['CUDA out of memory', undefined, 'transient'],
    ['EngineCore encountered an issue.', 'InternalServerError', 'transient'],
    ['Invalid value for logit_bias', 'invalid_request_error', 'fatal'],
    ['top_k must be positive', 'BadRequestError', 'fatal'],
  ])('"%s" without a number', async (message, type, reason) => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [{ error: { message, type } }]);
        response.end();
      }),
    );
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({ reason });
  });

  test('an error line of Ollama', async () => {
    await using server = await serve(
      chat((_, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.end(`${JSON.stringify({ error: 'prompt too long; exceeded max context length by 100 tokens' })}\n`);
      }),
    );
    await expect(collect(await open(server, 'ollama:m'), ask('hello'))).rejects.toMatchObject({ reason: 'overflow' });
  });
});

const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 0, cache_read_input_tokens: 90, cache_creation_input_tokens: 3 },
  },
};
const anthropicText = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
];

describe('answers that break off', () => {
  const shapes: readonly (readonly [string, string, readonly unknown[]])[] = [
    ['a compatible server', 'local:m', [chunk({ content: 'Hel' })]],
    [
      'the Responses interface',
      'openai:gpt-5',
      [
        { type: 'response.created', sequence_number: 0, response: { id: 'r', created_at: 1, model: 'gpt-5' } },
        { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { type: 'message', id: 'i' } },
        { type: 'response.output_text.delta', sequence_number: 2, item_id: 'i', output_index: 0, delta: 'Hel' },
      ],
    ],
    ['Anthropic', 'anthropic:claude-haiku-4-5', [anthropicStart, ...anthropicText.slice(0, 2)]],
    ['Google', 'google:gemini-2.5-flash', [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] } }] }]],
  ];

  test.each(shapes)('%s ends without saying that it is done', async (_, id, events) => {
    await using server = await serve(
      chat((__, response) => {
        sse(response, events);
        response.end();
      }),
    );
    await expect(collect(await open(server, id), ask('hello'))).rejects.toMatchObject({ reason: 'transient' });
  });

  test.each(shapes)('the connection to %s is lost', async (_, id, events) => {
    await using server = await serve(
      chat((__, response) => {
        sse(response, events);
        setTimeout(() => response.destroy(), 30);
      }),
    );
    await expect(collect(await open(server, id), ask('hello'))).rejects.toMatchObject({ reason: 'transient' });
  });

  test('Ollama ends without saying that it is done', async () => {
    await using server = await serve(
      chat((_, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.end(
          `${JSON.stringify({ model: 'm', created_at: '2026-11-20T10:00:00Z', message: { role: 'assistant', content: 'Hel' }, done: false })}\n`,
        );
      }),
    );
    await expect(collect(await open(server, 'ollama:m'), ask('hello'))).rejects.toMatchObject({ reason: 'transient' });
  });

  test.each([
    ['nothing at all', ''],
    ['garbage', 'data: {"choices": [{"delta"\n\n'],
    ['a page of HTML', '<html>please log in</html>'],
  ])('a stream of %s is a failure', async (_, body) => {
    await using server = await serve(
      chat((__, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
      }),
    );
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({ reason: 'transient' });
  });

  test('an answer cut at the limit says so', async () => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [chunk({ content: 'Hel' }), chunk({}, 'length'), '[DONE]']);
        response.end();
      }),
    );
    expect(finishIn(await collect(await open(server), ask('hello'))).reason).toBe('length');
  });

  test('a full window of Anthropic is an overflow despite 200', async () => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [
          anthropicStart,
          ...anthropicText,
          {
            type: 'message_delta',
            delta: { stop_reason: 'model_context_window_exceeded', stop_sequence: null },
            usage: { output_tokens: 2 },
          },
          { type: 'message_stop' },
        ]);
        response.end();
      }),
    );
    await expect(collect(await open(server, 'anthropic:claude-haiku-4-5'), ask('hello'))).rejects.toMatchObject({
      reason: 'overflow',
    });
  });

  test('an empty answer at a full window is an overflow', async () => {
    await using server = await serve((request, response) => {
      if (request.method === 'GET') {
        response.end(JSON.stringify({ data: [{ id: 'm', max_model_len: 1000 }] }));
        return;
      }
      const usage = { prompt_tokens: 999, completion_tokens: 0, total_tokens: 999 };
      sse(response, [
        chunk({}, 'length'),
        { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage },
        '[DONE]',
      ]);
      response.end();
    });
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({ reason: 'overflow' });
  });

  test('Anthropic’s input includes cached tokens', async () => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [
          anthropicStart,
          ...anthropicText,
          {
            type: 'message_delta',
            delta: { stop_reason: 'end_turn', stop_sequence: null },
            usage: { output_tokens: 2 },
          },
          { type: 'message_stop' },
        ]);
        response.end();
      }),
    );
    const { usage } = finishIn(await collect(await open(server, 'anthropic:claude-haiku-4-5'), ask('hello')));
    const cached = { cacheReadTokens: 90, cacheWriteTokens: 3 };
    expect(usage).toEqual({ inputTokens: 100, outputTokens: 2, ...cached, reasoningTokens: 0 });
  });

  test('Anthropic’s writes for an hour are counted apart', async () => {
    const start = structuredClone(anthropicStart);
    Object.assign(start.message.usage, { cache_creation: { ephemeral_1h_input_tokens: 2 } });
    await using server = await serve(
      chat((_, response) => {
        const delta = { stop_reason: 'end_turn', stop_sequence: null };
        const ended = [{ type: 'message_delta', delta, usage: { output_tokens: 2 } }, { type: 'message_stop' }];
        sse(response, [start, ...anthropicText, ...ended]);
        response.end();
      }),
    );
    const { usage } = finishIn(await collect(await open(server, 'anthropic:claude-haiku-4-5'), ask('hello')));
    expect(usage).toMatchObject({ cacheWriteTokens: 3, hourCacheWriteTokens: 2 });
  });

  test("Anthropic's own passes over the context are billed, not seen", async () => {
    const passed = { type: 'compaction', input_tokens: 180_000, output_tokens: 3500, cache_read_input_tokens: 1000 };
    const answered = { type: 'message', input_tokens: 7, output_tokens: 2, cache_read_input_tokens: 90 };
    const usage = { output_tokens: 2, iterations: [passed, answered], output_tokens_details: { thinking_tokens: 1 } };
    await using server = await serve(
      chat((_, response) => {
        const delta = { stop_reason: 'end_turn', stop_sequence: null };
        const ended = [{ type: 'message_delta', delta, usage }, { type: 'message_stop' }];
        sse(response, [anthropicStart, ...anthropicText, ...ended]);
        response.end();
      }),
    );
    const reported = finishIn(await collect(await open(server, 'anthropic:claude-haiku-4-5'), ask('hello'))).usage;
    expect(reported).toEqual({
      inputTokens: 97,
      outputTokens: 2,
      cacheReadTokens: 90,
      cacheWriteTokens: 0,
      reasoningTokens: 1,
      ownPasses: { inputTokens: 181_000, outputTokens: 3500, cacheReadTokens: 1000, cacheWriteTokens: 0 },
    });
    expect(billedTokens(reported)).toMatchObject({ inputTokens: 181_097, outputTokens: 3502, cacheReadTokens: 1090 });
  });
});

describe('silence', () => {
  test('gives up a silent server at our own limit', async () => {
    await using server = await serve(chat(() => {}));
    const model = await open(server, 'local:m', { firstPartMs: 100, nextPartMs: 5000 });
    await expect(collect(model, ask('hello'))).rejects.toMatchObject({ reason: 'timeout' });
  });

  test('leaves a silent server when the caller gives up', async () => {
    await using server = await serve(chat(() => {}));
    const model = await open(server);
    await expect(collect(model, ask('hello'), AbortSignal.timeout(100))).rejects.toMatchObject({ reason: 'timeout' });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await expect(collect(model, ask('hello'), stop.signal)).rejects.toMatchObject({ reason: 'aborted' });
    await expect(collect(model, ask('hello'), AbortSignal.abort())).rejects.toMatchObject({ reason: 'aborted' });
  });

  test('never takes an answer that fell silent for complete', async () => {
    await using server = await serve(
      chat((_, response) => sse(response, [chunk({ content: 'Hel' }), chunk({ content: 'lo' })])),
    );
    const model = await open(server, 'local:m', { firstPartMs: 5000, nextPartMs: 100 });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const part of model.stream(ask('hello'), { signal: AbortSignal.timeout(5000) })) seen.push(part.kind);
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'timeout' });
    expect(seen).toContain('text');
    expect(seen).not.toContain('finish');
  });

  test('a model that reasons may be silent for longer', async () => {
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    await using server = await serve(
      chat((_, response) => {
        sse(response, [anthropicStart, { type: 'content_block_start', index: 0, content_block: thinking }]);
        setTimeout(() => {
          sse(response, [{ type: 'content_block_stop', index: 0 }, ...claude('Four.', 'end_turn').slice(1)]);
          response.end();
        }, 600);
      }),
    );
    const model = await open(server, 'anthropic:claude-haiku-4-5', { firstPartMs: 5000, nextPartMs: 200 });
    expect(textIn(await collect(model, ask('hello')))).toBe('Four.');
  });

  test('a slow reader is not taken for a silent server', async () => {
    await using server = await serve(
      chat((_, response) => {
        sse(response, [chunk({ content: 'Hel' })]);
        setTimeout(() => {
          sse(response, [chunk({ content: 'lo' }), chunk({}, 'stop'), '[DONE]']);
          response.end();
        }, 500);
      }),
    );
    const model = await open(server, 'local:m', { firstPartMs: 5000, nextPartMs: 300 });
    let text = '';
    for await (const part of model.stream(ask('hello'), { signal: AbortSignal.timeout(5000) })) {
      if (part.kind === 'text') text += part.text;
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect(text).toBe('Hello');
  });

  test('a reader who leaves early ends the request', async () => {
    let closed = false;
    await using server = await serve(
      chat((_, response) => {
        sse(response, [chunk({ content: 'Hel' })]);
        response.on('close', () => {
          closed = true;
        });
      }),
    );
    for await (const part of (await open(server)).stream(ask('hello'), { signal: AbortSignal.timeout(5000) })) {
      if (part.kind === 'text') break;
    }
    await expect.poll(() => closed).toBe(true);
  });
});
