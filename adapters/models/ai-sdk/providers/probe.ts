import { z } from 'zod';
import { cleanText } from '../../../../src/adapter-kit.ts';
import { parseJson } from '../wire/parse-json.ts';

/** What a server reports about one of its models. Null for what it does not report. */
export interface Probe {
  /** False if the server is unreachable, so it is worth asking again. */
  readonly answered: boolean;
  /** False if the server reports that it does not have the model. */
  readonly known: boolean;
  readonly windowTokens: number | null;
  readonly tools: boolean | null;
  readonly images: boolean | null;
  /** What the operator should know. */
  readonly remark?: string;
}

export interface Asker {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
}

const UNANSWERED: Probe = { answered: false, known: true, windowTokens: null, tools: null, images: null };
const SILENT: Probe = { ...UNANSWERED, answered: true };

const tokens = z.int().positive().nullish().catch(null);

const listed = z.object({
  id: z.string(),
  owned_by: z.string().nullish().catch(null),
  max_model_len: tokens,
  context_length: tokens,
  context_window: tokens,
  max_context_length: tokens,
  meta: z.object({ n_ctx: tokens }).nullish().catch(null),
  supported_parameters: z.array(z.string()).nullish().catch(null),
  architecture: z
    .object({ input_modalities: z.array(z.string()) })
    .nullish()
    .catch(null),
  capabilities: z
    .object({ function_calling: z.boolean().optional(), vision: z.boolean().optional() })
    .nullish()
    .catch(null),
});
const list = z.array(listed.nullable().catch(null));
/** The list of models from compatible servers; each has its own field for the window. Together's is not an object. */
const modelList = z.union([list, z.object({ data: list }).transform(({ data }) => data)]);

/** Asks an OpenAI-compatible server (OpenRouter, vLLM, llama.cpp, Groq …) for the window and abilities of a model. */
export async function askCompatible(
  connection: { readonly baseUrl: string; readonly apiKey: string | undefined },
  model: string,
  asker: Asker,
): Promise<Probe> {
  const headers = connection.apiKey === undefined ? {} : { authorization: `Bearer ${connection.apiKey}` };
  const answer = await ask(asker, `${connection.baseUrl}/models`, { headers });
  if (answer === null) return UNANSWERED;
  const found = modelList.safeParse(answer.body).data?.find((one) => one?.id === model);
  if (found === undefined || found === null) return SILENT;
  const { max_model_len, context_length, context_window, max_context_length, meta, capabilities } = found;
  const windowTokens = max_model_len ?? meta?.n_ctx ?? context_length ?? context_window ?? max_context_length ?? null;
  const served =
    windowTokens === null && found.owned_by === OLLAMA_OWNER ? await askServed(connection, model, asker) : {};
  return {
    answered: true,
    known: true,
    windowTokens,
    tools: found.supported_parameters?.includes('tools') ?? capabilities?.function_calling ?? null,
    images: found.architecture?.input_modalities.includes('image') ?? capabilities?.vision ?? null,
    ...served,
  };
}

/** How Ollama marks its models in the compatible interface. */
const OLLAMA_OWNER = 'library';
/** What it uses if nothing else is set and there is little memory. */
const OLLAMA_SERVED_TOKENS = 4096;
const running = z.object({ models: z.array(z.object({ name: z.string(), context_length: tokens })) });

/**
 * Ollama's compatible interface takes no window, and cuts the beginning off longer prompts without saying so. Its window
 * is only known while the model is loaded.
 */
