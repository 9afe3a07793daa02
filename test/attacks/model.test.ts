import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAiSdkModels } from '../../adapters/models/ai-sdk/index.ts';
import type { ChatModel, ModelPart, ModelRequest, ToolCall } from '../../src/adapter-kit.ts';
import { parseJsonAnswer } from '../../src/compaction/answer/read-answer.ts';
import { estimateText } from '../../src/context/measure/tokens.ts';
import { ModelError } from '../../src/domain/errors.ts';
import { defineTool } from '../../src/index.ts';
import { collectStep, type Step } from '../../src/models/step.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { ask, silentLog } from '../fixtures/models-requests.ts';
import { chunk, serve, sse } from '../fixtures/models-server.ts';
import { createBotWorld } from '../support/bot-world.ts';

const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
const unreported = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** A custom model: nothing parses its output before the core does. */
function modelOf(parts: () => Iterable<ModelPart>): ChatModel {
  return {
    id: 'own:model',
    traits: { windowTokens: null, tools: true, images: false },
    async *stream() {
      yield* parts();
    },
  };
}

async function step(model: ChatModel, over: Partial<ModelRequest> = {}): Promise<Step & { drafts: number }> {
  let drafts = 0;
  const options = {
    signal: new AbortController().signal,
    onText: () => {
      drafts += 1;
    },
  };
  return { ...(await collectStep(model, ask('hello', over), options)), drafts };
}

