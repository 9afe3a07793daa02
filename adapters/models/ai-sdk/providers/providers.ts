import type { LanguageModel } from 'ai';
import {
  DAY_MS,
  type JsonValue,
  loadOptional,
  MINUTE_MS,
  type ModelRequest,
  type ModelTraits,
} from '../../../../src/adapter-kit.ts';
import { compatible, type Dialect, plain } from '../calls/dialect.ts';
import { thoughtsOf } from '../calls/thoughts.ts';
import { withKnownEvents } from '../wire/anthropic-events.ts';
import { withReadableEvents } from '../wire/chat-events.ts';
import { withGoogleEvents } from '../wire/google-events.ts';
import { withReadableLines } from '../wire/ollama.ts';
import { reasoningFields } from '../wire/reasoning-fields.ts';
import { withStreams } from '../wire/unstreamed.ts';
import { withoutSlash } from './environment.ts';
import { withCacheMarks } from './openrouter.ts';
import { type Asker, askCompatible, askOllama, type Probe } from './probe.ts';
import { withoutRefusedFields } from './refused-fields.ts';

/** How to reach a provider. */
export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
}

/** One provider: how to configure it from the environment, and how to open one of its models. */
export interface Provider {
  /** Environment variables that may contain its key, the first one named in messages; empty if it needs none. */
  readonly keys: readonly string[];
  readonly baseUrls: readonly string[];
  readonly defaultBaseUrl: string;
  /** The default model of `auto` if only the key is known. */
  readonly defaultModel: string;
  open(model: string, connection: Connection, asker: Asker): Promise<OpenedModel>;
}

export interface OpenedModel {
  readonly model: LanguageModel;
  readonly dialect: Dialect;
  readonly traits: ModelTraits;
  readonly providerOptions: (request: ModelRequest) => Record<string, Record<string, JsonValue>>;
  /** Null if the provider was not asked. */
  readonly probe: Probe | null;
}

/** A provider's package. The SDK itself is loaded at the first call, but must be installed as well. */
async function withSdk<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  return await loadOptional(['ai', name], async () => {
    import.meta.resolve('ai');
    return await load();
  });
}

const CAPABLE: ModelTraits = { windowTokens: null, tools: true, images: true };
const noOptions = () => ({});

/** Other models of OpenAI reject a request that asks for it. */
const KEEPS_FOR_A_DAY = /^gpt-5(?:\.[1-5])?(?:-(?:codex|chat-latest|\d{4}-\d\d-\d\d)|$)/;
/** Later models keep every prefix for half an hour and have no other setting. */
const KEEPS_FOR_HALF_AN_HOUR = /^gpt-(?:5\.[6-9]|[6-9])/;

function openaiCache(model: string): Pick<ModelTraits, 'cacheMs'> {
  if (KEEPS_FOR_A_DAY.test(model)) return { cacheMs: DAY_MS };
  return KEEPS_FOR_HALF_AN_HOUR.test(model) ? { cacheMs: 30 * MINUTE_MS } : {};
}

const openai: Provider = {
  keys: ['OPENAI_API_KEY'],
  baseUrls: ['OPENAI_BASE_URL'],
  defaultBaseUrl: 'https://api.openai.com/v1',
  defaultModel: 'gpt-5.6-luna',
  async open(model, { baseUrl, apiKey, fetch }) {
    const { createOpenAI } = await withSdk('@ai-sdk/openai', () => import('@ai-sdk/openai'));
    const provider = createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch: withStreams(fetch) });
    const dialect = { ...plain, laxTools: true };
    // Proxies and compatible servers know the older interface; only OpenAI itself certainly knows the newer one.
    if (new URL(baseUrl).hostname !== 'api.openai.com') {
      const readable = withReadableEvents(withoutRefusedFields(withStreams(fetch)));
      const { chat } = createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch: readable });
      const thinking: Dialect = { ...dialect, writesCalls: true, thoughts: thoughtsOf(model) };
      const opened = { dialect: thinking, traits: CAPABLE, providerOptions: noOptions, probe: null };
      return { model: chat(model), ...opened };
    }
    const retention = KEEPS_FOR_A_DAY.test(model) ? { promptCacheRetention: '24h' } : {};
    const providerOptions = ({ cacheKey }: ModelRequest) => ({
      openai: {
        // Without `store: false`, the provider stores every conversation for a month.
        store: false,
        reasoningSummary: null,
        ...retention,
        ...(cacheKey === undefined ? {} : { promptCacheKey: cacheKey }),
      },
    });
    const traits = { ...CAPABLE, ...openaiCache(model) };
    return { model: provider.responses(model), dialect, traits, providerOptions, probe: null };
  },
};

