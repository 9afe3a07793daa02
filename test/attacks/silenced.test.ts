import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAiSdkModels } from '../../adapters/models/ai-sdk/index.ts';
import { ModelError, type ModelRequest } from '../../src/adapter-kit.ts';
import { explainReply } from '../../src/requests/explain.ts';
import { faithful, scriptedModel, until } from '../core/compaction/compaction.world.ts';
import { bytesOf } from '../core/requests/why.world.ts';
import { filterRefusals } from '../fixtures/models-filters.ts';
import { ask, collect, silentLog } from '../fixtures/models-requests.ts';
import { chunk, claude, gemini, serve, sse, type TestServer } from '../fixtures/models-server.ts';
import { ADA, BOB, type BotWorld, createBotWorld } from '../support/bot-world.ts';
import { SIZED, sized } from '../support/size.ts';

/** One member says something that the provider's filter refuses, so that the bot never answers anybody again. */

const POISON = 'the quince recipe';
const posts = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);

interface Wire {
  readonly name: string;
  readonly model: string;
  refuse(response: ServerResponse): void;
  answer(response: ServerResponse): void;
}

const chats = { answer: (response: ServerResponse) => sse(response, [chunk({ content: 'Fine.' }), chunk({}, 'stop')]) };

const wires: readonly Wire[] = [
  ...filterRefusals.map(({ name, status, body }) => ({
    ...chats,
    name,
    model: name === 'Azure' ? 'openai:gpt-4.1' : 'local:m',
    refuse: (response: ServerResponse) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).write(body),
  })),
  {
    name: 'Gemini',
    model: 'google:gemini-2.5-flash',
    refuse: (response) => sse(response, gemini({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })),
    answer(response) {
      const content = { role: 'model', parts: [{ text: 'Fine.' }] };
      sse(response, gemini({ candidates: [{ content, finishReason: 'STOP', index: 0 }] }));
    },
  },
  {
    name: 'Anthropic',
    model: 'anthropic:claude-haiku-4-5',
    refuse: (response) => sse(response, claude('', 'refusal')),
    answer: (response) => sse(response, claude('Fine.', 'end_turn')),
  },
];

describe('a message that a filter refuses', () => {
  let server: TestServer;
  let wire: Wire | undefined;
  beforeAll(async () => {
    server = await serve(({ body }, response) => {
      if (JSON.stringify(body).includes(POISON)) wire?.refuse(response);
      else wire?.answer(response);
      response.end();
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each(wires)('silences nobody with $name', async (given) => {
    wire = given;
    const { url } = server;
    const keys = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
    const urls = { OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_BASE_URL: url, GOOGLE_GEMINI_BASE_URL: `${url}/v1beta` };
    const providers = { local: { baseUrl: `${url}/v1` } };
    const models = createAiSdkModels({
      environment: { ...keys, ...urls },
      providers,
      builtIn: {},
      fetch,
      log: silentLog,
    });
    const model = await models.open(given.model);
    // Loads the SDK.
    await collect(model, ask('hello'), AbortSignal.timeout(60_000));
    await using world = await createBotWorld({ models: [model], agent: { context_window: 8000 } });
    const told = async (text: string, author = ADA) => {
      const before = [posts(world).length, server.received.length] as const;
      await world.say(text, { author });
      await until(() => posts(world).length > before[0]);
      await world.settled();
      return [posts(world).at(-1), server.received.length - before[1]];
    };
    expect(await told('Hello.')).toEqual(['Fine.', 1]);
    expect((await told(`Tell me ${POISON}.`, BOB))[0]).toContain('content filter');
    expect(await told('How are you?')).toEqual(['Fine.', 2]);
    expect(await told('And now?')).toEqual(['Fine.', 1]);
  });
});

const deeds = fc.array(
  fc.record({
    kind: fc.constantFrom('ask', 'ask', 'ask', 'poison', 'chat', 'clean', 'spoil', 'delete', 'reset', 'restart'),
    which: fc.nat({ max: 20 }),
  }),
  { minLength: 4, maxLength: 14 },
);

describe('a conversation in which some messages are refused', () => {
  it('answers every other message once', SIZED, async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        await using run = await begin();
        for (const deed of list) await run.act(deed);
      }),
      { numRuns: sized({ small: 6, full: 40 }) },
    );
  });
});

interface Deed {
  readonly kind: string;
  readonly which: number;
}

/** A bot, and what its filter refuses now. */
async function begin() {
  const model = scriptedModel(
    (request, options) => {
      if (JSON.stringify([request.system, request.messages]).includes(POISON))
        throw new ModelError({ model: 'test:chat', reason: 'refused', detail: 'flagged' });
      return request.purpose === 'reply' ? { text: `Answer ${options.count}.` } : faithful(request, options);
    },
    { id: 'test:chat' },
  );
  const world = await createBotWorld({ models: [model], agent: { context_window: 8000 } });
  const calls = () => model.requests.filter(({ purpose }) => purpose === 'reply');
  /** By id, since the last reset. */
  const texts = new Map<string, string>();
  let count = 0;
  /** Nothing happened to earlier messages since the last answer. */
  let isCalm = true;
  const say = async (text: string, asks: boolean) => {
    count += 1;
    texts.set(`m${count}`, text);
    await world.say(text, { id: `m${count}`, asks, author: asks ? ADA : BOB });
    await world.settled();
  };
  const one = (which: number) => [...texts.keys()].at(which % Math.max(1, texts.size)) ?? 'none';
  const edit = async (externalId: string, text: string) => {
    if (!texts.has(externalId)) return;
    texts.set(externalId, text);
    const parts = [{ kind: 'text', text }] as const;
    await world.bot.sink.edited({ conversation: world.key, externalId, parts, at: world.clock.now() });
  };
  const check = async () => {
    const [post, called] = [posts(world).length, calls().length];
    await say(`Question ${count}?`, true);
    const taken = calls().length - called;
    expect(posts(world).length - post).toBe(1);
    expect(posts(world).at(-1)).toMatch(/^Answer/);
    const isClean = [...texts.values()].every((text) => !text.includes(POISON));
    const sent = calls().at(-1) as ModelRequest;
    if (isClean) for (const text of texts.values()) expect(bytesOf(sent)).toContain(text);
    expect(taken).toBeLessThanOrEqual(isClean || isCalm ? 1 : 3);
    isCalm = true;
    const conversation = await world.conversation();
    const seq = (await world.entries()).findLast(({ role }) => role === 'assistant')?.seq ?? 0;
    const explained = await explainReply(world.bot.services, { conversation, seq, reader: null });
    expect([explained.exactness, bytesOf(explained.request)]).toEqual(['exact', bytesOf(sent)]);
  };
  const deed = async ({ kind, which }: Deed) => {
    const id = one(which);
    if (kind === 'ask') return await check();
    isCalm = false;
    if (kind === 'poison') await say(`Tell ${count} ${POISON}.`, true);
    if (kind === 'chat') await say(`Talk ${count} ${POISON}.`, false);
    if (kind === 'clean') await edit(id, `Clean ${which}.`);
    if (kind === 'spoil') await edit(id, `Spoilt ${which} ${POISON}.`);
    if (kind === 'restart') await world.restart();
    if (kind === 'delete') await world.bot.sink.removed({ conversation: world.key, externalIds: [id] });
    if (kind === 'delete') texts.delete(id);
    if (kind === 'reset' && texts.size > 0) await world.command('reset');
    if (kind === 'reset') texts.clear();
    await world.settled();
  };
  return { act: deed, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}
