import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type BlobId,
  defineTool,
  type ModelRequest,
  makeChildKey,
  makeKey,
  type Tool,
} from '../../../src/adapter-kit.ts';
import { BOB, type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';
import { filesWith } from '../../support/on-disk.ts';
import { type Said, type ScriptedModel, scriptedModel, until } from '../compaction/compaction.world.ts';

const DM = makeKey({ platform: 'test', workspace: 'here', channel: 'ada' });
const CLOSED = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't', isClosed: true });

const research: Tool = defineTool({
  name: 'research',
  description: 'Finds something out',
  input: z.object({}),
  async run(_, { spawn }) {
    await before();
    return (await spawn({ task, next: () => following.shift() ?? null })).text;
  },
}) as Tool;

const handbook: Tool = defineTool({
  name: 'handbook',
  description: 'Shows the handbook',
  input: z.object({}),
  async run(_, { audience }) {
    readers.push(audience);
    return long;
  },
}) as Tool;

const hasResult = ({ messages }: ModelRequest) => messages.at(-1)?.role === 'tool';
const textIn = ({ system, messages }: ModelRequest) => JSON.stringify([system, messages]);

const GATE = 'My harbour gate has the code 4711.';
const saving = (text: string): Said => ({
  calls: [{ tool: 'memory_save', input: { kind: 'fact', text, about: 'Ada' } }],
});

/** What the tool does before it opens a child, and what it asks the child. */
let before: () => Promise<void>;
let task: string;
/** What it asks the child afterwards. */
let following: string[];
/** For whom the handbook was opened. */
let readers: string[];
/** What the handbook says. */
let long: string;
let model: ScriptedModel;
let child: (request: ModelRequest) => Said | Promise<Said>;
let world: BotWorld;
beforeEach(async () => {
  before = async () => undefined;
  task = 'What is the code of the harbour gate?';
  [following, readers] = [[], []];
  child = () => ({ text: 'nobody knows' });
  model = scriptedModel(
    (request) => {
      if (request.purpose === 'child') return child(request);
      if (request.purpose !== 'reply') return { calls: [] };
      if (!hasResult(request) && textIn(request).includes(`Remember: ${GATE}`)) return saving(GATE);
      return hasResult(request) ? { text: 'Done.' } : { calls: [{ tool: 'research', input: {} }] };
    },
    { id: 'test:chat' },
  );
  const tools = ['research', 'handbook', 'blob_read', 'memory_recall', 'memory_save', 'transcript_search'];
  world = await createBotWorld({
    models: [model],
    tools: [research, handbook],
    agent: { tools, context_window: 8000 },
  });
});
afterEach(() => world[Symbol.asyncDispose]());

const ofChild = () => model.requests.filter(({ purpose }) => purpose === 'child');
const keys = async () => {
  const page = { order: 'key', scope: { within: null }, withChildren: true, limit: 99, after: null } as const;
  return (await world.bot.services.store.conversations.list(page)).map(({ key }) => key);
};

/** Ada tells the bot something in a direct message, and it is remembered there. Then the conversation starts over. */
async function remember(): Promise<void> {
  await world.say(`Remember: ${GATE}`, { key: DM, audience: 'dm' });
  await world.settled();
  const { store } = world.bot.services;
  const conversation = await store.conversations.find(DM);
  await store.conversations.change(conversation?.id ?? 0, { kind: 'reset', now: world.clock.now() });
  world.bot.changed(DM);
  const reader = { agentId: 'main', place: DM, workspace: 'test:here', audience: 'dm', sharePublic: true } as const;
  expect(await store.memories.list({ reader, limit: 9, offset: 0 })).toHaveLength(1);
  model.requests.length = 0;
}

/** The child has been asked and does not answer. */
async function hanging(): Promise<void> {
  child = () => new Promise<Said>(() => undefined);
  await world.say('What is the code?');
  await until(() => ofChild().length > 0);
}

describe('a child reads', () => {
  it.each([
    [HERE, 'public', false],
    [CLOSED, 'private', false],
    [DM, 'dm', true],
  ] as const)('memories of a direct message in %s: %s %s', async (key, audience, isShown) => {
    await remember();
    child = (request) =>
      hasResult(request)
        ? { text: 'nobody knows' }
        : { calls: [{ tool: 'memory_recall', input: { query: 'harbour gate code' } }] };
    await world.say('What is the code?', { key, audience });
    await world.settled();
    expect(ofChild()).toHaveLength(2);
    expect(ofChild().some((request) => textIn(request).includes('4711'))).toBe(isShown);
  });

  it('nothing of a place that its person cannot see', async () => {
    await world.say('The code of the harbour gate is 4711.', { key: DM, audience: 'dm', asks: false });
    child = (request) =>
      hasResult(request)
        ? { text: 'nobody knows' }
        : { calls: [{ tool: 'transcript_search', input: { query: 'code 4711' } }] };
    await world.say('What is the code?', { author: BOB, audience: 'public' });
    await world.settled();
    expect(ofChild().some((request) => textIn(request).includes('4711.'))).toBe(false);
  });
});

