import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, ModelError, type ModelMessage, type ModelRequest } from '../../../src/adapter-kit.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { collectStep } from '../../../src/models/step.ts';
import { explainReply } from '../../../src/requests/explain.ts';
import { ask } from '../../fixtures/models-requests.ts';
import { type BotWorld, type BotWorldOptions, createBotWorld } from '../../support/bot-world.ts';
import { type Said, type Script, type ScriptedModel, scriptedModel } from '../compaction/compaction.world.ts';
import { bytesOf } from '../requests/why.world.ts';

/** What a model wants back with its calls, while a turn runs. */

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({}),
  run: async () => 'A heron.',
});
const looking = (reasoning?: string, more: Said = {}): Said => ({
  calls: [{ tool: 'look', input: {} }],
  ...(reasoning === undefined ? {} : { reasoning }),
  ...more,
});
const playing =
  (...script: readonly Said[]): Script =>
  (_, { count }) =>
    script[count - 1] ?? { text: `Answer ${count}.` };
const one = (script: Script) => scriptedModel(script, { id: 'test:one' });
const two = (script: Script) => scriptedModel(script, { id: 'test:two' });

interface Talk extends AsyncDisposable {
  readonly world: BotWorld;
  /** The requests of the replies, in order. */
  readonly sent: readonly ModelRequest[];
}