const anthropic: Provider = {
  keys: ['ANTHROPIC_API_KEY'],
  baseUrls: ['ANTHROPIC_BASE_URL'],
  defaultBaseUrl: 'https://api.anthropic.com/v1',
  defaultModel: 'claude-haiku-5-5',
  async open(model, { baseUrl, apiKey, fetch }) {
    const { createAnthropic } = await withSdk('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'));
    // Anthropic's own tools expect the variable without the version.
    const versioned = new URL(baseUrl).pathname === '/' ? `${baseUrl}/v1` : baseUrl;
    const readable = withKnownEvents(withoutRefusedFields(withStreams(fetch)));
    const provider = createAnthropic({ baseURL: versioned, apiKey: apiKey ?? '', fetch: readable });
    const dialect: Dialect = { ...plain, cache: 'anthropic', keepsSystem: true };
    return { model: provider(model), dialect, traits: CAPABLE, providerOptions: noOptions, probe: null };
  },
};

const google: Provider = {
  keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  baseUrls: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  defaultModel: 'gemini-flash-latest',
  async open(model, { baseUrl, apiKey, fetch }) {
    const { createGoogle } = await withSdk('@ai-sdk/google', () => import('@ai-sdk/google'));
    const provider = createGoogle({
      baseURL: baseUrl,
      apiKey: apiKey ?? '',
      fetch: withGoogleEvents(withStreams(fetch)),
    });
    return { model: provider(model), dialect: plain, traits: CAPABLE, providerOptions: noOptions, probe: null };
  },
};

const openrouter: Provider = {
  keys: ['OPENROUTER_API_KEY'],
  baseUrls: ['OPENROUTER_BASE_URL'],
  defaultBaseUrl: 'https://openrouter.ai/api/v1',
  defaultModel: 'openai/gpt-5.6-luna',
  async open(model, connection, asker) {
    const opened = await openCompatible('openrouter', model, { connection, asker });
    // Anthropic's models cache only what is marked; the others find prefixes themselves.
    const marked = model.startsWith('anthropic/');
    return { ...opened, dialect: marked ? { ...compatible, cache: 'openaiCompatible' } : compatible };
  },
};

const ollama: Provider = {
  keys: [],
  baseUrls: ['OLLAMA_HOST'],
  defaultBaseUrl: 'http://127.0.0.1:11434',
  defaultModel: 'llama3.2',
  async open(model, { baseUrl, fetch }, asker) {
    const [{ createOllama }, probe] = await Promise.all([
      withSdk('ollama-ai-provider-v2', () => import('ollama-ai-provider-v2')),
      askOllama(baseUrl, model, asker),
    ]);
    const { largestWindowTokens, tools, images } = probe;
    const windowTokens = probe.windowTokens ?? (probe.answered ? null : 4096);
    return {
      model: createOllama({ baseURL: `${baseUrl}/api`, fetch: withReadableLines(fetch) })(model),
      dialect: { ...compatible, reasoning: 'parts' },
      traits: { windowTokens, largestWindowTokens, tools: tools ?? true, images: images ?? false },
      // Without this, Ollama silently truncates long prompts to its own small window.
      providerOptions: ({ windowTokens: counted, maxOutputTokens }) => ({
        ollama: { options: { num_predict: maxOutputTokens, ...numCtx(counted ?? windowTokens) } },
      }),
      probe,
    };
  },
};

function numCtx(windowTokens: number | null): { num_ctx: number } | Record<never, never> {
  return windowTokens === null ? {} : { num_ctx: windowTokens };
}

/** What follows the path, such as the `api-version` of Azure, belongs behind the path of each request. */
function addressOf({ baseUrl, apiKey }: Connection) {
  const { hostname, search, searchParams } = new URL(baseUrl);
  const bare = new URL(baseUrl);
  bare.search = '';
  const baseURL = search === '' ? baseUrl : withoutSlash(bare.href);
  // Azure takes a key in its own header only.
  const headers = apiKey !== undefined && hostname.endsWith('.azure.com') ? { 'api-key': apiKey } : {};
  return { baseURL, queryParams: Object.fromEntries(searchParams), headers };
}

/** Any server with OpenAI's chat interface. */
export function createCompatible(name: string): Provider {
  return {
    keys: [],
    baseUrls: [],
    defaultBaseUrl: '',
    defaultModel: '',
    open: (model, connection, asker) => openCompatible(name, model, { connection, asker }),
  };
}

async function openCompatible(
  name: string,
  model: string,
  { connection, asker }: { readonly connection: Connection; readonly asker: Asker },
): Promise<OpenedModel> {
  const { apiKey, fetch } = connection;
  const [{ createOpenAICompatible }, probe] = await Promise.all([
    withSdk('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible')),
    askCompatible(connection, model, asker),
  ]);
  const provider = createOpenAICompatible({
    name,
    ...addressOf(connection),
    ...(apiKey === undefined ? {} : { apiKey }),
    fetch: withReadableEvents(withoutRefusedFields(withStreams(fetch))),
    includeUsage: true,
    transformRequestBody: withCacheMarks,
    metadataExtractor: reasoningFields,
  });
  return {
    model: provider.chatModel(model),
    dialect: { ...compatible, thoughts: thoughtsOf(model) },
    traits: { windowTokens: probe.windowTokens, tools: probe.tools ?? true, images: probe.images ?? false },
    providerOptions: noOptions,
    probe,
  };
}

export const providers: Readonly<Record<string, Provider>> = { anthropic, openai, google, openrouter, ollama };
