import { describe, expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ChatModel } from '../../../src/adapter-kit.ts';
import { filterRefusals } from '../../fixtures/models-filters.ts';
import { ask, collect, finishIn, silentLog, textIn } from '../../fixtures/models-requests.ts';
import { type Answer, chunk, claude, gemini, serve, sse } from '../../fixtures/models-server.ts';

async function openAt(url: string, id: string): Promise<ChatModel> {
  const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', ANTHROPIC_BASE_URL: url };
  const urls = { ...environment, OPENAI_BASE_URL: `${url}/v1`, GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta` };
  const providers = { local: { baseUrl: `${url}/v1` } };
  return await createAiSdkModels({ environment: urls, providers, builtIn: {}, fetch, log: silentLog }).open(id);
}

const counted = { prompt_tokens: 40, completion_tokens: 0, total_tokens: 40 };

describe('a filter that ends a stream', () => {
  test.each([
    ['google:gemini-2.5-flash', 'refused', gemini({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })],
    ['google:gemini-2.5-flash', 'filtered', gemini({ candidates: [{ finishReason: 'SAFETY', index: 0 }] })],
    ['anthropic:claude-haiku-4-5', 'refused', claude('', 'refusal')],
    ['anthropic:claude-haiku-4-5', 'filtered', claude('First, ', 'refusal')],
    ['local:m', 'refused', [{ ...Object(chunk({ content: '' }, 'content_filter')), usage: counted }, '[DONE]']],
    ['local:m', 'filtered', [chunk({ content: 'First, ' }, 'content_filter'), '[DONE]']],
  ] as const)('%s: %s', async (id, reason, events) => {
    const answer: Answer = ({ method }, response) =>
      (method === 'POST' ? sse(response, events) : null) ?? response.end();
    await using server = await serve(answer);
    const finish = finishIn(await collect(await openAt(server.url, id), ask('hello')));
    expect(finish.reason).toBe(reason);
    if (reason === 'refused') expect(finish.usage.inputTokens).toBe(40);
  });
});

const NO = "I can't help with that.";
const said = { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } };
const delta = { type: 'response.refusal.delta', item_id: 'm', output_index: 0, content_index: 0, delta: NO };
const done = { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm' } };
const whole = { incomplete_details: null, usage: { input_tokens: 40, output_tokens: 9 } };
const responded = [said, delta, done, { type: 'response.completed', response: whole }];
const completed = [chunk({ refusal: NO }), chunk({}, 'stop'), '[DONE]'];

describe('a refusal in words', () => {
  test.each([
    ['local:m', completed],
    ['openai:gpt-4.1', completed],
    ['openai:gpt-5.6-luna', responded],
  ] as const)('of %s is an answer', async (id, events) => {
    const environment = { OPENAI_API_KEY: 'k' };
    const providers = { local: { baseUrl: 'http://models.test/v1' } };
    // The newer interface is only spoken to the provider itself.
    const proxied = events === completed ? { OPENAI_BASE_URL: 'http://models.test/v1' } : {};
    const body = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    const send: typeof fetch = async () => new Response(body.join(''));
    const models = createAiSdkModels({ environment: { ...environment, ...proxied }, providers, fetch: send });
    const parts = await collect(await models.open(id), ask('hello'));
    expect(textIn(parts)).toBe(NO);
    expect(finishIn(parts).reason).toBe('declined');
  });
});

describe('a filter that answers with an error', () => {
  test.each(filterRefusals)('$name, over HTTP', async ({ status, body }) => {
    await using server = await serve((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    for (const id of ['local:m', 'openai:gpt-4.1']) {
      const asked = collect(await openAt(server.url, id), ask('hello'));
      await expect(asked).rejects.toMatchObject({ code: 'MODEL_FAILED', reason: 'refused' });
    }
    expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  test('OpenAI, in the middle of a stream', async () => {
    const error = {
      code: 'invalid_prompt',
      message: 'Invalid prompt: your prompt was flagged.',
      type: 'x',
      param: null,
    };
    await using server = await serve((_, response) => {
      sse(response, [{ error }]);
      response.end();
    });
    const asked = collect(await openAt(server.url, 'openai:gpt-4.1'), ask('hello'));
    await expect(asked).rejects.toMatchObject({ reason: 'refused' });
  });
});
