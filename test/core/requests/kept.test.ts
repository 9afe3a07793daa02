import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ConversationKey, defineTool, makeKey } from '../../../src/adapter-kit.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { readerFor } from '../../../src/memory/rights/policy.ts';
import { explainReply } from '../../../src/requests/explain.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { bytesOf } from './why.world.ts';

const CHANNEL = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });
const THREAD = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't1' });
const OTHER = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't2' });

async function explain({ bot }: BotWorld, audience: 'operator' | 'public' = 'operator') {
  const { store, agents } = bot.services;
  const conversation = await store.conversations.find(CHANNEL);
  if (conversation === null) throw new Error('Nothing was said yet.');
  const reader = readerFor({ ...conversation, audience: 'public' }, agents.agentFor(CHANNEL));
  const seq = conversation.nextSeq - 1;
  return await explainReply(bot.services, { conversation, seq, reader: audience === 'operator' ? null : reader });
}

describe('a request with passages of its place', () => {
  const talk = async (hooks: readonly Hooks[] = []) => {
    const model = scriptedModel(() => ({ text: 'Well.' }), { id: 'test:chat' });
    const world = await createBotWorld({ models: [model], hooks, agent: { recall: { places: true } } });
    const say = (key: ConversationKey, id: string, text: string) => world.say(text, { key, id, asks: key === CHANNEL });
    await say(OTHER, 'm1', 'My tent is orange and has a door.');
    await say(THREAD, 'm2', 'Hello.');
    await say(THREAD, 'm3', 'My tent is vermilion and stands in Kirkenes.');
    await say(CHANNEL, 'm4', 'What colour is my tent?');
    await world.settled();
    return { world, sent: model.requests.findLast(({ purpose }) => purpose === 'reply') };
  };

  it('is rebuilt byte for byte', async () => {
    const { world, sent } = await talk();
    await using _ = world;
    const explained = await explain(world);
    expect(explained.exactness).toBe('exact');
    expect(bytesOf(explained.request)).toMatch(/orange.*vermilion|vermilion.*orange/);
    expect(sent && bytesOf(sent)).toBe(bytesOf(explained.request));
  });

  it('shows none that was deleted since', async () => {
    const { world } = await talk();
    await using _ = world;
    await world.bot.sink.removed({ conversation: THREAD, externalIds: ['m3'] });
    const explained = await explain(world);
    expect(explained.exactness).toBe('gone');
    expect(bytesOf(explained.request)).toContain('orange');
    expect(bytesOf(explained.request)).not.toContain('vermilion');
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('deleted');
  });

  it('shows none that was edited since', async () => {
    const { world } = await talk();
    await using _ = world;
    const id = (await world.bot.services.store.conversations.find(THREAD))?.id ?? 0;
    const edit = { externalId: 'm3', parts: [{ kind: 'text', text: 'My tent is grey.' }], tokens: 5 } as const;
    await world.bot.services.store.transcript.edit(id, { ...edit, now: world.clock.now() });
    const explained = await explain(world);
    expect(bytesOf(explained.request)).not.toMatch(/vermilion|grey/);
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('edited');
  });

  it('shows no message of its own that was edited since', async () => {
    const { world } = await talk();
    await using _ = world;
    const id = (await world.bot.services.store.conversations.find(CHANNEL))?.id ?? 0;
    const edit = { externalId: 'm4', parts: [{ kind: 'text', text: 'What colour is my boat?' }], tokens: 5 } as const;
    await world.bot.services.store.transcript.edit(id, { ...edit, now: world.clock.now() });
    const explained = await explain(world);
    expect(explained.exactness).toBe('gone');
    expect(bytesOf(explained.request)).not.toMatch(/my boat|What colour/);
    expect(explained.blocks.filter(({ kind }) => kind === 'message').map(({ gone }) => gone)).toEqual(['edited']);
  });

  it('shows none that its readers may not read', async () => {
    const { world } = await talk();
    await using _ = world;
    const explained = await explain(world, 'public');
    expect(bytesOf(explained.request)).not.toMatch(/vermilion|orange/);
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('hidden');
  });

  it('shows none in what a hook made of them', async () => {
    const { world } = await talk([
      {
        model: ({ system, messages }, next) => {
          const [tent = ''] = /My tent is vermilion/.exec(JSON.stringify(messages)) ?? [];
          return next({ system: [{ text: `Answer in verse. ${tent}`, cacheBreak: false }, ...system] });
        },
      },
    ]);
    await using _ = world;
    expect(JSON.stringify((await explain(world)).request.system)).toContain('vermilion');
    const explained = await explain(world, 'public');
    expect(explained.exactness).toBe('altered');
    expect(JSON.stringify(explained)).not.toContain('vermilion');
  });

  it('shows none from before its place became public', async () => {
    const { world } = await talk();
    await using _ = world;
    for (const key of [THREAD, OTHER, CHANNEL]) await world.bot.sink.audienceChanged(key, 'public');
    const explained = await explain(world, 'public');
    expect(bytesOf(explained.request)).not.toMatch(/vermilion|orange/);
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('hidden');
  });

  it('shows none from before a reset of its thread', async () => {
    const { world } = await talk();
    await using _ = world;
    const { conversations } = world.bot.services.store;
    const id = (await conversations.find(THREAD))?.id ?? 0;
    await conversations.change(id, { kind: 'reset', now: world.clock.now() });
    const explained = await explain(world);
    expect(bytesOf(explained.request)).not.toContain('vermilion');
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('reset');
  });
});

