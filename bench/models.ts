import { setTimeout as delay } from 'node:timers/promises';
import { ModelError } from '../src/domain/errors.ts';
import type { ChatModel, ModelMessage, ModelPart, ModelProvider, ModelRequest } from '../src/ports/model.ts';

export const REPLY_MODEL = 'bench:reply';
export const SUMMARY_MODEL = 'bench:summary';

/** How a model of the benchmark handles one request. */
export interface Answering {
  /** Waits before the answer; 0 does not even yield to the event loop. */
  readonly delayMs: number;
  text(request: ModelRequest): string;
  /** The provider's token count; 0 for a provider that does not report one. */
  inputTokens?(request: ModelRequest): number;
}

/** Answers the request with one text, like a provider without a network. */
export function scriptedModel(id: string, { delayMs, text, inputTokens }: Answering): ChatModel {
  return {
    id,
    traits: { windowTokens: null, tools: true, images: false },
    async *stream(request, { signal }): AsyncGenerator<ModelPart> {
      if (delayMs > 0) await delay(delayMs, undefined, { signal });
      yield { kind: 'text', text: text(request) };
      const usage = { inputTokens: inputTokens?.(request) ?? 0, outputTokens: 12 };
      yield { kind: 'finish', reason: 'stop', usage: { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0 } };
    },
  };
}

const SHORT_ANSWER = 'Noted. That fits what was agreed before, so nothing else has to change.';

/** Reports its input, as providers do: otherwise each turn would include an estimate of its whole request. */
export function replyModel(delayMs = 0): ChatModel {
  return scriptedModel(REPLY_MODEL, { delayMs, text: () => SHORT_ANSWER, inputTokens: countTokens });
}

const CHARACTERS_A_TOKEN = 4;

function countTokens({ system, messages }: ModelRequest): number {
  let characters = 0;
  for (const { text } of system) characters += text.length;
  for (const message of messages) characters += lengthOf(message);
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}

function lengthOf(message: ModelMessage): number {
  if (message.role === 'assistant') return message.text.length;
  if (message.role === 'tool') return 0;
  return message.content.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0);
}

const SUMMARY = 'People talked about the plan for the week, agreed on the next steps, and left the rest for later.';

/** A slow summariser. */
export function summaryModel(delayMs: number): ChatModel {
  return scriptedModel(SUMMARY_MODEL, { delayMs, text: summaryOf });
}

/** The beginnings of some messages: a text without words of its source would be rejected and requested again. */
function summaryOf({ messages }: ModelRequest): string {
  const texts = messages.flatMap((message) => (message.role === 'user' ? message.content : []));
  const lines = texts.flatMap((content) => (content.kind === 'text' ? content.text.split('\n') : []));
  const said = lines.filter((line) => line.startsWith('[#')).map((line) => line.slice(line.indexOf(']') + 2));
  return [SUMMARY, ...said.slice(0, 6).map((text) => text.split(' ', 8).join(' '))].join(' ');
}

/** A summariser whose provider is down. */
export function failingModel(): ChatModel {
  return {
    ...summaryModel(0),
    async *stream(): AsyncGenerator<ModelPart> {
      await Promise.reject(new ModelError({ model: SUMMARY_MODEL, reason: 'transient', detail: 'status 500' }));
      yield { kind: 'text', text: '' };
    },
  };
}

/** A summariser that accepts the request and never answers. */
export function hangingModel(): ChatModel {
  return {
    ...summaryModel(0),
    async *stream(_request, { signal }): AsyncGenerator<ModelPart> {
      const { promise, reject } = Promise.withResolvers<never>();
      // Like an open socket, this keeps the process alive.
      const held = setInterval(() => undefined, 60_000);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      await promise.finally(() => clearInterval(held));
      yield { kind: 'text', text: '' };
    },
  };
}

export function providerOf(...models: readonly ChatModel[]): ModelProvider {
  const byId = new Map(models.map((model) => [model.id, model]));
  return {
    async open(modelId) {
      const model = byId.get(modelId);
      if (model === undefined) throw new Error(`There is no model ${modelId} in this bench`);
      return model;
    },
    choose: async () => ({ modelId: REPLY_MODEL, reason: 'the bench' }),
  };
}
