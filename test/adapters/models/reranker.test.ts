import { useAimock } from '@copilotkit/aimock/vitest';
import { describe, expect, it } from 'vitest';
import { createHttpReranker } from '../../../adapters/rerankers/http/index.ts';
import { startJsonServer } from '../../support/json-server.ts';

const mock = useAimock({ strict: true, port: 0 });
const { signal } = new AbortController();
const texts = ['The weather is fine.', 'My tent is orange.', 'The tent has a door.'];
const asked = { model: 'local:small', question: 'What colour is my tent?', texts, timeoutMs: 500, signal };

describe('a reranker over HTTP', () => {
  it('gives each text its score', async () => {
    const { llm, url } = mock();
    const results = [
      { index: 1, relevance_score: 0.9 },
      { index: 2, relevance_score: 0.4 },
    ];
    llm.onRerank(/tent/, results);
    const reranker = createHttpReranker({ providers: { local: { baseUrl: `${url}/v2` } } });
    expect(await reranker.rerank(asked)).toEqual([Number.NEGATIVE_INFINITY, 0.9, 0.4]);
  });

  it('gives each text its vector', async () => {
    const { llm, url } = mock();
    llm.onEmbedding(/.*/u, { embedding: [0.25, -1, 3] });
    const reranker = createHttpReranker({ providers: { local: { baseUrl: `${url}/v1/` } } });
    expect(await reranker.embed(asked)).toEqual(texts.map(() => [0.25, -1, 3]));
  });

  it('puts vectors into the order of the texts', async () => {
    const data = [2, 0, 1].map((index) => ({ index, embedding: [index] }));
    await using server = await startJsonServer(() => ({ body: { data } }));
    const reranker = createHttpReranker({ providers: { local: { baseUrl: server.url } } });
    expect(await reranker.embed(asked)).toEqual([[0], [1], [2]]);
  });

  it('sends the question, the texts and the key', async () => {
    const results = [{ index: 0, relevance_score: 1 }];
    await using server = await startJsonServer(() => ({ body: { results } }));
    const reranker = createHttpReranker({ providers: { local: { baseUrl: server.url, apiKey: 'secret' } } });
    await reranker.rerank(asked);
    const [{ path, authorization, body } = { path: '', authorization: '', body: '' }] = server.requests;
    expect({ path, authorization }).toEqual({ path: '/rerank', authorization: 'Bearer secret' });
    expect(JSON.parse(body)).toEqual({ model: 'small', query: asked.question, documents: texts, top_n: 3 });
  });

  it.each([
    ['an error', { status: 500, body: { error: 'What colour is my tent?' } }, '/rerank answered 500'],
    ['another form', { body: { scores: [1] } }, 'results'],
    ['too much', { body: 'x'.repeat(17_000_000) }, 'more than 16000000 bytes'],
    ['no scores', { body: { results: [] } }, 'The server ranked no text'],
  ])('rejects %s', async (_, answer, message) => {
    await using server = await startJsonServer(() => answer);
    const reranker = createHttpReranker({ providers: { local: { baseUrl: server.url } } });
    await expect(reranker.rerank(asked)).rejects.toThrow(message);
  });

  it('hides the password in an address from its errors', async () => {
    const reranker = createHttpReranker({ providers: { local: { baseUrl: 'http://me:sesame-street@127.0.0.1:1' } } });
    await expect(reranker.rerank(asked)).rejects.toThrow('***/rerank');
  });

  it('quotes nothing of an answer that is not JSON', async () => {
    await using server = await startJsonServer(() => ({ body: null, text: 'What colour is my tent?' }));
    const reranker = createHttpReranker({ providers: { local: { baseUrl: server.url } } });
    await expect(reranker.rerank(asked)).rejects.toThrow(/^\/rerank answered something other than JSON$/u);
  });

  it('rejects a provider without an address', async () => {
    const reranker = createHttpReranker({ providers: { local: { baseUrl: '' } } });
    await expect(reranker.embed(asked)).rejects.toThrow('local:small has no base_url in [providers]');
    await expect(reranker.rerank({ ...asked, model: 'other:m' })).rejects.toThrow('other:m has no base_url');
  });
});