async function talk(models: readonly ScriptedModel[], options: Partial<BotWorldOptions> = {}): Promise<Talk> {
  const agent = { model: models.map(({ id }) => id), context_window: 8000, tools: ['look'], ...options.agent };
  const world = await createBotWorld({ tools: [look], ...options, models, agent });
  await world.say('What is there?');
  await world.settled();
  return {
    world,
    get sent() {
      return models[0]?.requests ?? [];
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const reasoningIn = ({ messages }: Pick<ModelRequest, 'messages'>) =>
  messages.flatMap((message) => (message.role === 'assistant' && message.calls.length > 0 ? [message.reasoning] : []));
const withoutIt = (message: ModelMessage): ModelMessage => {
  if (message.role !== 'assistant') return message;
  const { role, text, calls } = message;
  return { role, text, calls };
};

describe('what a model wants back with its calls', () => {
  it('goes back with each of them', async () => {
    await using here = await talk([one(playing(looking('first'), looking(), looking('third')))]);
    expect(here.sent.map(reasoningIn)).toEqual([[], ['first'], ['first', undefined], ['first', undefined, 'third']]);
  });

  it('is gone when the turn has ended', async () => {
    await using here = await talk([one(playing(looking('first')))]);
    await here.world.say('And now?');
    await here.world.settled();
    expect(here.sent.map(reasoningIn)).toEqual([[], ['first'], [undefined]]);
  });

  it('is neither stored nor shown', async () => {
    const secret = 'quince-quince-quince';
    await using here = await talk([one(playing(looking(secret)))]);
    const { world } = here;
    expect(reasoningIn(here.sent[1] as ModelRequest)).toEqual([secret]);
    const conversation = await world.conversation();
    const seq = (await world.entries()).findLast(({ role }) => role === 'assistant')?.seq ?? 0;
    const explained = await explainReply(world.bot.services, { conversation, seq, reader: null });
    const shown = [
      explained,
      world.events,
      await world.entries(),
      await world.bot.commandServices.inspect(conversation),
    ];
    expect(JSON.stringify([...shown, [...world.channel.posts.values()], world.channel.shown])).not.toContain(secret);
    await world.bot.stop({ deadlineMs: 1000 });
    const names = await readdir(world.directory, { recursive: true });
    const files = names.map((name) => readFile(join(world.directory, name)).catch(() => Buffer.of()));
    const stored = Buffer.concat(await Promise.all(files));
    expect(['A heron.', secret].map((text) => stored.includes(text))).toEqual([true, false]);
  });

  it('is no part of the rebuilt request', async () => {
    await using here = await talk([one(playing(looking('first'), looking('second')))]);
    const { world } = here;
    const conversation = await world.conversation();
    const seq = (await world.entries()).findLast(({ role }) => role === 'assistant')?.seq ?? 0;
    const explained = await explainReply(world.bot.services, { conversation, seq, reader: null });
    expect(explained.exactness).toBe('exact');
    const last = here.sent[2] as ModelRequest;
    expect(bytesOf(explained.request)).toBe(bytesOf({ ...last, messages: last.messages.map(withoutIt) }));
  });

  it('is not kept with an answer', async () => {
    const step = async (said: Said) => collectStep(one(playing(said)), ask('What is there?'), how);
    const how = { signal: AbortSignal.timeout(10_000), onText: () => undefined };
    expect((await step(looking('first'))).reasoning).toMatchObject({ content: 'first' });
    expect((await step({ text: 'A heron.', reasoning: 'first' })).reasoning).toBeNull();
  });

  it('is dropped as a whole if it is endless', async () => {
    const long = looking('x'.repeat(1_000_001), { reasoningTokens: 5 });
    await using here = await talk([one(playing(long, looking('x'.repeat(1_000_000), { reasoningTokens: 5 })))]);
    expect(reasoningIn(here.sent[2] as ModelRequest).map((given) => given?.length)).toEqual([undefined, 1_000_000]);
  });

  it('may be of any kind, and costs no reply', async () => {
    const odd = looking(JSON.parse('{"a":1}'));
    await using here = await talk([one(playing(odd))]);
    expect(here.sent.map(reasoningIn)).toEqual([[], [undefined]]);
    expect([...here.world.channel.posts.values()]).toHaveLength(1);
  });

  it('is not repeated by an error', async () => {
    const reasoning = 'They want a surprise party on Friday.';
    const detail = `invalid signature of "${reasoning}"`;
    const failing: Script = (_, { count }) => {
      if (count === 1) return looking(reasoning);
      throw new ModelError({ model: 'test:one', reason: 'fatal', detail });
    };
    await using here = await talk([one(failing)]);
    const failed = here.world.events.find(({ kind }) => kind === 'turn.failed');
    expect(failed).toMatchObject({ reason: 'fatal', message: expect.stringContaining('invalid signature') });
    expect(JSON.stringify(here.world.events)).not.toContain('surprise');
  });

  it('teaches nothing about the size of requests', async () => {
    const counted = (inputTokens: number) => ({ inputTokens, reasoningTokens: 4000 });
    const learned = async (reasoning?: string) => {
      await using here = await talk([
        one(playing(looking(reasoning, counted(500)), { text: 'Yes.', ...counted(4500) })),
      ]);
      return (await here.world.conversation()).calibration;
    };
    expect(await learned('first')).toMatchObject({ samples: 1, lastInputTokens: 500 });
    expect(await learned()).toMatchObject({ samples: 2, lastInputTokens: 4500 });
  });

  it('is billed with a request that nobody counts', async () => {
    const unreported = { inputTokens: 0, outputTokens: 0 };
    const billed = async (reasoning?: string) => {
      const script = playing(looking(reasoning, unreported), { text: 'Yes.', ...unreported });
      await using here = await talk([one(script)]);
      const called = here.world.events.flatMap((event) => (event.kind === 'model.called' ? [event] : []));
      return called.at(-1)?.usage.inputTokens ?? 0;
    };
    expect((await billed('Hm, '.repeat(1000))) - (await billed())).toBeGreaterThan(700);
  });
});

describe('another model of the list', () => {
  const away = (): never => {
    throw new ModelError({ model: 'test:one', reason: 'transient', detail: 'down' });
  };

  it('gets nothing of it, and keeps its own', async () => {
    const first = one((request, options) =>
      options.count === 2 ? away() : playing(looking('of one'))(request, options),
    );
    const second = two(playing(looking('of two')));
    await using here = await talk([first, second]);
    expect(here.sent.map(reasoningIn)).toEqual([[], ['of one'], ['of one', undefined]]);
    expect(second.requests.map(reasoningIn)).toEqual([[undefined]]);
  });

  it('without tools gets none either', async () => {
    const first = one((_, { count }) => (count === 1 ? looking('of one') : away()));
    const second = scriptedModel(playing(), { id: 'test:two', tools: false });
    await using here = await talk([first, second]);
    expect([here.sent.length, second.requests.length]).toEqual([2, 1]);
    expect(JSON.stringify(second.requests)).not.toContain('of one');
  });
});

it('it is gone when a message is edited meanwhile', async () => {
  let world: BotWorld | null = null;
  const change = async () => {
    const { key, clock, bot } = world as BotWorld;
    const edit = { conversation: key, externalId: 'gate', parts: [{ kind: 'text', text: 'Never mind.' }] } as const;
    await bot.sink.edited({ ...edit, at: clock.now() });
    return 'A heron.';
  };
  const model = one(playing({ text: 'Yes.' }, looking('The code is kingfisher.'), looking('And now?')));
  const tools = [defineTool({ name: 'look', description: 'Looks around.', input: z.object({}), run: change })];
  await using here = await createBotWorld({ models: [model], tools, agent: { tools: ['look'] } });
  world = here;
  await here.say('My name is Ada.', { id: 'name', asks: false });
  const { id } = await here.conversation();
  // Another process, whose clock is ahead, has edited a message before.
  const ahead = { externalId: 'name', parts: [{ kind: 'text', text: 'I am Ada.' }], tokens: 4 } as const;
  await here.bot.services.store.transcript.edit(id, { ...ahead, now: here.clock.now() + 5000 });
  await here.say('The code of my gate is kingfisher.', { id: 'gate' });
  await here.settled();
  await here.say('What is there?');
  await here.settled();
  expect(reasoningIn(model.requests[2] as ModelRequest)).toEqual([undefined]);
  expect(JSON.stringify(model.requests.slice(2))).not.toContain('kingfisher');
});

describe('a hook', () => {
  const seen: unknown[] = [];
  const watching: Hooks['model'] = async (context, next) => {
    const result = await next();
    seen.push(context, result);
    return { ...result };
  };

  it('does not see it, nor take it away', async () => {
    seen.length = 0;
    await using here = await talk([one(playing(looking('first')))], { hooks: [{ model: watching }] });
    expect(here.sent.map(reasoningIn)).toEqual([[], ['first']]);
    expect(seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(seen)).not.toContain('first');
  });

  it('takes it away with calls of its own', async () => {
    const replacing: Hooks['model'] = async (_, next) => {
      const result = await next();
      return { ...result, calls: result.calls.map((call) => ({ ...call, input: { around: true } })) };
    };
    await using here = await talk([one(playing(looking('first')))], { hooks: [{ model: replacing }] });
    expect(here.sent.map(reasoningIn)).toEqual([[], [undefined]]);
  });

  it.each([
    ['leaves it with other messages', 'user', ['first']],
    ['takes it away with the message', 'assistant', [undefined]],
  ] as const)('%s', async (_, role, expected) => {
    const changing: Hooks['model'] = async ({ messages }, next) =>
      await next({
        messages: messages.map((message) => {
          if (message.role !== role) return message;
          if (message.role === 'assistant') return { ...message, text: 'Let me see.' };
          return { role: 'user', content: [{ kind: 'text', text: 'Where is the heron?' }] };
        }),
      });
    await using here = await talk([one(playing(looking('first')))], { hooks: [{ model: changing }] });
    expect(JSON.stringify(here.sent[1])).toContain(role === 'user' ? 'Where is the heron?' : 'Let me see.');
    expect(reasoningIn(here.sent[1] as ModelRequest)).toEqual(expected);
  });
});

it.each([
  ['leaves room for it', 100],
  ['needs its room', 4500],
])('a hook that adds to the request %s', async (_, words) => {
  const adding: Hooks['model'] = async ({ messages }, next) =>
    await next({
      messages: [...messages, { role: 'user', content: [{ kind: 'text', text: 'heron '.repeat(words) }] }],
    });
  const long = 'Hm, '.repeat(2000);
  await using here = await talk([one(playing(looking(long)))], { hooks: [{ model: adding }] });
  expect(here.sent.map(reasoningIn)).toEqual([[], [words === 100 ? long : undefined]]);
});

describe('a request without room for it', () => {
  const gaps = ({ world }: Talk) => world.events.filter(({ kind }) => kind === 'gap.opened');

  it('goes without the oldest', async () => {
    const script = playing(
      looking('first', { reasoningTokens: 5000 }),
      looking('second', { reasoningTokens: 3000 }),
      looking('third', { reasoningTokens: 20 }),
    );
    await using here = await talk([one(script)]);
    expect(here.sent.map(reasoningIn)).toEqual([[], ['first'], [undefined, 'second'], [undefined, 'second', 'third']]);
    expect(gaps(here)).toEqual([]);
  });

  it('goes without one that fills the window', async () => {
    await using here = await talk([one(playing(looking('first', { reasoningTokens: 8000 })))]);
    expect(here.sent.map(reasoningIn)).toEqual([[], [undefined]]);
  });

  it('estimates it if nobody has counted it', async () => {
    await using here = await talk([one(playing(looking('Hm, '.repeat(10_000)), looking('second')))]);
    expect(here.sent.map(reasoningIn)).toEqual([[], [undefined], [undefined, 'second']]);
  });

  it('drops it first when the provider refuses its size', async () => {
    const script: Script = (request, { count }) => {
      if (count <= 2) return looking(`thought ${count}`);
      if (reasoningIn(request).some((given) => given !== undefined)) {
        throw new ModelError({ model: 'test:one', reason: 'overflow', detail: 'too long' });
      }
      return { text: 'Yes.' };
    };
    await using here = await talk([one(script)]);
    await here.world.say('Again?');
    await here.world.settled();
    expect(here.sent.slice(2, 4).map(reasoningIn)).toEqual([
      ['thought 1', 'thought 2'],
      [undefined, undefined],
    ]);
    expect(gaps(here)).toEqual([]);
    expect([...here.world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['Yes.', 'Yes.']);
  });
});

it('results that a filter refuses take it with them', async () => {
  const script: Script = (request, { count }) => {
    if (count <= 2) return looking(`thought ${count}`);
    if (count === 3) throw new ModelError({ model: 'test:one', reason: 'refused', detail: 'flagged' });
    return { text: JSON.stringify(reasoningIn(request)) };
  };
  await using here = await talk([one(script)]);
  expect(here.sent.slice(2).map(reasoningIn)).toEqual([
    ['thought 1', 'thought 2'],
    ['thought 1', undefined],
  ]);
});
