import {
  type ChatModel,
  credentialsIn,
  didYouMean,
  type KnownProviders,
  keyFault,
  type Log,
  type ModelProvider,
  type OpenModel,
  StrataError,
  silentLog,
  withinHost,
} from '../../../src/adapter-kit.ts';
import type { StallLimits } from './calls/watchdog.ts';
import { basicAuthOf, withBasicAuth } from './providers/basic-auth.ts';
import { chooseModel } from './providers/choose.ts';
import { type Environment, firstSet, ollamaUrl, withoutSlash } from './providers/environment.ts';
import { fetchIfOpen } from './providers/nearby.ts';
import type { Asker } from './providers/probe.ts';
import { type Connection, createCompatible, type Provider, providers } from './providers/providers.ts';
import { withByteLimit } from './wire/response.ts';

/** The options of `createAiSdkModels`. Only the environment is required, which holds the API keys. */
export interface AiSdkModelsOptions {
  readonly environment: Environment;
  /** Your own servers, by the prefix of model ids. A known name gets another URL or key. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** Models without a provider, by the prefix of model ids. */
  readonly builtIn?: Readonly<Record<string, OpenModel>>;
  readonly fetch?: typeof fetch;
  readonly limits?: Partial<StallLimits>;
  /** Default: none. */
  readonly log?: Log;
}

type Settings = AiSdkModelsOptions & Required<Pick<AiSdkModelsOptions, 'providers' | 'builtIn' | 'log'>>;

/** How to reach a provider. */
export interface ProviderSettings {
  /** Empty for the provider's own URL. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Windows in tokens by model, for servers that do not report them. */
  readonly windows?: Readonly<Record<string, number>>;
}

const DEFAULT_LIMITS: StallLimits = { firstPartMs: 300_000, nextPartMs: 90_000 };
const PROBE_TIMEOUT_MS = 1500;
/** How long startup waits to learn whether Ollama is running. */
const CHOOSE_TIMEOUT_MS = 300;

const NO_ENVIRONMENT =
  'createAiSdkModels needs an environment with the API keys, for example { environment: process.env }.';

/**
 * Opens models of all providers that the AI SDK speaks to. Nothing is loaded before a model is opened.
 *
 * @example
 * const models = createAiSdkModels({
 *   environment: process.env,
 *   providers: { local: { baseUrl: 'http://127.0.0.1:8080/v1' } },
 *   builtIn: { offline: async () => createOfflineModel() },
 * });
 */
export function createAiSdkModels(given: AiSdkModelsOptions): ModelProvider & KnownProviders {
  // The compiler tells only programs in TypeScript.
  if (typeof given?.environment !== 'object') throw new StrataError('USAGE', { problem: NO_ENVIRONMENT });
  const options: Settings = { providers: {}, builtIn: {}, log: silentLog, ...given };
  const opened = new Map<string, Promise<ChatModel>>();
  const send = withBasicAuth(withinHost(options.fetch ?? fetch));
  const sendNearby = withBasicAuth(withinHost(options.fetch ?? fetchIfOpen));
  return {
    providers: namesOf(options),
    open(modelId) {
      const known = opened.get(modelId);
      if (known !== undefined) return known;
      const opening = openModel(modelId, options, { fetch: send, timeoutMs: PROBE_TIMEOUT_MS });
      const model = opening.then((result) => result.model);
      opened.set(modelId, model);
      // Models that failed to open, or were opened while their server was unreachable, are reopened next time.
      const forget = () => opened.delete(modelId);
      opening.then(({ settled }) => settled || forget(), forget);
      return model;
    },
    choose() {
      const ollamaHost = connect('ollama', providers['ollama'], options)?.baseUrl ?? '';
      const hasBuiltIn = options.builtIn['offline'] !== undefined;
      const candidates = { environment: options.environment, ollamaHost, hasBuiltIn };
      return chooseModel(candidates, { fetch: sendNearby, timeoutMs: CHOOSE_TIMEOUT_MS });
    },
  };
}

