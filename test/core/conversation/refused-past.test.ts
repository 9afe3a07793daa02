import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  assembleView,
  defineEngine,
  defineTool,
  ModelError,
  type ModelRequest,
  type Tool,
  type ToolContext,
} from '../../../src/adapter-kit.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { createAgentDirectory } from '../../../src/config/directory.ts';
import { readerFor } from '../../../src/memory/rights/policy.ts';
import { explainReply } from '../../../src/requests/explain.ts';
import { BOB, type BotWorld, type BotWorldOptions, createBotWorld } from '../../support/bot-world.ts';
import { faithful, filler, type Said, type Script, scriptedModel, until } from '../compaction/compaction.world.ts';
import { bytesOf } from '../requests/why.world.ts';

const POISON = 'the quince recipe';
const said = (request: ModelRequest) => JSON.stringify([request.system, request.messages]);
const refuse = (): never => {
  throw new ModelError({ model: 'test:chat', reason: 'refused', detail: 'the prompt was flagged' });
};

/** A provider whose filter refuses every request with these words. */
const filtering =
  (answer: Script = (_, { count }) => ({ text: `Answer ${count}.` }), refusal: () => Said = refuse): Script =>
  (request, options) => {
    if (said(request).includes(POISON)) return refusal();
    return request.purpose === 'reply' || request.purpose === 'child'
      ? answer(request, options)
      : faithful(request, options);
  };