describe('what a child saves', () => {
  it('has the messages of its parent as sources', async () => {
    const saves = [
      { kind: 'fact', text: 'Ada rows on Sundays', about: 'Ada' },
      { kind: 'fact', text: 'The harbour gate has a code', about: 'Ada' },
    ];
    child = (request) =>
      hasResult(request) ? { text: 'saved' } : { calls: saves.map((input) => ({ tool: 'memory_save', input })) };
    await world.say('I row on Sundays.', { audience: 'private' });
    await world.settled();
    const reader = {
      agentId: 'main',
      place: HERE,
      workspace: 'test:here',
      audience: 'private',
      sharePublic: true,
    } as const;
    const found = await world.bot.services.store.memories.list({ reader, limit: 9, offset: 0 });
    const { id } = await world.conversation();
    expect(found.map(({ text, audience, place }) => [text, audience, place])).toEqual([
      ['Ada rows on Sundays', 'private', HERE],
    ]);
    expect(found[0]?.sources).toMatchObject([{ conversationId: id, seq: 1 }]);
  });
});

/** Another process deletes the memory, so only the store shows it to this one. */
async function forgetElsewhere(): Promise<void> {
  const reader = { agentId: 'main', place: DM, workspace: 'test:here', audience: 'dm', sharePublic: true } as const;
  const { store } = world.bot.services;
  const found = await store.memories.list({ reader, limit: 9, offset: 0 });
  const plan = { redactions: [], sentences: [], tombstones: [], actor: 'test', now: world.clock.now() };
  await store.memories.forget({ ...plan, memoryIds: found.map(({ id }) => id) });
}

it('runs a child’s tools for the readers there now', async () => {
  long = 'Turn left.';
  child = async (request) => {
    if (hasResult(request)) return { text: 'left' };
    await world.bot.sink.audienceChanged(HERE, 'private');
    return { calls: [{ tool: 'handbook', input: {} }] };
  };
  await world.say('Which way?', { audience: 'public' });
  await world.settled();
  expect(readers).toEqual(['private']);
});

describe('long results of a child', () => {
  it('are read by the child and gone with it', async () => {
    const idOf = (text: string) => /id (\w+)/u.exec(text)?.[1] ?? '';
    const read: string[] = [];
    long = `${'boat '.repeat(4000)}KINGFISHER ${'boat '.repeat(4000)}`;
    child = (request) => {
      const last = request.messages.at(-1);
      if (last?.role !== 'tool') return { calls: [{ tool: 'handbook', input: {} }] };
      const text = last.results[0]?.text ?? '';
      read.push(text);
      const input = { id: idOf(text), from: 19_990 };
      return read.length === 1 ? { calls: [{ tool: 'blob_read', input }] } : { text: 'nobody knows' };
    };
    await world.say('What is the code?');
    await world.settled();
    expect(read[1]).toContain('KINGFISHER');
    await until(async () => (await world.bot.services.state.list('child')).length === 0);
    const { id } = await world.conversation();
    const { store } = world.bot.services;
    expect(await store.blobs.list(id, { since: 0, after: null, limit: 9 })).toEqual([]);
    expect(filesWith(world.directory, 'KINGFISHER')).toBe('');
  });

  it('are read by the child in a later turn', async () => {
    const read: string[] = [];
    long = `${'boat '.repeat(4000)}KINGFISHER ${'boat '.repeat(4000)}`;
    following = ['Look again.'];
    let id = '';
    child = (request) => {
      const last = request.messages.at(-1);
      if (last?.role === 'tool') {
        read.push(last.results[0]?.text ?? '');
        id ||= /id (\w+)/u.exec(read.join())?.[1] ?? '';
        return { text: 'nobody knows' };
      }
      const tool = id === '' ? { tool: 'handbook', input: {} } : { tool: 'blob_read', input: { id, from: 19_990 } };
      return { calls: [tool] };
    };
    await world.say('What is the code?');
    await world.settled();
    expect(read[1]).toContain('KINGFISHER');
  });

  it('of its parent are read by a child', async () => {
    const id = 'b1' as BlobId;
    const read: string[] = [];
    const { store } = world.bot.services;
    before = async () => {
      const text = 'The code is 4711.';
      await store.blobs.put({ id, conversationId: (await world.conversation()).id, text, now: world.clock.now() });
    };
    child = (request) => {
      if (!hasResult(request)) return { calls: [{ tool: 'blob_read', input: { id } }] };
      read.push(textIn(request));
      return { text: 'nobody knows' };
    };
    await world.say('What is the code?');
    await world.settled();
    expect(read.join()).toContain('The code is 4711.');
  });
});

