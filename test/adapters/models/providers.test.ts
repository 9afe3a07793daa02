import { useAimock } from '@copilotkit/aimock/vitest';
import { beforeEach, describe, expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ChatModel } from '../../../src/adapter-kit.ts';
import { ask, collect, finishIn, rollDice, silentLog, textIn } from '../../fixtures/models-requests.ts';

const mock = useAimock({ strict: true, port: 0 });

beforeEach(() => {
  mock().llm.clearFixtures();
  mock().llm.clearRequests();
});

/** Each has its own wire format. Only OpenAI's address has the Responses interface, so its calls are redirected. */
const shapes = [
  'local:m',
  'openai:gpt-4.1-mini',
  'openai-responses',
  'anthropic:claude-haiku-4-5',
  'google:gemini-2.5-flash',
  'openrouter:openai/gpt-4.1-mini',
  'ollama:llama3.2',
] as const;

async function open(shape: (typeof shapes)[number]): Promise<ChatModel> {
  const { url } = mock();
  const own = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' };
  if (shape === 'openai-responses') {
    const turned: typeof fetch = (input, init) => fetch(String(input).replace('https://api.openai.com', url), init);
    const models = createAiSdkModels({ environment: own, providers: {}, builtIn: {}, fetch: turned, log: silentLog });
    return models.open('openai:gpt-4.1-mini');
  }
  const environment = {
    ...own,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_BASE_URL: url,
    GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta`,
    OPENROUTER_BASE_URL: `${url}/api/v1`,
    OLLAMA_HOST: url,
  };
  const providers = { local: { baseUrl: `${url}/v1` } };
  return createAiSdkModels({ environment, providers, builtIn: {}, log: silentLog }).open(shape);
}

/** The same figures under the names of every provider. */
const usage = {
  prompt_tokens: 11,
  completion_tokens: 4,
  input_tokens: 11,
  output_tokens: 4,
  promptTokenCount: 11,
  candidatesTokenCount: 4,
};

describe.each(shapes)('%s', (shape) => {
  test('streams a reply in pieces and reports usage', async () => {
    mock().llm.on(
      { userMessage: 'hello' },
      { content: 'Hello there, my dear old friend of many years.', usage },
      { chunkSize: 5 },
    );
    const parts = await collect(await open(shape), ask('hello'));
    expect(textIn(parts)).toBe('Hello there, my dear old friend of many years.');
    expect(parts.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(2);
    const { reason, usage: reported } = finishIn(parts);
    expect(reason).toBe('stop');
    // The mock's Ollama reports nothing, as some servers do.
    expect(reported.inputTokens).toBe(shape.startsWith('ollama') ? 0 : 11);
    expect(reported.outputTokens).toBe(shape.startsWith('ollama') ? 0 : 4);
  });

  test('sends system text, history and limit, not the purpose', async () => {
    mock().llm.on({ userMessage: 'hello' }, { content: 'ok' });
    await collect(await open(shape), ask('hello', { purpose: 'extract' }));
    const request = mock().llm.getRequests().at(-1);
    const text = JSON.stringify(request?.body);
    for (const part of ['You are a bot.', 'Earlier they said hello.', 'first', 'second', 'hello'])
      expect(text).toContain(part);
    expect(text).not.toContain('extract');
    expect(text.indexOf('You are a bot.')).toBeLessThan(text.indexOf('Earlier they said'));
  });

  test('hands over tool calls, and takes their results back', async () => {
    mock().llm.on(
      { userMessage: 'roll', hasToolResult: false },
      { toolCalls: [{ name: 'roll_dice', arguments: '{"sides":6}' }], finishReason: 'stop' },
    );
    mock().llm.on({ userMessage: 'roll', hasToolResult: true }, { content: 'You rolled 4.' });
    const model = await open(shape);
    const parts = await collect(model, ask('roll', { tools: [rollDice] }));
    expect(parts).toContainEqual({
      kind: 'call',
      call: { callId: expect.any(String), tool: 'roll_dice', input: { sides: 6 } },
    });
    expect(finishIn(parts).reason).toBe('tool-calls');
    const { messages } = ask('roll');
    const after = await collect(
      model,
      ask('', {
        tools: [rollDice],
        messages: [
          ...messages,
          { role: 'assistant', text: '', calls: [{ callId: '3.1.1', tool: 'roll_dice', input: { sides: 6 } }] },
          { role: 'tool', results: [{ callId: '3.1.1', tool: 'roll_dice', text: '4', isError: false }] },
        ],
      }),
    );
    expect(textIn(after)).toBe('You rolled 4.');
  });

  test('hands over several calls of one step', async () => {
    mock().llm.on(
      { userMessage: 'roll' },
      {
        toolCalls: [1, 2].map((sides) => ({ name: 'roll_dice', arguments: `{"sides":${sides}}` })),
        finishReason: 'stop',
      },
    );
    const parts = await collect(await open(shape), ask('roll', { tools: [rollDice] }));
    const inputs = parts.flatMap((part) => (part.kind === 'call' ? [part.call.input] : []));
    expect(inputs).toEqual([{ sides: 1 }, { sides: 2 }]);
  });

  test('asks for JSON and gives its text', async () => {
    mock().llm.on({ userMessage: 'summarise' }, { content: '{"summary":"all well"}' });
    const parts = await collect(await open(shape), ask('summarise as a JSON object', { json: true }));
    expect(JSON.parse(textIn(parts))).toEqual({ summary: 'all well' });
  });

  test('a refusal for size reveals the window', async () => {
    const message = "This model's maximum context length is 2000 tokens. However, you requested 3000 tokens.";
    mock().llm.on(
      { userMessage: 'big' },
      { status: 400, error: { code: 'context_length_exceeded', type: 'invalid_request_error', message } },
    );
    const model = await open(shape);
    await expect(collect(model, ask('big'))).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      reason: 'overflow',
      windowTokens: 2000,
    });
    expect(model.traits.windowTokens).toBe(2000);
  });

  test('reports a rate limit’s delay and does not retry', async () => {
    mock().llm.on(
      { userMessage: 'busy' },
      { status: 429, retryAfter: 7, error: { type: 'rate_limit_error', message: 'slow down' } },
    );
    await expect(collect(await open(shape), ask('busy'))).rejects.toMatchObject({
      reason: 'rate-limit',
      retryAfterMs: 7000,
    });
    const calls = mock()
      .llm.getRequests()
      .filter(({ method, path }) => method === 'POST' && !path.includes('/api/show'));
    expect(calls).toHaveLength(1);
  });

  test('a server error is transient', async () => {
    mock().llm.on(
      { userMessage: 'broken' },
      { status: 500, error: { type: 'server_error', message: 'The server had an error' } },
    );
    await expect(collect(await open(shape), ask('broken'))).rejects.toMatchObject({ reason: 'transient' });
  });

  test('a connection that breaks inside the answer is a failure', async () => {
    mock().llm.on(
      { userMessage: 'cut' },
      { content: 'This answer will never be whole because the line breaks.' },
      { chunkSize: 4, truncateAfterChunks: 4 },
    );
    await expect(collect(await open(shape), ask('cut'))).rejects.toMatchObject({ reason: 'transient' });
  });

  test('a caller who gives up ends the call', async () => {
    mock().llm.on({ userMessage: 'slow' }, { content: 'word '.repeat(200) }, { chunkSize: 5, latency: 50 });
    const model = await open(shape);
    const stop = new AbortController();
    const parts: string[] = [];
    const reading = (async () => {
      for await (const part of model.stream(ask('slow'), { signal: stop.signal })) {
        parts.push(part.kind);
        stop.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'aborted' });
    expect(parts).not.toContain('finish');
  });

  test("a caller's time limit is a timeout", async () => {
    mock().llm.on({ userMessage: 'slow' }, { content: 'late' }, { chaos: { latencyMs: 5000 } });
    await expect(collect(await open(shape), ask('slow'), AbortSignal.timeout(150))).rejects.toMatchObject({
      reason: 'timeout',
    });
  });
});

test('cached input is reported where the provider tells it', async () => {
  const cached = { prompt_tokens: 2000, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 1900 } };
  mock().llm.on({ userMessage: 'hello' }, { content: 'ok', usage: cached });
  const { usage: reported } = finishIn(await collect(await open('openrouter:openai/gpt-4.1-mini'), ask('hello')));
  expect(reported).toMatchObject({ inputTokens: 2000, cacheReadTokens: 1900 });
});
