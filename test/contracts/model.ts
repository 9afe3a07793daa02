import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChatModel, isStrataError, type ModelPart, type ModelRequest } from '../../src/adapter-kit.ts';

/** What `create` of a model contract returns. */
export interface ModelUnderTest {
  /** Answers any question with text, in more than one part. */
  readonly model: ChatModel;
  /** Frees everything else that the factory created. */
  dispose(): Promise<void>;
}

/** What `modelContract` tests. `create` is called before each test. */
export interface ModelContractOptions {
  /** The model at its provider, or at a double of it. */
  create(): Promise<ModelUnderTest>;
  /** The same model at a provider that does not answer, or refuses. Left out for a model without a provider. */
  readonly createBroken?: () => Promise<ChatModel>;
}

/**
 * The contract of every model with the tool loop.
 *
 * @example
 * modelContract('offline', { create: async () => ({ model: createOfflineModel(), dispose: async () => {} }) });
 */
export function modelContract(name: string, options: ModelContractOptions): void {
  describe(`model contract: ${name}`, () => {
    let made: ModelUnderTest;
    beforeEach(async () => {
      made = await options.create();
    });
    afterEach(() => made.dispose());

    it('is named by provider and model', () => {
      expect(made.model.id).toMatch(/^[^:\s]+:\S+$/);
      const { windowTokens } = made.model.traits;
      expect(windowTokens === null || windowTokens > 0).toBe(true);
    });

    it('streams text, and ends with one finish', async () => {
      const parts = await collect(made.model, ask('Good morning'));
      expect(textIn(parts)).not.toBe('');
      expect(parts.filter(({ kind }) => kind === 'finish')).toHaveLength(1);
      expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: 'stop' });
    });

    it('reports whole numbers of tokens, cached ones within the input', async () => {
      const usage = (await collect(made.model, ask('Good morning'))).flatMap((part) =>
        part.kind === 'finish' ? [part.usage] : [],
      )[0];
      if (usage === undefined) throw new Error('there was no finish');
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens = 0 } = usage;
      for (const count of [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens]) {
        expect(Number.isInteger(count) && count >= 0).toBe(true);
      }
      expect(cacheReadTokens + cacheWriteTokens).toBeLessThanOrEqual(inputTokens);
      expect(reasoningTokens).toBeLessThanOrEqual(outputTokens);
    });

    it('answers several requests at once', async () => {
      const answers = await Promise.all(['one', 'two', 'three'].map((text) => collect(made.model, ask(text))));
      expect(answers.map((parts) => parts.at(-1)?.kind)).toEqual(['finish', 'finish', 'finish']);
    });

    it('accepts a conversation with tool calls and their results', async () => {
      const parts = await collect(made.model, afterTool());
      expect(parts.at(-1)?.kind).toBe('finish');
    });

    it('fails when aborted before it begins', async () => {
      await expect(collect(made.model, ask('Hello'), AbortSignal.abort())).rejects.toThrow();
    });

    it('never takes an aborted answer for a whole one', async () => {
      const stop = new AbortController();
      const seen: ModelPart[] = [];
      const reading = (async () => {
        for await (const part of made.model.stream(ask('Tell me all'), { signal: stop.signal })) {
          seen.push(part);
          if (part.kind === 'text') stop.abort();
        }
      })();
      await expect(reading).rejects.toThrow();
      expect(seen.some(({ kind }) => kind === 'finish')).toBe(false);
    });

    const { createBroken } = options;
    if (createBroken === undefined) return;
    it('fails with a reason when its provider fails', async () => {
      const failed = (error: unknown) => isStrataError(error, 'MODEL_FAILED');
      await expect(collect(await createBroken(), ask('Hello'))).rejects.toSatisfy(failed);
    });
  });
}

async function collect(
  model: ChatModel,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request, { signal })) parts.push(part);
  return parts;
}

function textIn(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

function ask(text: string): ModelRequest {
  return {
    purpose: 'reply',
    system: [{ text: 'You are a bot.', cacheBreak: false }],
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    tools: [],
    maxOutputTokens: 200,
    json: false,
  };
}

/** The step after a tool has run. */
function afterTool(): ModelRequest {
  const call = { callId: 'call_1', tool: 'look_up', input: { word: 'tea' } };
  const result = { callId: 'call_1', tool: 'look_up', text: 'Tea is a drink.', isError: false };
  const { messages, ...rest } = ask('Look up tea.');
  return {
    ...rest,
    messages: [...messages, { role: 'assistant', text: '', calls: [call] }, { role: 'tool', results: [result] }],
    tools: [
      {
        name: 'look_up',
        description: 'Looks a word up.',
        inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      },
    ],
  };
}
