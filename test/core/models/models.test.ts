import { describe, expect, it } from 'vitest';
import { type ChatModel, ModelError, type ModelFailure, type ModelPart } from '../../../src/adapter-kit.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { pausedModels } from '../../../src/models/breaker.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { createWorld, filler, type Said, type Script, scriptedModel } from '../compaction/compaction.world.ts';

const failing =
  (reason: ModelFailure, model = 'test:one'): Script =>
  () =>
    Promise.reject(new ModelError({ model, reason, detail: 'scripted' }));
const saying =
  (text: string): Script =>
  () => ({ text });
const one = (script: Script, window: number | null = null) => scriptedModel(script, { id: 'test:one', window });
const two = (script: Script, window: number | null = null) => scriptedModel(script, { id: 'test:two', window });
const LIST = { model: ['test:one', 'test:two'] };
const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);

describe('settings of an agent', () => {
  it('go with every call of a reply', async () => {
    const model = scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' });
    const provider_options = { openai: { serviceTier: 'flex' } };
    const agent = { temperature: 0.2, effort: 'low', provider_options } as const;
    await using here = await createBotWorld({ models: [model], agent });
    await here.say('Hello?');
    await here.settled();
    expect(model.requests[0]).toMatchObject({ temperature: 0.2, effort: 'low', providerOptions: provider_options });
  });

  it('change no summary, save options of the provider', async () => {
    const provider_options = { openai: { serviceTier: 'flex' } };
    await using world = await createWorld({ agent: { temperature: 2, effort: 'none', provider_options } });
    for (let index = 1; index <= 12; index += 1) {
      await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
    }
    await world.run();
    expect(world.model.requests.length).toBeGreaterThan(0);
    for (const request of world.model.requests) {
      expect([request.temperature, request.effort]).toEqual([undefined, undefined]);
      expect(request.providerOptions).toEqual(provider_options);
    }
  });
});

