import { describe, expect, it } from 'vitest';
import { createFetch } from '../../adapters/channels/slack/web/request.ts';
import { createAiSdkModels } from '../../adapters/models/ai-sdk/index.ts';
import { createHttpReranker } from '../../adapters/rerankers/http/index.ts';
import { withinHost } from '../../src/util/within-host.ts';
import { ask, collect, silentLog } from '../fixtures/models-requests.ts';
import { serve } from '../fixtures/models-server.ts';
import type { SlackDouble } from '../fixtures/slack/double.ts';
import { slackForEachTest } from '../fixtures/slack/each-test.ts';
import { until } from '../fixtures/slack/kit.ts';

/** A server that redirects elsewhere must not pass on the key, or what people said. */

let slack: SlackDouble;
const { start } = slackForEachTest((double) => {
  slack = double;
});
const signal = AbortSignal.timeout(60_000);

describe('a model server that redirects to another one', () => {
  it.each([
    ['anthropic:claude-haiku-4-5', 307],
    ['google:gemini-2.5-flash', 308],
    ['openai:gpt-4.1', 302],
  ])('gives it nothing of %s', async (id, status) => {
    await using other = await serve((_, response) => response.writeHead(500).end());
    await using server = await serve(({ url }, response) =>
      response.writeHead(status, { location: `${other.url}${url}` }).end(),
    );
    const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
    const providers = Object.fromEntries(
      ['openai', 'anthropic', 'google'].map((name) => [name, { baseUrl: server.url, apiKey: 'secret' }]),
    );
    const models = createAiSdkModels({ environment, providers, builtIn: {}, log: silentLog });
    const failure = await collect(await models.open(id), ask('a secret')).catch((error: unknown) => error);
    expect(String(failure)).toContain(`redirects to ${new URL(other.url).host}`);
    expect(server.received.some(({ method }) => method === 'POST')).toBe(true);
    expect(other.received).toEqual([]);
  });
});

it('a reranker that redirects to another server gives it nothing', async () => {
  await using other = await serve((_, response) => response.writeHead(500).end());
  await using server = await serve(({ url }, response) => response.writeHead(307, { location: other.url + url }).end());
  const reranker = createHttpReranker({ providers: { local: { baseUrl: server.url, apiKey: 'secret' } } });
  const asked = reranker.rerank({
    model: 'local:m',
    question: 'a secret',
    texts: ['another'],
    timeoutMs: 60_000,
    signal,
  });
  await expect(asked).rejects.toThrow('redirects to');
  expect(other.received).toEqual([]);
});

it('a Web API that redirects elsewhere gives it no text', async () => {
  await using other = await serve((_, response) => response.end('{"ok":true,"ts":"1.2"}'));
  await using server = await serve((_, response) => response.writeHead(307, { location: other.url }).end());
  const url = `${server.url}/chat.postMessage`;
  const answer = await createFetch(`${server.url}/`)(url, { method: 'POST', body: '{"text":"a secret"}' });
  expect(answer.status).toBe(502);
  expect(server.received).toHaveLength(1);
  expect(other.received).toEqual([]);
});

it('the answer to a command follows no redirect', async () => {
  await using other = await serve((_, response) => response.end('ok'));
  await using server = await serve((_, response) => response.writeHead(307, { location: other.url }).end());
  const { sink } = await start();
  slack.slash('status', { response_url: server.url });
  await until('the answer', () => slack.answers.length === 1);
  expect(sink.commands).toHaveLength(1);
  expect(other.received).toEqual([]);
});

describe('a redirect', () => {
  const answerTo = async (location: string, from = 'http://models.example/v1') => {
    const asked: string[] = [];
    const send: typeof fetch = async (input, init) => {
      asked.push(`${init?.method} ${String(input)} ${String(init?.body)}`);
      return asked.length === 1 ? new Response(null, { status: 307, headers: { location } }) : new Response('done');
    };
    const response = await withinHost(send)(from, { method: 'POST', body: 'question' });
    return { text: await response.text(), asked };
  };

  it.each([
    ['/v2/', 'http://models.example/v2/'],
    ['https://models.example/v1', 'https://models.example/v1'],
  ])('to %s of the same host is followed once', async (location, to) => {
    const { text, asked } = await answerTo(location);
    expect(text).toBe('done');
    expect(asked).toEqual(['POST http://models.example/v1 question', `POST ${to} question`]);
  });

  it.each(['https://evil.example/v1', '//evil.example', 'http://models.example:8080/v1', 'http://[', 'file:///etc'])(
    'to %s is refused',
    async (location) => {
      await expect(answerTo(location)).rejects.toThrow('redirects to');
    },
  );

  it('never leads from https to http', async () => {
    await expect(answerTo('http://models.example/v1', 'https://models.example/v1')).rejects.toThrow('redirects to');
  });
});
