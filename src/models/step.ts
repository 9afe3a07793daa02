import { estimateText } from '../context/measure/tokens.ts';
import { ModelError } from '../domain/errors.ts';
import type {
  ChatModel,
  FinishReason,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelUsage,
  ToolCall,
} from '../ports/model.ts';
import { kindOf } from '../util/errors/kind-of.ts';
import { inputToKeep } from './call-input.ts';
import { offeredName } from './call-name.ts';
import { withoutEchoes } from './echoes.ts';
import { type Reasoning, reasoningOf } from './reasoning.ts';

/** The complete result of one model call. */
export interface Step {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage: ModelUsage;
  /** What the model wants back with its calls; null if nothing. */
  readonly reasoning: Reasoning | null;
}

/** More characters per requested token than this mean that the server ignores its limit. */
const MAX_CHARACTERS_PER_TOKEN = 16;
const MIN_CHARACTERS = 20_000;
/** What counts of an endless reasoning. */
const MAX_UNSEEN_CHARACTERS = 1_000_000;
/** Larger counts are ignored. */
const MAX_TOKENS = 1_000_000_000;

/**
 * Calls the model once and collects its stream. A stream that ends without a `finish` is a failure, not an answer. A
 * stream that never ends is dropped, and its text so far counts as cut off at `length`.
 */
export async function collectStep(model: ChatModel, request: ModelRequest, options: StepOptions): Promise<Step> {
  const gathered: Gathered = { text: '', unseen: '', calls: [], isStarted: false };
  try {
    const step = await gather(model, request, { ...options, gathered });
    if (options.signal.aborted) options.onLost?.(step);
    return step;
  } catch (error) {
    const { text, unseen, calls, isStarted } = gathered;
    if (isStarted) options.onLost?.({ text, calls, usage: uncounted(unseen) });
    throw error instanceof ModelError ? withoutRequest(error, request) : error;
  }
}

export interface StepOptions {
  readonly signal: AbortSignal;
  readonly onText: OnText;
  /** Called with all that was written for nobody so far. */
  onUnseen?(unseen: string): void;
  /**
   * Called if the stream fails or breaks off after its first part, because providers bill what they have read and written
   * until then, and if the answer is complete but comes after the signal has aborted.
   */
  onLost?(step: BilledStep): void;
}

/** What the cost of a call is known from. */
export type BilledStep = Pick<Step, 'text' | 'calls' | 'usage'>;

/** The answer so far. */
interface Gathered {
  text: string;
  /** Reasoning, and text that was taken back. */
  unseen: string;
  readonly calls: ToolCall[];
  isStarted: boolean;
}

/** Called with each delta: all text so far, and what was added. Both are empty when the text so far is taken back. */
export type OnText = (textSoFar: string, added: string) => void;

async function gather(
  model: ChatModel,
  request: ModelRequest,
  { gathered, ...options }: StepOptions & { readonly gathered: Gathered },
): Promise<Step> {
  const { calls } = gathered;
  let left = Math.max(MIN_CHARACTERS, request.maxOutputTokens * MAX_CHARACTERS_PER_TOKEN);
  const takeText = (added: string) => {
    gathered.text += added;
    options.onText(gathered.text, added);
  };
  const takeUnseen = (added: string) => {
    // Cutting the whole text would copy it for each piece.
    gathered.unseen += added.slice(0, MAX_UNSEEN_CHARACTERS - gathered.unseen.length);
    options.onUnseen?.(gathered.unseen);
  };
  let end: Ended | null = null;
  for await (const part of partsOf(model, request, options)) {
    gathered.isStarted = true;
    switch (part?.kind) {
      case 'text':
        if (typeof part.text !== 'string') throw misshapen(model, part);
        takeText(part.text.slice(0, left));
        left -= part.text.length;
        break;
      case 'reasoning':
        if (typeof part.text !== 'string') throw misshapen(model, part);
        takeUnseen(part.text);
        break;
      case 'retract':
        takeUnseen(gathered.text);
        gathered.text = '';
        options.onText('', '');
        break;
      case 'call': {
        if (!isCall(part.call)) throw misshapen(model, part);
        const input = inputToKeep(part.call.input);
        left -= part.call.tool.length + JSON.stringify(input).length;
        if (left >= 0) calls.push({ ...part.call, tool: offeredName(part.call.tool, request.tools), input });
        break;
      }
      case 'finish':
        end = { finish: part.reason, usage: countedOf(part.usage), given: part.reasoning };
        break;
      default:
        throw misshapen(model, part satisfies never);
    }
    if (left >= 0) continue;
    end = { finish: 'length', usage: countedOf(undefined) };
    break;
  }
  if (end === null) throw new ModelError({ model: model.id, reason: 'transient', detail: 'the answer broke off' });
  return stepOf(model, gathered, end);
}