describe('a request with images that a tool opened', () => {
  const talk = async () => {
    const reference = 'https://example.com/map.png';
    const picture = { kind: 'attachment', name: 'map.png', mediaType: 'image/png', sizeBytes: 3, reference } as const;
    const model = scriptedModel(
      ({ messages }) => {
        const last = messages.at(-1);
        const isAsked = last?.role === 'user' && JSON.stringify(last).includes('look again');
        const [first, second] = [1, 3].map((message) => ({ tool: 'message_open', input: { message } }));
        if (isAsked && first && second) return { calls: [first, second, first] };
        const hasOpened = last?.role === 'user' && messages.filter(({ role }) => role === 'tool').length === 1;
        return hasOpened && second ? { calls: [second] } : { text: 'I see.' };
      },
      { id: 'test:chat' },
    );
    const seeing = Object.assign(model, { traits: { windowTokens: 16_000, tools: true, images: true } });
    const world = await createBotWorld({
      models: [seeing],
      agent: { context_window: 16_000, tools: ['message_open'] },
    });
    await world.say('What is this?', { attachments: [picture] });
    await world.settled();
    await world.say('And now?');
    await world.settled();
    await world.say('Please look again.');
    await world.settled();
    return { world, sent: model.requests.findLast(({ purpose }) => purpose === 'reply') };
  };

  it('is rebuilt byte for byte', async () => {
    const { world, sent } = await talk();
    await using _ = world;
    const explained = await explain(world);
    expect(explained.exactness).toBe('exact');
    expect(bytesOf(explained.request).split('https://example.com/map.png')).toHaveLength(3);
    expect(sent && bytesOf(sent)).toBe(bytesOf(explained.request));
    const opened = explained.blocks.filter(({ reason }) => reason === 'images that a tool opened');
    expect(opened.map(({ source }) => source)).toEqual(['transcript #1', 'transcript #1']);
    const steps = explained.blocks.filter((block) => block.kind === 'step' && !opened.includes(block));
    expect(steps.map(({ key }) => key)).toEqual(['#6', '#7', '#8', '#9']);
  });

  it('shows no image of a deleted message', async () => {
    const { world } = await talk();
    await using _ = world;
    await world.bot.sink.removed({ conversation: CHANNEL, externalIds: ['m1'] });
    const explained = await explain(world);
    expect(explained.exactness).toBe('gone');
    expect(bytesOf(explained.request)).not.toContain('example.com');
    expect(explained.blocks.find(({ reason }) => reason === 'images that a tool opened')?.gone).toBe('deleted');
  });
});

