import {
  createRedactor,
  credentialsIn,
  describe,
  type Reranker,
  StrataError,
  withinHost,
} from '../../../src/adapter-kit.ts';
import { readScores, readVectors, toEmbeddingsBody, toRerankBody } from './map.ts';

/** The options of `createHttpReranker`. */
export interface HttpRerankerOptions {
  /** By the first part of the model: the address before `/rerank` or `/embeddings`, and the key if there is one. */
  readonly providers: Readonly<Record<string, { readonly baseUrl: string; readonly apiKey?: string }>>;
}

/** Many vectors of the longest kind take less. */
const MAX_RESPONSE_BYTES = 16_000_000;

const NO_PROVIDERS =
  'createHttpReranker needs providers, for example { providers: { local: { baseUrl: "http://127.0.0.1:8080/v1" } } }.';

/** Calls `/rerank` or `/embeddings` of a server such as Ollama, llama.cpp, vLLM, Infinity, Jina, Cohere or OpenAI. */
export function createHttpReranker(options: HttpRerankerOptions): Reranker {
  const { providers } = options ?? {};
  if (typeof providers !== 'object' || providers === null) throw new StrataError('USAGE', { problem: NO_PROVIDERS });
  const post = async (id: string, path: string, { body, signal }: { body: object; signal: AbortSignal }) => {
    const provider = providers[id.slice(0, id.indexOf(':'))];
    if (provider === undefined || provider.baseUrl === '') throw new Error(`${id} has no base_url in [providers]`);
    const { baseUrl, apiKey } = provider;
    const headers = {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
    const address = `${baseUrl.replace(/\/$/, '')}${path}`;
    const sent = { method: 'POST', headers, body: JSON.stringify(body), signal };
    const response = await withinHost(fetch)(address, sent).catch((error: unknown) => {
      // A client that accepts no password in an address repeats the address.
      throw new Error(createRedactor(credentialsIn(baseUrl))(describe(error)));
    });
    return await readJson(response, path);
  };
  return {
    async rerank({ model: id, question, texts, signal }) {
      const body = toRerankBody({ model: nameIn(id), question, texts });
      return readScores(await post(id, '/rerank', { body, signal }), texts.length);
    },
    async embed({ model: id, texts, signal }) {
      const body = toEmbeddingsBody({ model: nameIn(id), texts });
      return readVectors(await post(id, '/embeddings', { body, signal }), texts.length);
    },
  };
}

function nameIn(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

/** An answer may repeat people's words, so errors quote nothing of it. */
async function readJson({ ok, status, body }: Response, path: string): Promise<unknown> {
  if (!ok) await body?.cancel();
  if (!ok || body === null) throw new Error(`${path} answered ${status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`${path} answered more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new Error(`${path} answered something other than JSON`);
  }
}
