import {
  type ChatModel,
  type JsonValue,
  ModelError,
  type ModelPart,
  type ModelRequest,
} from '../../../src/adapter-kit.ts';
import type { Answer } from './answer.ts';
import { countRequest, countText } from './text/count.ts';

const ID = 'offline:demo';
/** Deliberately small: a few minutes of conversation fill it, so that every tier can be watched. */
const WINDOW_TOKENS = 2000;

/**
 * The built-in model: no network, no key, no randomness. It answers from its view, summarises by selecting sentences,
 * and finds memories by patterns. Equal requests always give equal parts.
 */
export function createOfflineModel(): ChatModel {
  return {
    id: ID,
    traits: { windowTokens: WINDOW_TOKENS, tools: true, images: false },
    async *stream(request, { signal }) {
      const inputTokens = countRequest(request);
      if (inputTokens > WINDOW_TOKENS) throw tooLong(inputTokens);
      const answer = await answerTo(request);
      for (const part of partsOf(answer, request, inputTokens)) {
        if (signal.aborted) throw stopped(signal.reason);
        yield part;
      }
    },
  };
}

function isChat({ purpose }: Pick<ModelRequest, 'purpose'>): boolean {
  return purpose === 'reply' || purpose === 'child' || purpose === 'rerun';
}

/** Its rules are loaded with the first request: a bot starts sooner without them. */
async function answerTo(request: ModelRequest): Promise<Answer> {
  if (isChat(request)) return (await import('./reply.ts')).answerReply(request);
  return (await import('./summaries/maintenance.ts')).answerMaintenance(request);
}

function partsOf({ text, calls }: Answer, request: ModelRequest, inputTokens: number): readonly ModelPart[] {
  const deltas = deltasOf(text);
  const kept = deltas.filter((_, index) => countText(deltas.slice(0, index + 1).join('')) <= request.maxOutputTokens);
  const isCut = kept.length < deltas.length;
  const made = isCut ? [] : calls.map((call, index) => ({ ...call, callId: `call-${index + 1}` }));
  const written = [...kept, ...made.map(({ tool, input }) => `${tool} ${JSON.stringify(input satisfies JsonValue)}`)];
  const outputTokens = Math.max(1, countText(written.join('')));
  const reason = isCut ? 'length' : made.length > 0 ? 'tool-calls' : 'stop';
  return [
    ...kept.map((delta): ModelPart => ({ kind: 'text', text: delta })),
    ...made.map((call): ModelPart => ({ kind: 'call', call })),
    { kind: 'finish', reason, usage: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 } },
  ];
}

/** Chunks of a few words, as a model streams them. */
function deltasOf(text: string): readonly string[] {
  return text.match(/\P{Script=Han}{1,24}(?:\s|$)|\p{Script=Han}{1,8}|\S{1,24}\s*|\s+/gu) ?? [];
}

function tooLong(inputTokens: number): ModelError {
  const detail = `the request has ${inputTokens} tokens, the window of this model ${WINDOW_TOKENS}`;
  return new ModelError({ model: ID, reason: 'overflow', detail }, { windowTokens: WINDOW_TOKENS });
}

function stopped(cause: unknown): ModelError {
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError';
  return new ModelError(
    { model: ID, reason: isTimeout ? 'timeout' : 'aborted', detail: 'the call was aborted' },
    { cause },
  );
}