interface Ended extends Pick<Step, 'finish' | 'usage'> {
  /** What the model wants back, as it came. */
  readonly given?: unknown;
}

function stepOf(model: ChatModel, { text, unseen, calls }: Gathered, { finish, usage: told, given }: Ended): Step {
  // Many servers report one of the two only.
  const usage =
    told.outputTokens > 0 ? told : { ...told, reasoningTokens: told.reasoningTokens || estimateText(unseen) };
  // Nothing goes back without calls, and to estimate it would hold up the answer.
  return { text, calls, finish, usage, reasoning: calls.length === 0 ? null : reasoningOf(model, given, usage) };
}

/** Throws if a provider without a compiler returns something else than a stream. */
function partsOf(model: ChatModel, request: ModelRequest, { signal }: StepOptions): AsyncIterable<ModelPart> {
  const parts = model.stream(request, { signal });
  const given: unknown = parts;
  if (typeof given === 'object' && given !== null && (Symbol.asyncIterator in given || Symbol.iterator in given))
    return parts;
  if (given instanceof Promise) given.catch(() => undefined);
  const detail = `its stream returned ${kindOf(given)}; expected an AsyncIterable of ModelPart, as async function* returns`;
  throw new ModelError({ model: model.id, reason: 'fatal', detail });
}

/** Throws if the provider's filter refused the request. What the call cost is known by then. */
export function accepted({ id: model }: Pick<ChatModel, 'id'>, step: Step): Step {
  if (step.finish !== 'refused') return step;
  throw new ModelError({ model, reason: 'refused', detail: "the provider's content filter refused the request" });
}

function isCall(call: Partial<ToolCall> | undefined): boolean {
  return typeof call?.tool === 'string' && call.input !== undefined;
}

/** Parts of a provider without a compiler. */
function misshapen({ id }: ChatModel, part: unknown): ModelError {
  const found = typeof part === 'object' && part !== null ? `{ ${Object.keys(part).join(', ')} }` : String(part);
  const detail = `its stream yielded ${found}; expected a ModelPart of the kind text, reasoning, retract, call or finish`;
  return new ModelError({ model: id, reason: 'fatal', detail });
}

/**
 * Some servers repeat the request in their errors. Errors go to logs and other places that must not contain people's
 * messages.
 */
function withoutRequest(error: ModelError, { system, messages }: ModelRequest): ModelError {
  const texts = [...system.map(({ text }) => text), ...messages.flatMap(textsOf)];
  const { model, reason, detail } = error.data;
  const told = withoutEchoes(detail, texts);
  if (told === detail) return error;
  const { retryAfterMs, windowTokens } = error;
  return new ModelError({ model, reason, detail: told }, { retryAfterMs, windowTokens });
}

function textsOf(message: ModelMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((content) => (content.kind === 'text' ? [content.text] : []));
    case 'assistant':
      return [message.text, message.reasoning ?? '', ...message.calls.map(({ input }) => JSON.stringify(input))];
    case 'tool':
      return message.results.map(({ text }) => text);
    default:
      return message satisfies never;
  }
}

/** Of a call whose tokens nobody reported. What is not seen is estimated here, because only here it is known. */
export function uncounted(unseen: string): ModelUsage {
  return { ...countedOf(undefined), reasoningTokens: estimateText(unseen) };
}

/**
 * Counts that are missing, negative, infinite or absurd count as not reported: no reply is lost because of its usage. No
 * part of the input is larger than it, so that no price and no share of the cache is absurd.
 */
function countedOf(usage: Partial<ModelUsage> | undefined): ModelUsage {
  const own = usage?.ownPasses;
  return {
    ...partsCounted(usage),
    // Some models count it beside the output, and it says how much room the reasoning takes in the next request.
    reasoningTokens: count(usage?.reasoningTokens),
    ...(own === undefined ? {} : { ownPasses: partsCounted(own) }),
  };
}

function partsCounted(given: Partial<ModelUsage['ownPasses']>): Omit<ModelUsage, 'reasoningTokens' | 'ownPasses'> {
  const inputTokens = count(given?.inputTokens);
  const cacheReadTokens = Math.min(count(given?.cacheReadTokens), inputTokens);
  const cacheWriteTokens = Math.min(count(given?.cacheWriteTokens), inputTokens - cacheReadTokens);
  const hour = given?.hourCacheWriteTokens;
  return {
    inputTokens,
    outputTokens: count(given?.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
    ...(hour === undefined ? {} : { hourCacheWriteTokens: Math.min(count(hour), cacheWriteTokens) }),
  };
}

function count(value: number | undefined): number {
  return typeof value === 'number' && value > 0 && value <= MAX_TOKENS ? Math.round(value) : 0;
}