async function askServed(
  { baseUrl }: { readonly baseUrl: string },
  model: string,
  asker: Asker,
): Promise<Pick<Probe, 'answered' | 'windowTokens' | 'remark'>> {
  const host = baseUrl.replace(/\/v1$/, '');
  const shown = ask(asker, `${host}/api/show`, { method: 'POST', body: JSON.stringify({ model }) });
  const listed = running.safeParse((await ask(asker, `${host}/api/ps`, {}))?.body).data;
  const loaded = listed?.models.find(({ name }) => name === model || name === `${model}:latest`);
  const { parameters, model_info } = ollamaModel.safeParse((await shown)?.body).data ?? NOT_SHOWN;
  const windowTokens = loaded?.context_length ?? numCtxIn(parameters) ?? OLLAMA_SERVED_TOKENS;
  const answered = loaded !== undefined;
  if (windowTokens >= (largestIn(model_info) ?? Number.POSITIVE_INFINITY)) return { answered, windowTokens };
  const remark = `Ollama cuts prompts to ${windowTokens} tokens here; use ollama:${model}, or set OLLAMA_CONTEXT_LENGTH of Ollama`;
  return { answered, windowTokens, remark };
}

function numCtxIn(parameters: string): number | null {
  const set = /^num_ctx\s+(\d+)/m.exec(parameters)?.[1];
  return set === undefined ? null : Number(set);
}

/** The longest window of a model. */
function largestIn(information: Readonly<Record<string, unknown>>): number | null {
  const found = Object.entries(information).find(([key]) => key.endsWith('.context_length'))?.[1];
  return Number(found) || null;
}

const NOT_SHOWN = { parameters: '', model_info: {} };
const ollamaModel = z.object({
  model_info: z.record(z.string(), z.unknown()).catch({}),
  parameters: z.string().catch(''),
  capabilities: z.array(z.string()).nullish().catch(null),
});

/** Larger windows need memory that an ordinary computer may lack; an operator who has it can configure more. */
const OLLAMA_WINDOW_TOKENS = 16_384;

/**
 * Asks Ollama about one model. The window is the one that will be requested with `num_ctx`, not the model's maximum.
 */
export async function askOllama(
  host: string,
  model: string,
  asker: Asker,
): Promise<Probe & { readonly largestWindowTokens: number | null; readonly chats: boolean }> {
  const answer = await ask(asker, `${host}/api/show`, { method: 'POST', body: JSON.stringify({ model }) });
  const shown = ollamaModel.safeParse(answer?.body);
  if (answer === null) return { ...UNANSWERED, largestWindowTokens: null, chats: false };
  if (answer.status !== 200 || !shown.success) {
    return { ...SILENT, largestWindowTokens: null, known: !isMissing(answer), chats: false };
  }
  const { model_info, parameters, capabilities } = shown.data;
  const [set, largestWindowTokens] = [numCtxIn(parameters), largestIn(model_info)];
  return {
    answered: true,
    known: true,
    windowTokens: set ?? Math.min(largestWindowTokens ?? OLLAMA_WINDOW_TOKENS, OLLAMA_WINDOW_TOKENS),
    largestWindowTokens,
    tools: capabilities?.includes('tools') ?? null,
    images: capabilities?.includes('vision') ?? null,
    chats: capabilities?.includes('completion') ?? true,
  };
}

const refusal = z.object({ error: z.string().regex(/not found/i) });

function isMissing({ status, body }: { readonly status: number; readonly body: unknown }): boolean {
  return status === 404 && refusal.safeParse(body).success;
}

const ollamaTags = z.object({ models: z.array(z.object({ name: z.string() })) });

/**
 * Ollama's models, newest first; null if Ollama is not running. Anybody on the machine may listen at its port, and the
 * name of the model is shown in the terminal.
 */
export async function listOllama(host: string, asker: Asker): Promise<readonly string[] | null> {
  const answer = await ask(asker, `${host}/api/tags`, {});
  const names = ollamaTags.safeParse(answer?.body).data?.models.map(({ name }) => name) ?? null;
  return names?.filter((name) => cleanText(name) === name) ?? null;
}

/** Null if the server cannot be reached in time. */
async function ask(
  { fetch, timeoutMs }: Asker,
  url: string,
  init: RequestInit,
): Promise<{ readonly status: number; readonly body: unknown } | null> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const text = await response.text();
    return { status: response.status, body: parseJson(text) };
  } catch {
    return null;
  }
}