describe('a child goes with its parent', () => {
  it.each(['privacy erase', 'reset'])('at /%s', async (command) => {
    await hanging();
    expect(await keys()).toHaveLength(2);
    await world.command(command, command === 'reset' ? {} : { confirm: 'yes' });
    expect(await keys()).toEqual(command === 'reset' ? [HERE] : []);
    await until(async () => (await world.bot.services.state.list('child')).length === 0);
    await world.settled();
    expect(world.channel.posts.size).toBe(0);
    expect(world.events.filter(({ kind }) => kind === 'child.ended')).toMatchObject([{ reason: 'aborted' }]);
  });

  it('when the message behind it is forgotten', async () => {
    await hanging();
    const question = await world.command('memory forget', { id: '#1' });
    const { path = [], options = {} } = question.actions[0]?.command ?? {};
    expect((await world.command(path.join(' '), options)).text).toContain('1 message');
    await until(async () => (await keys()).length === 1);
    await world.settled();
    expect(world.events.filter(({ kind }) => kind === 'child.ended')).toMatchObject([{ reason: 'aborted' }]);
    expect(world.channel.posts.size).toBe(0);
  });

  it('when a memory that it was given is forgotten', async () => {
    await remember();
    child = () => new Promise<Said>(() => undefined);
    await world.say('What is the code of the harbour gate?', { key: DM, audience: 'dm' });
    await until(() => ofChild().length > 0);
    expect(ofChild().some((request) => textIn(request).includes('4711'))).toBe(true);
    child = () => ({ text: 'nobody knows' });
    const reader = { agentId: 'main', place: DM, workspace: 'test:here', audience: 'dm', sharePublic: true } as const;
    const { store, events } = world.bot.services;
    const [memory] = await store.memories.list({ reader, limit: 1, offset: 0 });
    if (memory === undefined) throw new Error('nothing is remembered');
    const plan = {
      memoryIds: [memory.id],
      redactions: [],
      sentences: [],
      tombstones: [],
      actor: 'test',
      now: Date.now(),
    };
    await store.memories.forget(plan);
    events.emit({ kind: 'memory.forgotten', conversation: DM, ids: [memory.id] });
    await until(() => world.events.some((event) => event.kind === 'child.ended' && event.reason === 'aborted'));
    await until(async () => (await keys()).length === 1);
  });

  it.each([
    ['beside its task', 'What is the code of the harbour gate?'],
    ['by a tool', 'Do what you can.'],
  ])('when a memory is forgotten elsewhere that it read %s', async (_, asked) => {
    await remember();
    task = asked;
    child = (request) =>
      !hasResult(request) && asked.startsWith('Do')
        ? { calls: [{ tool: 'memory_recall', input: { query: 'harbour gate code' } }] }
        : { text: textIn(request).includes('4711') ? 'It is 4711.' : 'nobody knows' };
    const answering = model.script;
    model.script = async (request, given) => {
      const said = JSON.stringify(request.messages.at(-1));
      if (request.purpose === 'reply' && said.includes('It is 4711.')) await forgetElsewhere();
      if (request.purpose === 'reply' && hasResult(request)) return { text: said };
      return await answering(request, given);
    };
    await world.say('Please go on.', { key: DM, audience: 'dm' });
    await world.settled();
    const posted = [...world.channel.posts.values()].map(({ body }) => body.text).slice(1);
    expect(posted.join(' ')).toContain('nobody knows');
    expect(posted.join(' ')).not.toContain('4711');
  });

  it.each(['before it starts', 'while it works'])('when its turn is lost elsewhere %s', async (when) => {
    const { store } = world.bot.services;
    const lose = async () => {
      const { id } = await world.conversation();
      await store.transcript.redact(id, { externalIds: ['m1'], now: world.clock.now() });
    };
    child = async (request) => {
      if (hasResult(request)) return { text: 'It is 4711.' };
      if (when === 'while it works') await lose();
      return { calls: [{ tool: 'memory_recall', input: { query: 'harbour' } }] };
    };
    if (when === 'before it starts') before = lose;
    await world.say('What is the code?', { id: 'm1' });
    await world.settled();
    expect(ofChild().filter(hasResult)).toEqual([]);
    expect(ofChild()).toHaveLength(when === 'before it starts' ? 0 : 1);
    expect(world.channel.posts.size).toBe(0);
    await until(async () => (await keys()).length === 1);
  });

  it('is no place to post, read or talk in', async () => {
    await hanging();
    const key = (await keys()).find((one) => one !== HERE) ?? HERE;
    expect(key.startsWith(makeChildKey(HERE, ''))).toBe(true);
    await expect(world.bot.send(key, 'hello')).rejects.toMatchObject({ code: 'KEY_INVALID' });
    const within: string[] = [];
    for await (const { conversation } of world.bot.sink.conversations.within('test')) within.push(conversation);
    expect(within).toEqual([HERE]);
    const active = { order: 'active', limit: 9, after: null } as const;
    const { store } = world.bot.services;
    expect((await store.conversations.list(active)).map((one) => one.key)).toEqual([HERE]);
    for (const command of ['status', 'context list', 'summaries list', 'memory list']) {
      expect(JSON.stringify(await world.command(command))).not.toContain(key);
    }
  });
});
