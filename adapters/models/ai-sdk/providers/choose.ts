import { StrataError } from '../../../../src/adapter-kit.ts';
import { type Environment, firstSet } from './environment.ts';
import { type Asker, askOllama, listOllama } from './probe.ts';
import { providers } from './providers.ts';

export interface Choice {
  readonly modelId: string;
  readonly reason: string;
}

/** The order in which providers' keys are looked up. */
const ORDER = ['anthropic', 'openai', 'google', 'openrouter'] as const;

/** Number of Ollama's models to check for one that can chat. */
const MAX_ASKED = 5;

/** What `chooseModel` looks for. */
export interface Candidates {
  readonly environment: Environment;
  readonly ollamaHost: string;
  /** Whether there is a built-in model. */
  readonly hasBuiltIn: boolean;
}

/**
 * The model for `auto`: by a key in the environment, otherwise a local Ollama, otherwise the built-in model. Throws
 * `MODEL_UNKNOWN` without any of them.
 */
export async function chooseModel(candidates: Candidates, asker: Asker): Promise<Choice> {
  const { environment, ollamaHost, hasBuiltIn } = candidates;
  for (const name of ORDER) {
    const provider = providers[name];
    const variable = provider?.keys.find((key) => firstSet(environment, [key]) !== undefined);
    if (provider !== undefined && variable !== undefined) {
      return { modelId: `${name}:${provider.defaultModel}`, reason: `${variable} is set` };
    }
  }
  const local = await chooseOllama(ollamaHost, asker);
  if (local !== null) return local;
  const found = `no API key is set and no Ollama with a chat model answers at ${ollamaHost}`;
  const keys = ORDER.flatMap((name) => providers[name]?.keys.slice(0, 1) ?? []).join(', ');
  if (!hasBuiltIn) {
    const reason = `${found}. Set one of ${keys}, or pass createAiSdkModels a model as builtIn: { offline }`;
    throw new StrataError('MODEL_UNKNOWN', { model: 'auto', reason });
  }
  const reason = `${found}; it can't reason, but its memory is real. To use another model, set one of ${keys}`;
  return { modelId: 'offline:demo', reason };
}

async function chooseOllama(host: string, asker: Asker): Promise<Choice | null> {
  const names = await listOllama(host, asker);
  if (names === null) return null;
  const asked = names.slice(0, MAX_ASKED);
  const probes = await Promise.all(asked.map(async (name) => ({ name, ...(await askOllama(host, name, asker)) })));
  const chatting = probes.filter(({ chats }) => chats);
  const best = chatting.find(({ tools }) => tools === true) ?? chatting[0];
  if (best === undefined) return null;
  const window = best.windowTokens === null ? '' : `, with a window of ${best.windowTokens} tokens`;
  return { modelId: `ollama:${best.name}`, reason: `Ollama at ${host} has it${window}` };
}