async function openModel(
  modelId: string,
  options: Settings,
  asker: Asker,
): Promise<{ readonly model: ChatModel; readonly settled: boolean }> {
  const { name, model } = parseModelId(modelId, options);
  const builtIn = options.builtIn[name];
  if (builtIn !== undefined) return { model: await openBuiltIn(modelId, () => builtIn(model)), settled: true };
  const provider = providers[name] ?? createCompatible(name);
  const connection = connect(name, provider, options);
  if (connection.baseUrl === '') {
    const reason = `[providers.${name}] in the configuration has no base_url`;
    throw new StrataError('MODEL_UNKNOWN', { model: modelId, reason });
  }
  if (connection.apiKey === undefined && provider.keys.length > 0) {
    throw new StrataError('MODEL_KEY_MISSING', { model: modelId, variable: provider.keys.join(' or ') });
  }
  const fault = keyFault(connection.apiKey ?? '');
  if (fault !== null) {
    const variable = options.providers[name]?.apiKey ? `api_key in [providers.${name}]` : provider.keys.join(' or ');
    throw new StrataError('MODEL_KEY_INVALID', { model: modelId, variable, fault });
  }
  const opened = await provider.open(model, connection, asker);
  if (opened.probe?.known === false) {
    const reason = `${new URL(connection.baseUrl).origin} does not have this model; \`${name} pull ${model}\` fetches it`;
    throw new StrataError('MODEL_UNKNOWN', { model: modelId, reason });
  }
  const { remark, answered } = opened.probe ?? {};
  // A server that has not loaded the model is asked again.
  if (remark !== undefined && answered === true) options.log.warn('model.window', { model: modelId, remark });
  const { createSdkModel } = await import('./calls/stream.ts');
  const windowTokens = options.providers[name]?.windows?.[model] ?? opened.traits.windowTokens;
  const traits = { ...opened.traits, windowTokens };
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return {
    model: createSdkModel({ id: modelId, ...opened, traits, limits, secrets: secretsOf(connection), log: options.log }),
    settled: opened.probe?.answered ?? true,
  };
}

function secretsOf({ apiKey = '', baseUrl }: Connection): readonly string[] {
  return [apiKey, basicAuthOf(baseUrl) ?? '', ...credentialsIn(baseUrl)];
}

async function openBuiltIn(modelId: string, load: () => Promise<ChatModel>): Promise<ChatModel> {
  const model = await load();
  if (model.id === modelId) return model;
  throw new StrataError('MODEL_UNKNOWN', { model: modelId, reason: `the built-in model is ${model.id}` });
}

function namesOf(options: Settings): readonly string[] {
  return [...new Set([providers, options.providers, options.builtIn].flatMap((named) => Object.keys(named)))];
}

function parseModelId(modelId: string, options: Settings): { readonly name: string; readonly model: string } {
  const names = namesOf(options);
  const fail = (reason: string) => new StrataError('MODEL_UNKNOWN', { model: modelId, reason });
  const [, name, model] = /^([^:]+):(.+)$/.exec(modelId) ?? [];
  if (name === undefined || model === undefined) {
    const slashed = /^([^/]+)\/(.+)$/.exec(modelId);
    const meant = slashed !== null && names.includes(slashed[1] ?? '') ? `${slashed[1]}:${slashed[2]}` : null;
    throw fail(`it does not name a provider${meant === null ? '' : `; did you mean "${meant}"?`}`);
  }
  if (names.includes(name)) return { name, model };
  const guess = didYouMean(name, names);
  const meant = guess === null ? '' : `; did you mean "${guess}:${model}"?`;
  throw fail(`there is no provider "${name}" among ${names.join(', ')}${meant}`);
}

/** The operator's configuration first, then the environment, then the provider's default. */
function connect(name: string, provider: Provider | undefined, options: Settings): Connection {
  const settings = options.providers[name];
  const { environment } = options;
  const address =
    (settings?.baseUrl || firstSet(environment, provider?.baseUrls ?? [])) ?? provider?.defaultBaseUrl ?? '';
  return {
    baseUrl: name === 'ollama' ? ollamaUrl(address) : withoutSlash(address),
    apiKey: settings?.apiKey || firstSet(environment, provider?.keys ?? []),
    fetch: withByteLimit(withBasicAuth(withinHost(options.fetch ?? fetch))),
  };
}
