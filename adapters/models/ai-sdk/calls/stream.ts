import type { JSONSchema7, LanguageModel, TextStreamPart, ToolSet } from 'ai';
import {
  type ChatModel,
  type JsonValue,
  type Log,
  ModelError,
  type ModelPart,
  type ModelRequest,
  type ModelTraits,
  type ToolSpec,
} from '../../../../src/adapter-kit.ts';
import { fromUsage } from '../failures/billing.ts';
import { type Classified, classify } from '../failures/classify.ts';
import { toInput } from './call-input.ts';
import type { Dialect } from './dialect.ts';
import { hasImage, withImages, withoutImages } from './images.ts';
import { createKeeper } from './keeper.ts';
import { createReturns, hasReasoning, withoutReasoning } from './kept.ts';
import { endOf, type StepFacts, toInstructions, toMessages } from './map.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { mergeOptions, settingsOf } from './settings.ts';
import { createSizes } from './sizes.ts';
import { createAnswerFilter } from './thoughts.ts';
import { createWatchdog, type StallLimits } from './watchdog.ts';
import { withWrittenCalls } from './written-calls.ts';

export interface SdkModelOptions {
  readonly id: string;
  readonly model: LanguageModel;
  readonly dialect: Dialect;
  readonly traits: ModelTraits;
  readonly providerOptions: (request: ModelRequest) => Record<string, Record<string, JsonValue>>;
  readonly limits: StallLimits;
  /** What no error shows, even if the server repeats it. */
  readonly secrets: readonly string[];
  readonly log: Log;
}

/** A model of the SDK as Strata's port. What the provider's errors reveal about it changes its traits. */
export function createSdkModel(options: SdkModelOptions): ChatModel {
  let { traits } = options;
  let { thoughts } = options.dialect;
  const sizes = createSizes(options.id);
  const returns = createReturns();
  const learn = ({ windowTokens, reason, lacks }: Classified, { tools }: ModelRequest) => {
    if (windowTokens !== null) traits = { ...traits, windowTokens };
    if (lacks === 'images') traits = { ...traits, images: false };
    else if (reason === 'unsupported' && tools.length > 0) traits = { ...traits, tools: false };
  };
  return {
    id: options.id,
    get traits() {
      return traits;
    },
    async *stream(given, { signal }) {
      const request = returns.accepted(given);
      const watchdog = createWatchdog(options.limits, signal);
      const maxCharacters = request.maxOutputTokens * MAX_HELD_PER_TOKEN;
      const filter = createAnswerFilter({ known: thoughts, maxCharacters });
      try {
        const sdk = await loadSdk(options.log);
        const parts = withRejectedParts(sdk, { ...options, traits }, { request, watchdog, filter, returns });
        const read = options.dialect.writesCalls ? withWrittenCalls(parts, request.tools) : parts;
        yield* sizes.watch(read, request);
        thoughts = filter.thoughts;
      } catch (error) {
        const cause = watchdog.reason() ?? error;
        if (cause instanceof ModelError) throw cause;
        const told = classify(cause, Date.now(), options.secrets);
        const failure =
          told.isUnexplained && sizes.isLargest(request) ? { ...told, reason: 'overflow' as const } : told;
        learn(failure, request);
        throw toModelError(options.id, failure, cause);
      } finally {
        watchdog.end();
      }
    },
  };
}

/** Limit for parts other than the answer's text, per requested token. The caller limits the text itself. */
const MAX_CHARACTERS_PER_TOKEN = 64;
const MIN_CHARACTERS = 200_000;
/** Of text held back, per requested token. Below the limit for the answer's text. */
const MAX_HELD_PER_TOKEN = 8;

interface Call {
  readonly request: ModelRequest;
  readonly watchdog: ReturnType<typeof createWatchdog>;
  readonly filter: ReturnType<typeof createAnswerFilter>;
  readonly returns: ReturnType<typeof createReturns>;
  /** The same request with its reasoning, which the model has refused. */
  readonly refused?: ModelRequest;
}

/**
 * One image that the provider cannot read, or reasoning that it does not accept, would cost the whole answer. The model
 * then reads a word for each image, or goes on without its reasoning.
 */
async function* withRejectedParts(sdk: Sdk, options: SdkModelOptions, call: Call): AsyncGenerator<ModelPart> {
  let isBegun = false;
  let less: Less | null = null;
  try {
    for await (const part of streamStep(sdk, options, call)) {
      if (!isBegun) noteReturn(call);
      isBegun = true;
      yield part;
    }
  } catch (error) {
    less = isBegun ? null : withoutRejected(options, call, classify(error, Date.now()));
    if (less === null) throw error;
  }
  if (less !== null) yield* withRejectedParts(sdk, less.options, less.call);
}

function noteReturn({ request, returns, refused }: Call): void {
  if (hasReasoning(request)) returns.answered();
  else if (refused !== undefined) returns.refused(refused);
}

interface Less {
  readonly options: SdkModelOptions;
  readonly call: Call;
}

/**
 * What is left to send. Not every provider says that reasoning is the cause, but without it, the request is like others
 * that it has answered. Null if nothing may be the cause.
 */
function withoutRejected(options: SdkModelOptions, call: Call, told: Classified): Less | null {
  const { traits } = options;
  const { request } = call;
  if (told.isAboutImage && traits.images && request.messages.some(hasImage)) {
    return { options: { ...options, traits: { ...traits, images: false } }, call };
  }
  if (!hasReasoning(request) || !(told.isUnexplained || told.reason === 'unsupported')) return null;
  return { options, call: { ...call, request: withoutReasoning(request), refused: request } };
}