describe('a request that a hook changed', () => {
  const talk = async (hook: NonNullable<Hooks['model']>) => {
    const model = scriptedModel(() => ({ text: 'Well.' }), { id: 'test:chat' });
    const world = await createBotWorld({ models: [model], hooks: [{ model: hook }] });
    for (const text of ['The code is swordfish.', 'I keep bees.', 'What did I say?']) {
      await world.say(text);
      await world.settled();
    }
    return { world, sent: model.requests.findLast(({ purpose }) => purpose === 'reply') };
  };
  const block = { text: 'Answer in verse. The code was swordfish.', cacheBreak: false };

  it.each<[string, string, NonNullable<Hooks['model']>]>([
    ['a block before others', 'changed the request', ({ system }, next) => next({ system: [block, ...system] })],
    [
      'messages left out',
      'left parts out or moved them',
      ({ messages }, next) => next({ messages: messages.slice(2) }),
    ],
    [
      'another text in each message',
      'changed the request',
      ({ messages }, next) => next({ messages: JSON.parse(JSON.stringify(messages).replaceAll('swordfish', '***')) }),
    ],
  ])('is rebuilt byte for byte, with %s', async (_name, reason, hook) => {
    const { world, sent } = await talk(hook);
    await using _ = world;
    const explained = await explain(world);
    expect(explained.exactness).toBe('exact');
    expect(sent && bytesOf(sent)).toBe(bytesOf(explained.request));
    expect(explained.blocks.at(-1)).toMatchObject({ kind: 'hook', reason });
  });

  it('shows and keeps nothing of the change after a deletion', async () => {
    const { world } = await talk(({ system }, next) => next({ system: [block, ...system] }));
    await using _ = world;
    await world.bot.sink.removed({ conversation: CHANNEL, externalIds: ['m1'] });
    const explained = await explain(world);
    expect(explained.exactness).toBe('altered');
    expect(JSON.stringify(explained)).not.toContain('swordfish');
    const { id } = await world.conversation();
    const { blobs } = world.bot.services.store;
    expect(await blobs.list(id, { since: 0, after: null, limit: 9 })).toEqual([]);
  });

  it.each([
    '',
    'null',
    '{"system":[[0,0]]}',
    '{"messages":[[-1,2]]}',
    '{"messages":[{"role":"judge"}]}',
    '{"tools":[]}',
  ])('is shown as altered if the change is damaged: %s', async (damaged) => {
    const { world } = await talk(({ system }, next) => next({ system: [block, ...system] }));
    await using _ = world;
    const { store } = world.bot.services;
    const read: typeof store.blobs.read = async (...call) => {
      const found = await store.blobs.read(...call);
      return found && { ...found, text: damaged };
    };
    const services = { ...world.bot.services, store: { ...store, blobs: { ...store.blobs, read } } };
    const conversation = await world.conversation();
    const explained = await explainReply(services, { conversation, seq: conversation.nextSeq - 1, reader: null });
    expect(explained.exactness).toBe('altered');
    expect(explained.blocks.at(-1)?.kind).not.toBe('hook');
  });

  it('is not kept if the change is long', async () => {
    const long = { text: 'river '.repeat(1500), cacheBreak: false };
    const { world } = await talk(({ system }, next) => next({ system: [...system, long] }));
    await using _ = world;
    expect((await explain(world)).exactness).toBe('altered');
  });
});

it('every message of a request has its reason', async () => {
  const look = defineTool({ name: 'look', description: 'Looks', input: z.object({}), run: async () => 'It is red.' });
  const model = scriptedModel(
    ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'Red.' } : { calls: [{ tool: 'look', input: {} }] }),
    { id: 'test:chat' },
  );
  await using world = await createBotWorld({ models: [model], tools: [look], agent: { tools: ['look'] } });
  await world.say('My tent is here.', { asks: false });
  await world.say('Which colour is it?');
  await world.settled();
  const conversation = await world.conversation();
  const { blocks } = await explainReply(world.bot.services, {
    conversation,
    seq: conversation.nextSeq - 1,
    reader: null,
  });
  const said = blocks.filter(({ kind }) => kind === 'message' || kind === 'step');
  expect(said.map(({ key, reason }) => `${key} ${reason}`)).toEqual([
    '#1 since the last summary',
    '#2 the newest message, which the reply answers',
    '#3 tools that it called before it answered',
    '#4 results of the tools that it called',
  ]);
});

it('a question leads past a sent message to its reply', async () => {
  const model = scriptedModel(
    async () => {
      await world.bot.send(CHANNEL, 'The kettle is on.');
      return { text: 'Earl Grey.' };
    },
    { id: 'test:chat' },
  );
  await using world: BotWorld = await createBotWorld({ models: [model], key: CHANNEL });
  await world.say('Which tea is it?');
  await world.settled();
  const conversation = await world.conversation();
  const explained = await explainReply(world.bot.services, { conversation, seq: 1, reader: null });
  expect(explained).toMatchObject({ seq: 3, turn: 1, exactness: 'exact' });
});

it('a request is compared with one whose reply still exists', async () => {
  await using world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })] });
  for (const text of ['Is it tea?', 'Is it hot?', 'Is it black?']) {
    await world.say(text);
    await world.settled();
  }
  const [, second, third] = world.channel.calls;
  await world.bot.sink.removed({ conversation: world.key, externalIds: [`p-${second?.nonce}`] });
  expect((await world.command('why changes')).text).toMatch(/^Compared with the request for #2: /);
  // Nor is a deleted one shown, or another one in its place.
  await world.bot.sink.removed({ conversation: world.key, externalIds: ['m3'] });
  for (const message of ['3', '4', '5']) {
    expect((await world.command('why show', { message })).text).toContain(`no record of a reply #${message}`);
  }
  await world.bot.sink.removed({ conversation: world.key, externalIds: [`p-${third?.nonce}`] });
  expect((await world.command('why')).title).toBe('Why #2');
});

it('a failed reply has no request, whatever was answered later', async () => {
  const model = scriptedModel(
    (_, { count }) => (count === 1 ? Promise.reject(new Error('broken')) : { text: 'Yes.' }),
    {
      id: 'test:chat',
    },
  );
  await using world = await createBotWorld({ models: [model] });
  for (const text of ['Is it?', 'And now?']) {
    await world.say(text);
    await world.settled();
  }
  expect((await world.command('why')).title).toBe('Why #4');
  expect((await world.command('why show', { message: '2' })).text).toContain('no record of a reply #2');
});