async function open(script: Script, options: Partial<BotWorldOptions> = {}) {
  const model = scriptedModel(script, { id: 'test:chat', window: 8000 });
  const world = await createBotWorld({ models: [model], ...options });
  const calls = () => model.requests.filter(({ purpose }) => purpose === 'reply');
  return {
    world,
    model,
    calls,
    /** How many calls of the model the message took, and the newest of them. */
    async ask(text: string, saying: Parameters<BotWorld['say']>[1] = {}) {
      const before = calls().length;
      await world.say(text, saying);
      await world.settled();
      return { count: calls().length - before, sent: calls().at(-1) as ModelRequest, post: posts(world).at(-1) };
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const posts = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);
const refusalsIn = ({ events }: BotWorld) => events.filter(({ kind }) => kind === 'context.refused');

async function explain(world: BotWorld) {
  const conversation = await world.conversation();
  const seq = (await world.entries()).findLast(({ role }) => role === 'assistant')?.seq ?? 0;
  return await explainReply(world.bot.services, { conversation, seq, reader: null });
}

async function expectExact(world: BotWorld, sent: ModelRequest): Promise<void> {
  const explained = await explain(world);
  expect(explained.exactness).toBe('exact');
  expect(bytesOf(explained.request)).toBe(bytesOf(sent));
}

const ENGINES = ['stacked', 'sliding'] as const;

describe.each(ENGINES)('with the engine %s, a refused message', (engine) => {
  it('fails once, and the conversation goes on', async () => {
    await using talk = await open(filtering(), { agent: { engine } });
    await talk.ask('I have a boat.');
    const refused = await talk.ask(`Tell me ${POISON}.`, { author: BOB });
    expect(refused.post).toContain('content filter');
    expect(refused.post).not.toContain('/reset');
    expect(refusalsIn(talk.world)).toEqual([]);
    const next = await talk.ask('How are you?');
    expect([next.count, next.post]).toEqual([2, expect.stringMatching(/^Answer \d+\.$/)]);
    expect(said(next.sent)).toContain('How are you?');
    expect(refusalsIn(talk.world)).toMatchObject([{ leftOut: 'messages', refusals: 1, model: 'test:chat' }]);
    await expectExact(talk.world, next.sent);
  });

  it('costs later turns no refused call', async () => {
    await using talk = await open(filtering(), { agent: { engine } });
    await talk.ask(`Tell me ${POISON}.`);
    await talk.ask('My kettle is copper.');
    const later = await talk.ask('And the kettle?');
    expect(later.count).toBe(1);
    expect(said(later.sent)).toContain('My kettle is copper.');
    await expectExact(talk.world, later.sent);
    expect(refusalsIn(talk.world)).toMatchObject([{ refusals: 1 }, { refusals: 0 }]);
  });

  it.each([
    ['edited', (world: BotWorld) => world.bot.sink.edited({ ...edit, conversation: world.key, at: world.clock.now() })],
    [
      'deleted',
      (world: BotWorld) => world.bot.sink.removed({ conversation: world.key, externalIds: [edit.externalId] }),
    ],
  ])('is forgotten once it was %s', async (_, change) => {
    await using talk = await open(filtering(), { agent: { engine } });
    await talk.ask('I have a boat.');
    await talk.ask(`Tell me ${POISON}.`, { id: edit.externalId });
    await talk.ask('How are you?');
    await change(talk.world);
    const next = await talk.ask('And my boat?');
    expect(next.count).toBe(1);
    expect(said(next.sent)).toContain('I have a boat.');
  });
});

const edit = { externalId: 'bad', parts: [{ kind: 'text', text: 'Tell me more.' }] } as const;

describe('the view that is shown', () => {
  const partOf = async (world: BotWorld, key: string) =>
    (await world.bot.commandServices.inspect(await world.conversation())).parts.find((part) => part.key === key);

  it.each(ENGINES)('is sent, and says what is left out: %s', async (engine) => {
    await using talk = await open(filtering(), { agent: { engine } });
    await talk.ask('I have a boat.');
    await talk.ask(`Tell me ${POISON}.`);
    expect((await partOf(talk.world, 'tail'))?.text).toContain(POISON);
    await talk.ask('How are you?');
    const tail = await partOf(talk.world, 'tail');
    expect(tail?.text).toContain('How are you?');
    expect(tail?.text).not.toContain(POISON);
    expect(tail).toMatchObject({ truncated: true, reason: expect.stringContaining('content filter refuses the rest') });
    expect(tail?.originalTokens).toBeGreaterThan(tail?.tokens ?? 0);
    const list = await talk.world.command('context');
    expect(JSON.stringify(list.rows)).toMatch(/, cut".*content filter refuses the rest/);
    await talk.world.command('reset');
    await talk.ask('Hello again.');
    expect((await partOf(talk.world, 'tail'))?.reason).not.toContain('content filter');
  });
});

describe('a refused request', () => {
  it('keeps the message that asked, whoever spoke since', async () => {
    await using talk = await open(filtering());
    await talk.ask(`Tell me ${POISON}.`);
    await Promise.all([
      talk.world.say('Where is my boat?'),
      talk.world.say('Nice weather.', { asks: false, author: BOB }),
    ]);
    await talk.world.settled();
    const sent = talk.calls().at(-1) as ModelRequest;
    expect(said(sent)).toMatch(/Where is my boat\?.*Nice weather\./);
    expect(said(sent)).not.toContain(POISON);
    await expectExact(talk.world, sent);
  });

  it('is sent without summaries if these are the cause', async () => {
    const script: Script = (request, options) =>
      request.purpose === 'reply' ? filtering()(request, options) : faithful(request, options);
    const model = { context_window: 3000, compaction: { model: 'test:free' } };
    const free = scriptedModel(faithful, { id: 'test:free', window: 32_000 });
    const chat = scriptedModel(script, { id: 'test:chat' });
    await using world = await createBotWorld({ models: [chat, free], agent: model });
    await world.say(`FACT Ada keeps ${POISON}. ${filler(60, 1)}`);
    await world.settled();
    for (
      let index = 0;
      index < 30 && !(await world.snapshot()).stack.some(({ text }) => text.includes(POISON));
      index += 1
    ) {
      await world.say(`${filler(90, index)}`);
      await world.settled();
      await world.clock.advance(60_000);
    }
    expect(JSON.stringify((await world.snapshot()).stack)).toContain(POISON);
    const before = chat.requests.length;
    await world.say('How are you?');
    await world.settled();
    expect(posts(world).at(-1)).toMatch(/^Answer/);
    expect(chat.requests.length - before).toBeLessThanOrEqual(3);
    expect(refusalsIn(world).at(-1)).toMatchObject({ leftOut: 'summaries' });
    await expectExact(world, chat.requests.at(-1) as ModelRequest);
    const again = chat.requests.length;
    await world.say('And now?');
    await world.settled();
    expect(chat.requests.length - again).toBe(1);
    // The next refused message is found with one refused call: the summaries are known.
    await world.say(`Tell me ${POISON}.`);
    await world.settled();
    const third = chat.requests.length;
    await world.say('How is the weather?');
    await world.settled();
    expect(posts(world).at(-1)).toMatch(/^Answer/);
    expect(chat.requests.length - third).toBe(2);
  });

  it('leaves later turns what they recall', async () => {
    await using talk = await open(filtering());
    await talk.ask('Hello.');
    await talk.world.command('memory remember', { text: 'Ada loves copper kettles.' });
    await talk.ask(`Tell me ${POISON}.`);
    await talk.ask('How are you?');
    const later = await talk.ask('What does Ada love?');
    expect(later.count).toBe(1);
    expect(said(later.sent)).not.toContain(POISON);
    expect(said(later.sent)).toContain('Ada loves copper kettles.');
  });

  it('is tried as a whole after a second edit', async () => {
    await using talk = await open(filtering());
    const change = (text: string) => {
      const parts = [{ kind: 'text', text }] as const;
      const { key, clock, bot } = talk.world;
      return bot.sink.edited({ conversation: key, externalId: edit.externalId, parts, at: clock.now() });
    };
    await talk.ask(`Tell me ${POISON}.`, { id: edit.externalId });
    await change(`Please tell me ${POISON}.`);
    expect((await talk.ask('How are you?')).count).toBe(2);
    // At the same time as the first edit.
    await change('Tell me more about ferries.');
    const next = await talk.ask('And now?');
    expect(next.count).toBe(1);
    expect(said(next.sent)).toContain('ferries');
  });

  it('leaves out what was recalled if that is the cause', async () => {
    await using talk = await open(filtering());
    await talk.ask('Hello.');
    await talk.world.command('memory remember', { text: `Ada loves ${POISON}.` });
    const next = await talk.ask('What does Ada love?');
    expect([next.count, next.post]).toEqual([2, expect.stringMatching(/^Answer/)]);
    expect(said(next.sent)).toMatch(/\d{4}-\d\d-\d\d/);
    await expectExact(talk.world, next.sent);
  });

  it('is tried as a whole again after a reset', async () => {
    await using talk = await open(filtering());
    await talk.ask(`Tell me ${POISON}.`);
    await talk.ask('How are you?');
    await talk.world.command('reset');
    await talk.ask('Hello again.');
    const next = await talk.ask('And now?');
    expect([next.count, refusalsIn(talk.world).length]).toEqual([1, 1]);
    expect(said(next.sent)).toContain('Hello again.');
  });

  it('is tried as a whole again with another model', async () => {
    const configOf = (model: string) => ({ agents: [defaultAgent({ model, context_window: 3000, tools: [] })] });
    let config = configOf('test:chat');
    const first = scriptedModel(filtering(), { id: 'test:chat' });
    const second = scriptedModel(() => ({ text: 'Second.' }), { id: 'test:free' });
    await using world = await createBotWorld({ models: [first, second], agents: createAgentDirectory(() => config) });
    for (const text of [`Tell me ${POISON}.`, 'How are you?', 'And now?']) {
      await world.say(text);
      await world.settled();
    }
    expect(said(first.requests.at(-1) as ModelRequest)).not.toContain(POISON);
    config = configOf('test:free');
    await world.say('And you?');
    await world.settled();
    expect(said(second.requests.at(-1) as ModelRequest)).toContain(POISON);
  });

  it('is tried as a whole again after a compaction', async () => {
    const long = filtering((_, { count }) => ({ text: `Answer ${count}. ${filler(60, count)}` }));
    const summariser = scriptedModel(faithful, { id: 'test:free', window: 32_000 });
    const model = scriptedModel(long, { id: 'test:chat' });
    const agent = { context_window: 3000, compaction: { model: 'test:free' } };
    await using world = await createBotWorld({ models: [model, summariser], agent });
    const ask = async (text: string) => {
      await world.say(text);
      await world.settled();
    };
    await ask(`Tell me ${POISON}. ${filler(60, 1)}`);
    const isCompacted = async () => (await world.conversation()).compactedUpto > 1;
    for (let index = 0; index < 30 && !(await isCompacted()); index += 1) {
      await ask(filler(60, index));
      await world.clock.advance(60_000);
    }
    expect(await isCompacted()).toBe(true);
    const before = refusalsIn(world).length;
    await ask('And now?');
    expect(posts(world).at(-1)).toMatch(/^Answer/);
    expect(said(model.requests.at(-1) as ModelRequest)).toContain('People talked about the river');
    expect(refusalsIn(world).length).toBe(before);
  });

  it('is reported once, however many steps the turn has', async () => {
    const step = defineTool({ name: 'step', description: 'Goes on', input: z.object({}), run: async () => 'Done.' });
    const script = filtering(({ messages }) => {
      const steps = messages.filter(({ role }) => role === 'tool').length;
      return steps % 3 === 2 ? { text: 'Ready.' } : { calls: [{ tool: 'step', input: {} }] };
    });
    await using talk = await open(script, { tools: [step], agent: { tools: ['step'] } });
    await talk.ask(`Tell me ${POISON}.`);
    const next = await talk.ask('Go on.');
    expect([next.count, next.post]).toEqual([4, 'Ready.']);
    expect(refusalsIn(talk.world)).toMatchObject([{ leftOut: 'messages', refusals: 1 }]);
  });

  it('passes through the hooks of plugins', async () => {
    await using talk = await open(filtering(), { hooks: [{ model: async (_, next) => await next() }] });
    await talk.ask(`Tell me ${POISON}.`);
    const next = await talk.ask('How are you?');
    expect([next.count, next.post]).toEqual([2, expect.stringMatching(/^Answer/)]);
  });

  it('is counted if the provider reports its tokens', async () => {
    const refusal = (): Said => ({ finish: 'refused', inputTokens: 77, outputTokens: 0 });
    await using talk = await open(filtering(undefined, refusal));
    await talk.ask(`Tell me ${POISON}.`);
    const next = await talk.ask('How are you?');
    expect(next.count).toBe(2);
    const { id } = await talk.world.conversation();
    const usage = await talk.world.bot.services.store.journal.usage(id);
    expect(usage.filter(({ purpose }) => purpose === 'reply')).toMatchObject([
      { calls: 3, inputTokens: 77 + 77 + 100 },
    ]);
  });

  it('teaches nothing about the size of requests', async () => {
    const refusal = (): Said => ({ finish: 'refused', inputTokens: 3, outputTokens: 0 });
    await using talk = await open(filtering(() => ({ text: 'Noted.', inputTokens: 0, outputTokens: 0 }), refusal));
    await talk.ask(`I keep a list. ${filler(900, 1)}`);
    const { calibration } = await talk.world.conversation();
    await talk.ask(`Tell me ${POISON}.`);
    expect((await talk.world.conversation()).calibration).toEqual(calibration);
    expect(talk.world.events.filter(({ kind }) => kind === 'model.mismatch')).toEqual([]);
  });

  it('is not tried again once its answer has begun', async () => {
    let isRefused = false;
    await using talk = await open(() => (isRefused ? { text: 'Half an ans', finish: 'refused' } : { text: 'Hello.' }));
    await talk.ask('Hello.');
    isRefused = true;
    const { count, post } = await talk.ask('How are you?');
    expect([count, post]).toEqual([1, expect.stringContaining('content filter')]);
  });

  it('is no reason to ask another model', async () => {
    const first = scriptedModel(filtering(), { id: 'test:one' });
    const second = scriptedModel(() => ({ text: 'Second.' }), { id: 'test:two' });
    await using world = await createBotWorld({ models: [first, second], agent: { model: ['test:one', 'test:two'] } });
    for (const text of [`Tell me ${POISON}.`, 'How are you?']) {
      await world.say(text);
      await world.settled();
    }
    expect(second.requests).toEqual([]);
    expect(posts(world).at(-1)).toMatch(/^Answer/);
  });

  it('leaves out nothing of the sizes that compactions follow', async () => {
    const long = filtering((_, { count }) => ({ text: `Answer ${count}. ${filler(60, count)}` }));
    const turnsUntilDue = async (refusedAt: number): Promise<number> => {
      await using talk = await open(long, { agent: { context_window: 3000 } });
      const isDue = () => talk.world.events.some(({ kind }) => kind === 'maintenance.requested');
      let turns = 0;
      for (; turns < 30 && !isDue(); turns += 1)
        await talk.ask(turns === refusedAt ? `Tell me ${POISON}. ${filler(60, turns)}` : filler(60, turns));
      return turns;
    };
    const usual = await turnsUntilDue(Number.POSITIVE_INFINITY);
    expect(usual).toBeLessThan(30);
    // The refused message has no answer.
    expect(await turnsUntilDue(usual - 4)).toBeLessThanOrEqual(usual + 1);
  });

  it('answers once after a crash between two attempts', async () => {
    let isHeld = true;
    const held = new Promise<Said>(() => undefined);
    await using talk = await open(filtering(() => (isHeld ? held : { text: 'Here I am.' })));
    await talk.ask(`Tell me ${POISON}.`);
    await talk.world.say('How are you?');
    await until(() => talk.calls().length >= 3);
    isHeld = false;
    await talk.world.crash();
    await talk.world.clock.advance(20_000);
    await talk.world.settled();
    expect(posts(talk.world).filter((text) => text === 'Here I am.')).toHaveLength(1);
    expect((await talk.world.entries()).filter(({ role }) => role === 'assistant')).toHaveLength(1);
  });
});

describe('a refused fixed part', () => {
  const failures = ({ events }: BotWorld) => events.flatMap((one) => (one.kind === 'turn.failed' ? [one.message] : []));
  const replyLine = async (world: BotWorld) =>
    (await world.command('status')).fields.find(({ name }) => name === 'Reply')?.value;

  it.each<[string, Partial<BotWorldOptions>, string]>([
    ['persona', { agent: { persona: `You are a cook and know ${POISON}.` } }, 'persona (configuration)'],
    ['policy', { agent: { policy: `Never mention ${POISON}.` } }, 'policy (configuration)'],
    ['section', { agent: { sections: [{ key: 'house', text: `Rules: ${POISON}.` }] } }, 'house (configuration)'],
    ['persona and policy', { agent: { persona: POISON, policy: POISON } }, 'persona (configuration) and policy'],
  ])('is named: %s', async (_, options, name) => {
    await using talk = await open(filtering(), options);
    const { sent } = await talk.ask('Hello.');
    expect(said(sent)).toContain(POISON);
    expect(failures(talk.world)).toEqual([
      expect.stringContaining(`The filter refuses a part of every request: ${name}`),
    ]);
    expect(await replyLine(talk.world)).toContain(name);
    const asked = talk.model.requests.length;
    await talk.ask('Hello?');
    expect(failures(talk.world)[1]).toContain(name);
    expect(talk.model.requests.slice(asked).map(({ purpose }) => purpose)).not.toContain('rerun');
  });

  it('is named: a standing instruction', async () => {
    await using talk = await open(filtering());
    await talk.ask('Hello.');
    const { commandServices, services } = talk.world.bot;
    const conversation = await talk.world.conversation();
    const reader = readerFor(conversation, services.agents.agentFor(conversation.key));
    const by = { reader, author: { id: 'operator', name: 'Operator', kind: 'person' }, rights: 'operator' } as const;
    const add = (text: string) => commandServices.memories.add({ text, kind: 'instruction', scope: 'place', by });
    await add('Always answer in French.');
    const bad = await add(`Always mention ${POISON}.`);
    await talk.ask('How are you?');
    const id = bad.kind === 'forgotten' ? null : bad.memory.id;
    expect(await replyLine(talk.world)).toContain(`the standing instruction ${id}.`);
    const usage = await services.store.journal.usage(conversation.id);
    expect(usage.map(({ purpose }) => purpose)).toContain('rerun');
  });

  it('is named: the description of a tool', async () => {
    const tool = defineTool({
      name: 'cook',
      description: `Cooks after ${POISON}.`,
      input: z.object({}),
      run: async () => 'Done.',
    });
    const script: Script = (request, options) =>
      JSON.stringify(request.tools).includes(POISON) ? refuse() : filtering()(request, options);
    await using talk = await open(script, { tools: [tool], agent: { tools: ['cook'] } });
    await talk.ask('Hello.');
    expect(await replyLine(talk.world)).toContain('the descriptions of tools');
  });

  it('is named for a model without tools, with few calls', async () => {
    const tool = defineTool({ name: 'cook', description: 'Cooks', input: z.object({}), run: async () => 'Done.' });
    const refusing = filtering(undefined, () => ({ finish: 'refused', text: '' }));
    const model = scriptedModel(refusing, { id: 'test:chat', window: 8000, tools: false });
    await using talk = await open(refusing, {
      models: [model],
      tools: [tool],
      agent: { persona: POISON, tools: ['cook'] },
    });
    await talk.ask('Hello.');
    expect(await replyLine(talk.world)).toContain('persona (configuration).');
    const reruns = model.requests.filter(({ purpose }) => purpose === 'rerun');
    expect(reruns.flatMap(({ tools }) => tools)).toEqual([]);
  });

  it('costs no call for tools that an agent lacks', async () => {
    await using talk = await open(filtering(), { agent: { persona: POISON, tools: [] } });
    await talk.ask('Hello.');
    const reruns = talk.model.requests.filter(({ purpose }) => purpose === 'rerun');
    expect(reruns.length).toBeGreaterThan(1);
    expect(reruns.filter(({ system, tools }) => system.length + tools.length === 0)).toEqual([]);
  });

  it('is looked for again after another failure', async () => {
    let isDown = true;
    const script: Script = (request, options) => {
      const isTest = request.purpose === 'rerun' && isDown;
      if (isTest) throw new ModelError({ model: 'test:chat', reason: 'transient', detail: 'HTTP 500' });
      return filtering()(request, options);
    };
    await using talk = await open(script, { agent: { persona: POISON } });
    await talk.ask('Hello.');
    expect(failures(talk.world)[0]).not.toContain('part of every request');
    isDown = false;
    await talk.ask('Hello?');
    expect(failures(talk.world)[1]).toContain('persona (configuration)');
  });

  it('is looked for while the conversation goes on', async () => {
    const held = Promise.withResolvers<void>();
    const script: Script = async (request, options) => {
      if (request.purpose === 'rerun') await held.promise;
      return await filtering()(request, options);
    };
    await using talk = await open(script);
    const isAsked = () => talk.model.requests.some(({ purpose }) => purpose === 'rerun');
    await talk.world.say(`Tell me ${POISON}.`);
    await until(isAsked);
    await talk.world.say('How are you?');
    await until(() => posts(talk.world).some((text) => text.startsWith('Answer')));
    expect(failures(talk.world)).toEqual([]);
    held.resolve();
    await talk.world.settled();
    expect(failures(talk.world)).toHaveLength(1);
  });

  it('is not blamed for a refused message', async () => {
    await using talk = await open(filtering());
    await talk.ask(`Tell me ${POISON}.`);
    await talk.ask(`And again ${POISON}.`);
    expect(failures(talk.world)).toHaveLength(2);
    expect(failures(talk.world).join(' ')).not.toContain('part of every request');
    expect(talk.model.requests.filter(({ purpose }) => purpose === 'rerun')).toHaveLength(1);
  });
});

describe('a refused result of a tool', () => {
  let ran = 0;
  const look = defineTool({
    name: 'look',
    description: 'Looks something up',
    input: z.object({}),
    run: async () => {
      ran += 1;
      return `Found: ${POISON}`;
    },
  });
  const hasResult = (request: ModelRequest) => request.messages.at(-1)?.role === 'tool';
  const looking = filtering((request) =>
    hasResult(request) ? { text: 'I see.' } : { calls: [{ tool: 'look', input: {} }] },
  );

  it('is left out for good, and no tool runs twice', async () => {
    ran = 0;
    await using talk = await open(looking, { tools: [look], agent: { tools: ['look'] } });
    await talk.ask('I have a boat.');
    const next = await talk.ask('Look again.');
    expect([ran, next.post, next.count]).toEqual([2, 'I see.', 3]);
    expect(said(next.sent)).toContain('I have a boat.');
    expect(said(next.sent)).toContain('this result is left out');
    expect(JSON.stringify(await talk.world.entries())).not.toContain(POISON);
    expect(refusalsIn(talk.world)).toMatchObject([{ leftOut: 'results' }, { leftOut: 'results' }]);
    await expectExact(talk.world, next.sent);
  });
});

describe('what comes with a refused result', () => {
  const hasResult = (request: ModelRequest) => request.messages.at(-1)?.role !== 'user';

  it('is not kept in the blob store', async () => {
    const read = defineTool({
      name: 'read',
      description: 'Reads a page',
      input: z.object({}),
      run: async () => `${POISON} ${'page '.repeat(4000)}`,
    });
    const script = filtering((request) =>
      hasResult(request) ? { text: 'I see.' } : { calls: [{ tool: 'read', input: {} }] },
    );
    await using talk = await open(script, { tools: [read], agent: { tools: ['read'] } });
    expect((await talk.ask('Read it.')).post).toBe('I see.');
    const { id } = await talk.world.conversation();
    expect(await talk.world.bot.services.store.blobs.list(id, { since: 0, limit: 10, after: null })).toEqual([]);
  });

  it('is no image that a tool opened', async () => {
    const reference = 'https://example.com/map.png';
    const picture = { kind: 'attachment', name: 'map.png', mediaType: 'image/png', sizeBytes: 3, reference } as const;
    let isRefused = false;
    const model = scriptedModel(
      (request) => {
        const isShown = JSON.stringify(request.messages).includes(reference);
        if (isRefused && isShown) return refuse();
        const isAsked = isRefused && request.messages.at(-1)?.role === 'user';
        return isAsked ? { calls: [{ tool: 'message_open', input: { message: 1 } }] } : { text: 'I see.' };
      },
      { id: 'test:chat' },
    );
    const seeing = Object.assign(model, { traits: { windowTokens: 16_000, tools: true, images: true } });
    const agent = { context_window: 16_000, tools: ['message_open'] };
    await using world = await createBotWorld({ models: [seeing], agent });
    await world.say('What is this?', { attachments: [picture] });
    await world.settled();
    isRefused = true;
    await world.say('Look again.');
    await world.settled();
    expect(posts(world)).toEqual(['I see.', 'I see.']);
    expect(refusalsIn(world)).toMatchObject([{ leftOut: 'results', refusals: 1 }]);
    await expectExact(world, model.requests.at(-1) as ModelRequest);
  });
});

describe('a child whose request is refused', () => {
  it('goes on without what it was told earlier', async () => {
    const research = defineTool({
      name: 'research',
      description: 'Finds something out',
      input: z.object({}),
      run: async (_, context: ToolContext) => {
        const tasks = ['What about boats?'];
        const answer = await context.spawn({ task: `Begin with ${POISON}.`, next: () => tasks.shift() ?? null });
        return answer.text;
      },
    }) as Tool;
    const hasResult = (request: ModelRequest) => request.messages.at(-1)?.role === 'tool';
    const script: Script = (request, options) => {
      if (request.purpose === 'child') {
        // The first answer is given in spite of the words.
        const isFirst = request.messages.length === 1 && !said(request).includes('boats');
        return isFirst ? { text: 'Go on.' } : filtering(() => ({ text: 'Boats float.' }))(request, options);
      }
      return hasResult(request) ? { text: 'Done.' } : { calls: [{ tool: 'research', input: {} }] };
    };
    await using talk = await open(script, { tools: [research], agent: { tools: ['research'] } });
    const { post, sent } = await talk.ask('Find out.');
    expect(post).toBe('Done.');
    expect(said(sent)).toContain('Boats float.');
    expect(refusalsIn(talk.world)).toMatchObject([{ conversation: talk.world.key, leftOut: 'messages' }]);
  });
});

describe('an engine of a plugin', () => {
  const own = (id: string, wraps: boolean) =>
    defineEngine({
      id,
      assemble: async (request) => (wraps ? { ...assembleView(request) } : assembleView(request)),
    });

  it('goes on if it builds its view with Strata', async () => {
    await using talk = await open(filtering(), { engines: { own: own('own', false) }, agent: { engine: 'own' } });
    await talk.ask(`Tell me ${POISON}.`);
    const next = await talk.ask('How are you?');
    expect([next.count, next.post]).toEqual([2, expect.stringMatching(/^Answer/)]);
    await expectExact(talk.world, next.sent);
  });

  it('fails with the hint at /reset otherwise', async () => {
    await using talk = await open(filtering(), { engines: { own: own('own', true) }, agent: { engine: 'own' } });
    const { count, post } = await talk.ask(`Tell me ${POISON}.`);
    expect([count, post]).toEqual([1, expect.stringContaining('/reset')]);
    expect(talk.world.events.find(({ kind }) => kind === 'turn.failed')).toMatchObject({ reason: 'fatal' });
  });
});