async function* streamStep(sdk: Sdk, options: SdkModelOptions, call: Call): AsyncGenerator<ModelPart> {
  const { watchdog, filter } = call;
  const keeper = createKeeper();
  const limit = Math.max(MIN_CHARACTERS, call.request.maxOutputTokens * MAX_CHARACTERS_PER_TOKEN);
  let left = limit;
  let calls = 0;
  let isSilent = true;
  let ended = false;
  for await (const part of watchdog.guard(await start(sdk, options, call), isBeforeSilence)) {
    keeper.take(part);
    switch (part.type) {
      case 'text-delta': {
        left -= part.text.length;
        isSilent &&= part.text.trim() === '';
        const given = filter.text(part.text);
        // Text that is held back may still be given, so it must not count as reasoning.
        if (given.length === 0) yield { kind: 'reasoning', text: '' };
        for (const passed of given) {
          if (passed.kind === 'text') left += passed.text.length;
          if (passed.kind === 'call') calls += 1;
          yield passed;
        }
        break;
      }
      case 'tool-input-delta':
        left -= part.delta.length;
        break;
      case 'reasoning-start':
        // OpenAI bills reasoning of which it shows nothing else.
        yield { kind: 'reasoning', text: '' };
        break;
      case 'reasoning-delta':
        left -= part.text.length;
        yield { kind: 'reasoning', text: part.text };
        yield* filter.reasoned();
        break;
      case 'tool-call':
        calls += 1;
        yield { kind: 'call', call: { callId: part.toolCallId, tool: part.toolName, input: toInput(part.input) } };
        break;
      case 'error':
        throw part.error;
      case 'abort':
        throw new DOMException(part.reason ?? 'aborted', 'AbortError');
      case 'finish-step': {
        const { reason, usage } = finishedBy(part, { calls, isSilent }, options);
        ended = true;
        const rest = filter.end(reason);
        yield* rest;
        watchdog.signal.throwIfAborted();
        yield { kind: 'finish', reason: rest.some(isCall) ? 'tool-calls' : reason, usage, ...keeper.given() };
        break;
      }
      // The other parts delimit, repeat or explain these; reasoning is not part of the answer.
    }
    if (left < 0) throw endless(options.id, limit);
  }
  if (!ended) throw unfinished(options.id, 'cut');
}

/** Throws if the answer is not complete. */
function finishedBy(
  part: Extract<TextStreamPart<ToolSet>, { type: 'finish-step' }>,
  seen: Pick<StepFacts, 'calls' | 'isSilent'>,
  { id, traits: { windowTokens } }: SdkModelOptions,
): Pick<Extract<ModelPart, { kind: 'finish' }>, 'reason' | 'usage'> {
  const usage = fromUsage(part.usage);
  const end = endOf({ ...part, ...seen, usage, windowTokens });
  if (end.kind !== 'finished') throw unfinished(id, end.kind, part.rawFinishReason);
  return { reason: end.reason, usage };
}

function isCall({ kind }: ModelPart): boolean {
  return kind === 'call';
}

/**
 * The SDK adds the first two itself, so they are no sign of life. Of the reasoning that begins with the last one, some
 * providers send nothing.
 */
function isBeforeSilence({ type }: { readonly type: string }): boolean {
  return type === 'start' || type === 'start-step' || type === 'reasoning-start';
}

async function start(sdk: Sdk, options: SdkModelOptions, { request, watchdog }: Call) {
  const { signal } = watchdog;
  const messages = options.traits.images
    ? await withImages(request.messages, sdk.loadImage, { signal })
    : withoutImages(request.messages);
  signal.throwIfAborted();
  const { stream } = sdk.streamText({
    model: options.model,
    instructions: toInstructions(request.system, options.dialect),
    messages: toMessages(messages, options.dialect),
    tools: toTools(sdk, request.tools, options.dialect),
    maxOutputTokens: request.maxOutputTokens,
    maxRetries: 0,
    abortSignal: signal,
    providerOptions: mergeOptions(options.providerOptions(request), request.providerOptions),
    ...settingsOf(request),
    telemetry: { isEnabled: false },
    // The error is also part of the stream; without a listener, the SDK prints it.
    onError: () => {},
    ...(request.json ? { output: sdk.Output.json() } : {}),
  });
  return stream;
}

/** Without `execute`, the SDK returns the calls and stops after the step. */
function toTools(sdk: Sdk, specs: readonly ToolSpec[], dialect: Dialect): ToolSet {
  return Object.fromEntries(
    specs.map(({ name, description, inputSchema }) => [
      name,
      sdk.tool({
        description,
        inputSchema: sdk.jsonSchema<JsonValue>(toSchema(inputSchema)),
        ...(dialect.laxTools ? { strict: false } : {}),
      }),
    ]),
  );
}

/** Strata's schemas come from zod; the SDK passes them on unchanged. */
function toSchema(schema: ToolSpec['inputSchema']): JSONSchema7 {
  return structuredClone(schema);
}

function endless(model: string, limit: number): ModelError {
  const detail = `its reasoning and calls are longer than ${limit} characters`;
  return new ModelError({ model, reason: 'fatal', detail });
}

function unfinished(model: string, kind: 'cut' | 'overflow', reason = ''): ModelError {
  if (kind === 'overflow') return new ModelError({ model, reason: 'overflow', detail: 'the context window is full' });
  const told = /^\w{1,60}$/.test(reason) ? ` (${reason})` : '';
  return new ModelError({ model, reason: 'transient', detail: `the answer ended before it was complete${told}` });
}

function toModelError(model: string, failure: Classified, cause: unknown): ModelError {
  const { reason, detail, remedy, retryAfterMs, windowTokens } = failure;
  const data = { model, reason, detail, ...(remedy === null ? {} : { remedy: `${remedy}.` }) };
  return new ModelError(data, { retryAfterMs, windowTokens, cause });
}