describe('a model that is too slow', () => {
  const SLOW = { timeout_seconds: 1 };
  const writing = (...parts: readonly ModelPart[]): ChatModel => ({
    id: 'test:slow',
    traits: { windowTokens: null, tools: true, images: false },
    async *stream() {
      yield* parts;
      await new Promise(() => undefined);
    },
  });
  const answerOf = async (model: ChatModel, hooks: readonly Hooks[] = []) => {
    await using here = await createBotWorld({ models: [model], agent: SLOW, hooks });
    await here.say('Tell me a story.');
    await here.settled();
    const { id } = await here.conversation();
    return { posted: posted(here).join(), calls: await here.bot.services.store.journal.usage(id) };
  };

  it('answers with what it has written', async () => {
    const { posted: answer, calls } = await answerOf(writing({ kind: 'text', text: 'Once upon a time' }));
    expect(answer).toMatch(/^Once upon a time\n\n\(.*maximum length or time.*incomplete/);
    expect(calls).toMatchObject([{ purpose: 'reply', calls: 1 }]);
  });

  it('is billed once if it ends with its time', async () => {
    const obedient: ChatModel = {
      ...writing(),
      async *stream(_request, { signal }) {
        yield { kind: 'text', text: 'Once upon a time' };
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    expect((await answerOf(obedient)).calls).toMatchObject([{ purpose: 'reply', calls: 1 }]);
  });

  it('answers with nothing that it has taken back', async () => {
    const { posted: answer } = await answerOf(writing({ kind: 'text', text: 'I think' }, { kind: 'retract' }));
    expect(answer).toMatch(/took too long/);
  });

  it('has what it has written read by hooks', async () => {
    const hooks: Hooks = { model: async (_context, next) => ({ ...(await next()), text: 'Changed.' }) };
    const { posted: answer } = await answerOf(writing({ kind: 'text', text: 'Once upon' }), [hooks]);
    expect(answer).toMatch(/^Changed\./);
  });
});

describe('a list of models', () => {
  it('keeps no message that an outage retells', async () => {
    // In words of its own, which the cut of verbatim quotes does not find.
    const detail = 'rejected what Ada told about a bird';
    const quoting: Script = () => Promise.reject(new ModelError({ model: 'test:one', reason: 'transient', detail }));
    await using here = await createBotWorld({ models: [one(quoting), two(saying('Second.'))], agent: LIST });
    await here.say('My code is kingfisher.');
    await here.settled();
    expect(posted(here)).toEqual(['Second.']);
    const kept = JSON.stringify(await here.bot.services.state.list('breaker'));
    expect(kept).toContain('failed (transient)');
    expect(kept).not.toContain('a bird');
  });

  it('goes on to the next if one never answers', async () => {
    const silent = one(() => new Promise(() => undefined));
    const agent = { ...LIST, timeout_seconds: 1 };
    await using here = await createBotWorld({ models: [silent, two(saying('Second.'))], agent });
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)).toEqual(['Second.']);
  });

  it('answers with what its last has written', async () => {
    const writing = (id: string, text: string): ChatModel => ({
      ...scriptedModel(saying(text), { id }),
      async *stream(_request, { signal }) {
        yield { kind: 'text', text };
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const models = [writing('test:one', 'First, of all'), writing('test:two', 'Once upon a time')];
    await using here = await createBotWorld({ models, agent: { ...LIST, timeout_seconds: 1 } });
    await here.say('Tell me a story.');
    await here.settled();
    expect(posted(here).join()).toMatch(/^Once upon a time\n\n\(.*maximum length or time.*incomplete/);
    expect(here.events.find(({ kind }) => kind === 'turn.ended')).toMatchObject({ cut: 'length' });
    expect(here.events.filter(({ kind }) => kind === 'model.called')).toMatchObject([
      { model: 'test:one' },
      { model: 'test:two' },
    ]);
  });

  it('counts it against the last as well', async () => {
    const silent: Script = () => new Promise(() => undefined);
    const agent = { ...LIST, timeout_seconds: 1 };
    await using here = await createBotWorld({ models: [one(silent), two(silent)], agent });
    await here.say('Hello?');
    await here.settled();
    const { state } = here.bot.services;
    for (const id of ['test:one', 'test:two']) {
      expect(await state.get('breaker', id)).toMatchObject({ failures: 1 });
    }
  });

  it.each<ModelFailure>(['transient', 'rate-limit', 'timeout'])('goes on to the next on %s', async (reason) => {
    const [first, second] = [one(failing(reason)), two(saying('Second.'))];
    await using here = await createBotWorld({ models: [first, second], agent: LIST });
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)).toEqual(['Second.']);
    expect(here.events.filter(({ kind }) => kind === 'model.called')).toMatchObject([{ model: 'test:two' }]);
    expect(here.events.filter(({ kind }) => kind === 'model.fallback')).toMatchObject([
      { model: 'test:one', next: 'test:two' },
    ]);
    const status = JSON.stringify(await here.command('status'));
    expect(status).toContain('test:one, otherwise test:two');
    expect(status).toContain('"Last reply by","value":"test:two"');
    expect(status).toContain('of test:two');
  });

  it.each<ModelFailure>(['fatal', 'refused', 'auth', 'quota', 'missing', 'unsupported'])(
    'stays with the first on %s',
    async (reason) => {
      const [first, second] = [one(failing(reason)), two(saying('Second.'))];
      await using here = await createBotWorld({ models: [first, second], agent: LIST });
      await here.say('Hello?');
      await here.settled();
      expect(second.requests).toEqual([]);
      expect(here.events.find(({ kind }) => kind === 'turn.failed')).toMatchObject({ reason });
    },
  );

  it('asks the first as long as it answers', async () => {
    const [first, second] = [one(saying('First.')), two(saying('Second.'))];
    await using here = await createBotWorld({ models: [first, second], agent: LIST });
    await here.say('Hello?');
    await here.settled();
    expect([posted(here), second.requests]).toEqual([['First.'], []]);
  });

  it('learns the size of requests from the first only', async () => {
    let isAway = true;
    const counting: Said = { text: 'Well.', inputTokens: 900 };
    const first = one((...call) => (isAway ? failing('transient')(...call) : counting));
    await using here = await createBotWorld({ models: [first, two(() => counting)], agent: LIST });
    const learned = async () => {
      await here.say('Hello?');
      await here.settled();
      return (await here.conversation()).calibration;
    };
    expect(await learned()).toBeNull();
    isAway = false;
    expect(await learned()).toMatchObject({ model: 'test:one', samples: 1, lastInputTokens: 900 });
  });

  it('starts over after a stream that broke off', async () => {
    const [first, second] = [one(() => ({ text: 'Half an ans', cut: true })), two(saying('Whole.'))];
    await using here = await createBotWorld({ models: [first, second], agent: LIST });
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)).toEqual(['Whole.']);
    const drafts = here.channel.shown.flatMap((shown) => (shown.kind === 'draft' ? [shown.text] : []));
    expect(drafts).toEqual(['Half an ans', 'Whole.']);
  });

  it('passes over a paused model, and returns after the pause', async () => {
    let isAway = true;
    const first = one((...call) => (isAway ? failing('transient')(...call) : { text: 'First.' }));
    const second = two(saying('Second.'));
    await using here = await createBotWorld({ models: [first, second], agent: LIST });
    for (let turn = 0; turn < 7; turn += 1) {
      await here.say(`Hello ${turn}?`);
      await here.settled();
    }
    expect([first.requests.length, second.requests.length]).toEqual([5, 7]);
    const paused = await pausedModels(here.bot.services.state, here.clock.now());
    expect(paused.map(({ model }) => model)).toEqual(['test:one']);
    expect(JSON.stringify(await here.command('status'))).toContain('test:one is paused until');
    isAway = false;
    await here.clock.advance(60_000);
    await here.say('And now?');
    await here.settled();
    expect(posted(here).at(-1)).toBe('First.');
    expect(await pausedModels(here.bot.services.state, here.clock.now())).toEqual([]);
  });

  it('pauses no model that answers between its failures', async () => {
    let calls = 0;
    const first = one((...call) => {
      calls += 1;
      return calls % 2 === 1 ? failing('transient')(...call) : { text: 'First.' };
    });
    await using here = await createBotWorld({ models: [first, two(saying('Second.'))], agent: LIST });
    const turns = 14;
    for (let turn = 0; turn < turns; turn += 1) {
      await here.say(`Hello ${turn}?`);
      await here.settled();
    }
    expect(first.requests).toHaveLength(turns);
    expect(posted(here).slice(-2)).toEqual(['Second.', 'First.']);
  });

  it('asks paused models if no other is left', async () => {
    const models = [one(failing('transient')), two(failing('transient', 'test:two'))];
    await using here = await createBotWorld({ models, agent: LIST });
    for (let turn = 0; turn < 5; turn += 1) {
      await here.say(`Hello ${turn}?`);
      await here.settled();
    }
    expect(await pausedModels(here.bot.services.state, here.clock.now())).toHaveLength(2);
    const before = models.map(({ requests }) => requests.length);
    await here.say('And now?');
    await here.settled();
    for (const [index, { requests }] of models.entries()) expect(requests.length).toBeGreaterThan(before[index] ?? 0);
  });

  it('fails the turn when all are away', async () => {
    const [first, second] = [one(failing('transient')), two(failing('rate-limit', 'test:two'))];
    await using here = await createBotWorld({ models: [first, second], agent: LIST });
    await here.say('Hello?');
    await here.settled();
    expect(here.events.find(({ kind }) => kind === 'turn.failed')).toMatchObject({ reason: 'rate-limit' });
    expect([first.requests.length, second.requests.length]).toEqual([3, 3]);
  });

  it('measures by the smallest window', async () => {
    const models = [one(saying('First.'), 9000), two(saying('Second.'), 5000)];
    await using here = await createBotWorld({ models, agent: { ...LIST, context_window: 'auto' } });
    await here.say('Hello?');
    await here.settled();
    expect(JSON.stringify(await here.command('status'))).toContain('"Window","value":"5,000 tokens"');
  });

  it('writes summaries with the next one too', async () => {
    const summariser = two((request, options) =>
      request.purpose === 'reply'
        ? { text: filler(40, options.count) }
        : { text: 'People talked about the river garden.' },
    );
    const first = one((request, options) =>
      request.purpose === 'reply' ? { text: filler(60, options.count) } : failing('transient')(request, options),
    );
    await using here = await createBotWorld({ models: [first, summariser], agent: { ...LIST, context_window: 2000 } });
    for (let turn = 0; turn < 20 && summariser.requests.length === 0; turn += 1) {
      await here.say(`About ${filler(60, turn)}`);
      await here.settled();
    }
    expect(summariser.requests.map(({ purpose }) => purpose)).toContain('compact');
    expect(here.events.filter(({ kind }) => kind === 'model.fallback')[0]).toMatchObject({ next: 'test:two' });
  });
});