describe('usage that cannot be true', () => {
  const values = [Number.NaN, Number.POSITIVE_INFINITY, -5, 1e300, '12', null, undefined];

  it.each(values)('of %s tokens counts as unreported', async (value) => {
    const told = JSON.parse('{}');
    for (const field of Object.keys(usage)) told[field] = value;
    const model = modelOf(() => [
      { kind: 'text', text: 'Hello.' },
      { kind: 'finish', reason: 'stop', usage: told },
    ]);
    expect(await step(model)).toMatchObject({ text: 'Hello.', usage: unreported });
  });

  it('may be missing whole, or hold fractions', async () => {
    const { usage: none, ...finish } = { kind: 'finish', reason: 'stop', usage } as const;
    const missing = modelOf(() => [{ kind: 'text', text: 'Hello.' }, JSON.parse(JSON.stringify(finish))]);
    expect(await step(missing)).toMatchObject({ text: 'Hello.', usage: unreported });
    const broken = modelOf(() => [{ ...finish, usage: { ...none, inputTokens: 10.6 } }]);
    expect((await step(broken)).usage).toEqual({ ...usage, inputTokens: 11, reasoningTokens: 0 });
  });

  const onTheWire = ['null', '{}', '[]', '"many"', '7', '{"prompt_tokens":null}', '{"prompt_tokens":"12"}'];
  const larger = ['{"prompt_tokens":1e999,"completion_tokens":-1e999}', '{"prompt_tokens":-5,"completion_tokens":2.5}'];

  it.each([...onTheWire, ...larger])('of a server, %s, loses no reply', async (told) => {
    await using server = await serve((_request, response) => {
      sse(response, [chunk({ role: 'assistant', content: 'Hello.' }), chunk({}, 'stop')]);
      sse(response, [
        `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":${told}}`,
      ]);
      response.end('data: [DONE]\n\n');
    });
    const result = await step(await openModel(server.url));
    expect(result.text).toBe('Hello.');
    for (const count of Object.values(result.usage)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
  });
});

async function openModel(url: string): Promise<ChatModel> {
  const providers = { local: { baseUrl: `${url}/v1` } };
  return await createAiSdkModels({ environment: {}, providers, builtIn: {}, log: silentLog }).open('local:m');
}

describe('an error that repeats the request', () => {
  const secret = 'my password is swordfish';
  const bodies: Readonly<Record<string, (request: string) => string>> = {
    whole: (request) => `Failed to parse: ${request}`,
    escaped: (request) => `1 validation error: input=${JSON.stringify(request)}`,
    quoted: () => "Invalid content: 'swordfish' is not allowed",
    spaced: () => 'Invalid content: my  password\nis  swordfish',
  };

  it.each(Object.keys(bodies))('loses it: %s', async (kind) => {
    await using server = await serve((request, response) => {
      const message = bodies[kind]?.(JSON.stringify(request.body)) ?? '';
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
    });
    const messages = [{ role: 'user', content: [{ kind: 'text', text: secret }] }] as const;
    const error = await step(await openModel(server.url), { messages }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'MODEL_FAILED', reason: 'fatal' });
    expect(String(error)).not.toContain('swordfish');
    expect(String(error)).toMatch(/Failed to parse|validation error|Invalid content/);
  });

  /** As Python writes a text, a list of texts in one, and the bytes of a text. */
  const escapes: Readonly<Record<string, (text: string) => string>> = {
    once: (text) =>
      text.replace(/[^\p{ASCII}]/gu, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
    twice: (text) => JSON.stringify(escapes['once']?.(text) ?? ''),
    'as bytes': (text) =>
      text.replace(/[^\p{ASCII}]/gu, (letter) => Buffer.from(letter).toString('hex').replace(/../g, '\\x$&')),
  };

  it.each(Object.keys(escapes))('loses letters of other scripts that are escaped %s', async (kind) => {
    const told = 'мой пароль рыба-меч';
    const shown = escapes[kind]?.(told) ?? '';
    const detail = `upstream said: {"input": ${shown}} is too odd`;
    const model = modelOf(() => {
      throw new ModelError({ model: 'm', reason: 'fatal', detail });
    });
    const messages = [{ role: 'user', content: [{ kind: 'text', text: told }] }] as const;
    const error = await step(model, { messages }).catch((failure: unknown) => failure);
    expect(String(error)).toMatch(/upstream said: .*… ?.*is too odd/u);
    expect(String(error)).not.toContain(shown);
    expect(String(error)).not.toMatch(/[\p{sc=Cyrl}]|\\[ux]/iu);
  });

  it.each([
    'Unsupported Unicode escape: \\u0000 cannot be converted to text',
    "'utf-8' codec cannot decode b'\\xff\\xfe'",
    'There is no file C:\\\\users\\\\x64abc',
  ])('keeps the escapes of an error: %s', async (detail) => {
    const model = modelOf(() => {
      throw new ModelError({ model: 'm', reason: 'fatal', detail });
    });
    const error = await step(model).catch((failure: unknown) => failure);
    expect(error).toHaveProperty('data.detail', detail);
  });

  it('stays one line when its echo is cut', async () => {
    const told = 'the harbour opens at six';
    const detail = `\\u0000 is not allowed:\\u000a${told}`;
    const model = modelOf(() => {
      throw new ModelError({ model: 'm', reason: 'fatal', detail });
    });
    const messages = [{ role: 'user', content: [{ kind: 'text', text: told }] }] as const;
    const error = await step(model, { messages }).catch((failure: unknown) => failure);
    expect(error).toHaveProperty('data.detail', '\\u0000 is not allowed: …');
  });

  it('keeps what the provider says itself', async () => {
    const detail = 'The model `m` does not exist or you have no access to it';
    const model = modelOf(() => {
      throw new ModelError({ model: 'm', reason: 'missing', detail });
    });
    await expect(step(model)).rejects.toMatchObject({ data: { detail } });
  });
});

describe('an answer without end', () => {
  it('is left where no answer could be longer', async () => {
    let sent = 0;
    const model = modelOf(function* () {
      for (;;) {
        sent += 1;
        yield { kind: 'text', text: 'x'.repeat(1_000) };
      }
    });
    const { text, finish } = await step(model, { maxOutputTokens: 2_000 });
    expect([text.length, finish]).toEqual([32_000, 'length']);
    expect(sent).toBeLessThan(40);
  });

  it('of tool calls is left too, with whole calls only', async () => {
    const model = modelOf(function* () {
      for (let count = 0; ; count += 1) {
        const call: ToolCall = { callId: `${count}`, tool: 'roll_dice', input: { sides: 'x'.repeat(1_000) } };
        yield { kind: 'call', call };
      }
    });
    const { calls, finish } = await step(model, { maxOutputTokens: 100 });
    expect([calls.length, finish]).toEqual([19, 'length']);
  });

  it('of one piece is cut', async () => {
    const parts: ModelPart[] = [{ kind: 'text', text: 'x'.repeat(1_000_000) }];
    expect((await step(modelOf(() => parts))).text).toHaveLength(20_000);
  });

  it('of reasoning counts up to a million characters', async () => {
    const thoughts: ModelPart[] = Array(300).fill({ kind: 'reasoning', text: 'x'.repeat(10_000) });
    const told = JSON.parse('{}');
    const finish: ModelPart = { kind: 'finish', reason: 'stop', usage: told };
    const { usage: counted } = await step(modelOf(() => [...thoughts, finish]));
    expect(counted.reasoningTokens).toBe(estimateText('x'.repeat(1_000_000)));
    // The piece that reaches the limit is cut.
    const long: ModelPart = { kind: 'reasoning', text: 'x'.repeat(3_000_000) };
    expect((await step(modelOf(() => [long, finish]))).usage).toEqual(counted);
  });

  const text = 'x'.repeat(10_000);
  const calls = [{ index: 0, id: 'c1', type: 'function', function: { name: 'roll_dice', arguments: `"${text}"` } }];
  const streams: Record<string, string> = {
    text: `data: ${JSON.stringify(chunk({ content: text }))}\n\n`,
    thoughts: `data: ${JSON.stringify(chunk({ reasoning_content: text }))}\n\n`,
    calls: `data: ${JSON.stringify(chunk({ tool_calls: calls }))}\n\n`,
    'one line': text,
  };

  it.each(Object.keys(streams))('ends the connection of a server that streams %s', async (kind) => {
    let closed = false;
    await using server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('close', () => {
        closed = true;
      });
      const pump = () => {
        if (response.destroyed) return;
        if (response.write(streams[kind] ?? '')) setImmediate(pump);
        else response.once('drain', pump);
      };
      pump();
    });
    const result = await step(await openModel(server.url)).catch((error: unknown) => error);
    if (kind === 'thoughts') expect(result).toMatchObject({ message: expect.stringContaining('longer than') });
    if (kind === 'text') expect(result).toMatchObject({ finish: 'length' });
    else expect(result).toMatchObject({ code: 'MODEL_FAILED' });
    await expect.poll(() => closed).toBe(true);
  });
});

describe('a call that nests deeply', () => {
  const nested = (levels: number) => `{"note":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const LEVELS = [90, 1000, 3000, 50_000];
  const isKept = (levels: number) => levels < 100;

  it('leaves the conversation readable', async () => {
    let answers = 0;
    const model = scriptedModel(() => {
      answers += 1;
      const levels = LEVELS[answers - 1];
      if (levels === undefined) return { text: 'It rolled.' };
      return { text: '', calls: [{ callId: 'c', tool: 'roll', input: JSON.parse(nested(levels)) }] };
    });
    const roll = defineTool({ name: 'roll', description: 'Rolls.', input: z.looseObject({}), run: () => 'Four.' });
    await using world = await createBotWorld({ models: [model], tools: [roll], agent: { tools: ['roll'] } });
    await world.say('Roll.');
    await world.settled();
    await world.restart();
    await world.say('Roll again.');
    await world.settled();
    expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['It rolled.', 'It rolled.']);
    const results = (await world.entries()).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'tool-result' ? [part.isError] : [])),
    );
    expect(results).toEqual(LEVELS.map((levels) => !isKept(levels)));
  });

  it('in the answer of a summariser breaks nothing', () => {
    const memory = { kind: 'fact', text: 'Ada keeps bees', sources: 'SOURCES' };
    const answer = JSON.stringify({ summary: 'Ada talked about bees.', memories: [memory] });
    const read = (levels: number) =>
      parseJsonAnswer(answer.replace('"SOURCES"', '['.repeat(levels) + ']'.repeat(levels)))?.candidates.length ?? 0;
    expect([read(90), read(20_000)]).toEqual([1, 0]);
  });

  it.each([90, 1000])('of %i levels is read from the wire', async (levels) => {
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'roll_dice', arguments: nested(levels) } };
    await using server = await serve((_request, response) => {
      sse(response, [chunk({ role: 'assistant', tool_calls: [call] }), chunk({}, 'tool_calls')]);
      response.end('data: [DONE]\n\n');
    });
    const { calls } = await step(await openModel(server.url), { maxOutputTokens: 20_000 });
    expect(calls.map(({ input }) => typeof input)).toEqual([isKept(levels) ? 'object' : 'string']);
  });
});
