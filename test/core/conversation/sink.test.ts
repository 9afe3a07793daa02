import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConversationKey, makeKey, type Storage, textOf } from '../../../src/adapter-kit.ts';
import { createDiskWatch } from '../../../src/conversation/turn/waiting/disk-watch.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { createEvents } from '../../../src/ports/events.ts';
import { ADA, type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel, testClock, until } from '../compaction/compaction.world.ts';

let world: BotWorld;
beforeEach(async () => {
  world = await createBotWorld({ models: [], agent: { mode: 'observe' } });
});
afterEach(() => world[Symbol.asyncDispose]());

const edit = (externalId: string, text: string, conversation: ConversationKey = HERE) =>
  world.bot.sink.edited({ conversation, externalId, parts: [{ kind: 'text', text }], at: world.clock.now() });
const remove = (...externalIds: readonly string[]) => world.bot.sink.removed({ conversation: HERE, externalIds });
const kept = async () => (await world.entries()).map(({ parts, redactedAt }) => (redactedAt ? null : textOf(parts)));

it('names the fields that a message lacks', async () => {
  const message = { conversation: HERE, externalId: 'm1', at: 0, text: 'Hi', author: { id: '1', name: 'Ada' } };
  const send: (given: never) => Promise<unknown> = world.bot.sink.message;
  const failure = send(message as never);
  await expect(failure).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
  await expect(failure).rejects.toThrow(
    /author\.kind: .*audience: .*attachments: .*replyTo: .*mentions: .*addressesBot: /,
  );
  expect(await world.bot.services.store.conversations.find(HERE)).toBeNull();
});

it.each<[string, readonly unknown[], RegExp]>([
  ['message', [undefined], /stored: expected an object, got undefined\. /],
  ['edited', [{ conversation: HERE, externalId: 'm1' }], /sink\.edited .*: parts: is missing; at: is missing\./],
  ['removed', [{ conversation: HERE, externalId: 'm1' }], /sink\.removed .*: externalIds: is missing\./],
  [
    'command',
    [{ conversation: HERE, path: ['help'] }],
    /sink\.command .*: author: is missing; rights: is missing; options: /,
  ],
  ['suggest', [undefined, 'id'], /sink\.suggest .*: argument 1: is missing\./],
  [
    'audienceChanged',
    [HERE, 'everyone'],
    /sink\.audienceChanged .*: argument 2: expected "dm" or "private" or "public"\./,
  ],
  ['left', [{}], /sink\.left .*: expected a key that makeKey has made, or an object with workspace\. The interface/],
])('names what the arguments of %s lack', async (method, given, problem) => {
  const call: (...all: never) => Promise<unknown> = Reflect.get(world.bot.sink, method);
  const failure = call(...(given as never));
  await expect(failure).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
  await expect(failure).rejects.toThrow(problem);
});

it('refuses a time that no calendar has', async () => {
  const message = { conversation: HERE, externalId: 'm1', author: ADA, audience: 'public', text: 'Hi' } as const;
  const more = { attachments: [], replyTo: null, mentions: [], addressesBot: false, at: 8_640_000_000_000_001 };
  await expect(world.bot.sink.message({ ...message, ...more })).rejects.toThrow(/stored: at: /);
});

it('keeps a hundred people whom a message mentions, each once', async () => {
  const mentions = Array.from({ length: 3000 }, (_, at) => ({
    id: `u${at >> 1}`,
    name: `N${at >> 1}`,
    kind: 'person' as const,
  }));
  await world.bot.sink.message({
    conversation: HERE,
    externalId: 'm1',
    author: ADA,
    text: 'Hi all',
    attachments: [],
    replyTo: null,
    mentions,
    addressesBot: false,
    audience: 'private',
    at: world.clock.now(),
  });
  const [entry] = await world.entries();
  expect(entry?.mentions.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => `u${at}`));
});

describe('a text that is longer than any model reads', () => {
  const long = `${'😀'.repeat(499_999)}a${'😀'.repeat(1_000_000)}`;

  it('is cut between characters, and says so', async () => {
    await world.say(long, { id: 'm1' });
    await edit('m1', `b${long}`);
    await world.say('Hi.', { id: 'm2' });
    const [text, ...others] = await kept();
    expect(text?.isWellFormed()).toBe(true);
    expect(text?.slice(0, 3)).toBe('b😀');
    expect(text).toMatch(/😀a\n\[cut here, because the text has 3,000,000 characters\]$/u);
    expect(others).toEqual(['Hi.']);
    const whole = 'y '.repeat(500_000);
    await world.say(whole, { id: 'm3' });
    expect((await kept()).at(-1)).toBe(whole);
  });

  it('is cut when it comes', async () => {
    await world.say(long, { id: 'm1' });
    expect((await kept())[0]).toMatch(/a\n\[cut here, because the text has 2,999,999 characters\]$/u);
  });
});

describe('a message on its way to the disk', () => {
  const openSlow = async (disk: Promise<void>, hooks: readonly Hooks[] = []) => {
    const chat = scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' });
    const world = await createBotWorld({
      models: [chat],
      hooks,
      storage: (storage) => ({ ...storage, store: { ...storage.store, ...onDisk(storage, disk) } }),
    });
    return Object.assign(world, { chat });
  };

  it('is answered meanwhile, and acknowledged when it is there', async () => {
    const disk = Promise.withResolvers<void>();
    await using slow = await openSlow(disk.promise);
    let isAcknowledged = false;
    const acknowledged = slow.say('Hi.').then(() => {
      isAcknowledged = true;
    });
    await until(() => slow.chat.requests.length > 0);
    expect(isAcknowledged).toBe(false);
    disk.resolve();
    await acknowledged;
    const kinds = slow.events.map(({ kind }) => kind).filter((kind) => /^(message|turn)\./.test(kind));
    expect(kinds.slice(0, 2)).toEqual(['message.accepted', 'turn.started']);
  });

  it('is reported while it waits, ever more seldom', async () => {
    const disk = Promise.withResolvers<void>();
    await using slow = await openSlow(disk.promise);
    const stalls = () => slow.events.flatMap((event) => (event.kind === 'store.stalled' ? [event.durationMs] : []));
    const said = [slow.say('Hi.'), slow.say('Hello.')];
    await until(() => slow.chat.requests.length > 0);
    for (let seconds = 0; seconds < 60; seconds += 1) await slow.clock.advance(1_000);
    expect(stalls()).toEqual([5_000, 10_000, 20_000, 40_000]);
    disk.resolve();
    await Promise.all(said);
    await slow.say('And now?');
    await slow.clock.advance(120_000);
    expect(stalls()).toHaveLength(4);
  });

  it('is reported as early after a quick write', async () => {
    const clock = testClock();
    const stalls: number[] = [];
    const events = createEvents({ now: clock.now, onListenerError: (error) => expect.unreachable(String(error)) });
    events.on((event) => event.kind === 'store.stalled' && stalls.push(event.durationMs));
    const disk = createDiskWatch({ clock, events });
    const [slow, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writes = [disk.watch(slow.promise, HERE)];
    await clock.advance(11_000);
    writes.push(disk.watch(later.promise, HERE));
    slow.resolve();
    await writes[0];
    await clock.advance(9_000);
    expect(stalls).toEqual([5_000, 10_000, 9_000]);
    later.resolve();
    await Promise.all(writes);
  });

  it('is reported while its reply waits', async () => {
    const committed = Promise.withResolvers<void>();
    await using slow = await createBotWorld({
      models: [scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' })],
      storage: (storage) => ({ ...storage, store: { ...storage.store, transcript: committing(storage, committed) } }),
    });
    await slow.say('Hi.');
    await until(async () => (await slow.entries()).length > 1);
    for (let seconds = 0; seconds < 12; seconds += 1) await slow.clock.advance(1_000);
    const stalls = slow.events.filter(({ kind }) => kind === 'store.stalled');
    expect(stalls).toMatchObject([{ conversation: HERE, durationMs: 5_000 }, { durationMs: 10_000 }]);
    committed.resolve();
    await slow.settled();
  });

  it('is never acknowledged if the disk fails, even repeated', async () => {
    const disk = Promise.withResolvers<void>();
    await using slow = await openSlow(disk.promise);
    const said = [slow.say('Hi.', { id: 'same' }), slow.say('Hi.', { id: 'same' })];
    disk.reject(new Error('The disk failed.'));
    expect(await Promise.allSettled(said)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });

  it('is not acknowledged as a redelivery before, with hooks either', async () => {
    const disk = Promise.withResolvers<void>();
    await using slow = await openSlow(disk.promise, [{ inbound: ({ text }, next) => next({ text }) }]);
    const first = slow.say('Hi.', { id: 'same' });
    await until(() => slow.chat.requests.length > 0);
    const again = slow.say('Hi.', { id: 'same' });
    disk.reject(new Error('The disk failed.'));
    const said = [first, again, slow.say('Hi.', { id: 'same' })];
    for (const end of await Promise.allSettled(said)) expect(end).toMatchObject({ status: 'rejected' });
    expect(slow.events).not.toContainEqual(expect.objectContaining({ kind: 'message.duplicate' }));
  });
});

it('acknowledges a redelivery once the disk has recovered', async () => {
  const durable = vi.fn<() => Promise<void>>(() => Promise.resolve());
  await using world = await createBotWorld({
    models: [],
    agent: { mode: 'observe' },
    hooks: [{ inbound: ({ text }, next) => next({ text }) }],
    storage: (storage) => ({ ...storage, store: { ...storage.store, transcript: flushing(storage, durable) } }),
  });
  durable.mockRejectedValueOnce(new Error('Too many open files.'));
  await expect(world.say('Hi.', { id: 'same' })).rejects.toThrow('Too many open files.');
  expect(await world.say('Hi.', { id: 'same' })).toEqual({ stored: false, willReply: false });
});

describe('a deletion on its way to the disk', () => {
  it('is not acknowledged as a redelivery before', async () => {
    const disk = Promise.withResolvers<void>();
    disk.promise.catch(() => undefined);
    await using slow = await createBotWorld({
      models: [],
      agent: { mode: 'observe' },
      storage: (storage) => ({ ...storage, store: { ...storage.store, transcript: erasing(storage, disk.promise) } }),
    });
    await slow.say('My secret.', { id: 'm1' });
    const isGone = async () => (await slow.entries())[0]?.redactedAt !== null;
    const deletion = () => slow.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    const deletions = [deletion()];
    await vi.waitUntil(isGone);
    deletions.push(deletion());
    await sleep(20);
    disk.reject(new Error('The disk failed.'));
    for (const end of await Promise.allSettled(deletions)) expect(end).toMatchObject({ status: 'rejected' });
  });
});

describe('a place that the bot leaves', () => {
  it('is not acknowledged as a redelivery before it is deleted', async () => {
    const disk = Promise.withResolvers<void>();
    disk.promise.catch(() => undefined);
    await using slow = await createBotWorld({
      models: [],
      agent: { mode: 'observe' },
      storage: (storage) => ({
        ...storage,
        store: { ...storage.store, conversations: leaving(storage, disk.promise) },
      }),
    });
    await slow.say('My secret.');
    const leaves = [slow.bot.sink.left(HERE)];
    await vi.waitUntil(async () => (await slow.bot.services.store.conversations.find(HERE)) === null);
    leaves.push(slow.bot.sink.left(HERE));
    await sleep(20);
    disk.reject(new Error('The disk failed.'));
    for (const end of await Promise.allSettled(leaves)) expect(end).toMatchObject({ status: 'rejected' });
  });
});

describe('a change that overtakes its message', () => {
  it('is made when the message comes, even in unknown conversations', async () => {
    await edit('m1', 'I drink tea.');
    await remove('m2');
    await world.say('I drnk tea.');
    expect(await world.say('My secret.')).toEqual({ stored: false, willReply: false });
    await world.say('And you?');
    expect(await kept()).toEqual(['I drink tea.', 'And you?']);
  });

  it('is made even while the message is being stored', async () => {
    const stored = Promise.withResolvers<void>();
    await using slow = await createBotWorld({
      models: [],
      agent: { mode: 'observe' },
      storage: (storage) => ({ ...storage, store: { ...storage.store, transcript: late(storage, stored.promise) } }),
    });
    const storing = [slow.say('I drnk tea.'), slow.say('My secret.')];
    const sent = { conversation: HERE, at: 0, parts: [{ kind: 'text' as const, text: 'I drink tea.' }] };
    await slow.bot.sink.edited({ ...sent, externalId: 'm1' });
    await slow.bot.sink.removed({ conversation: HERE, externalIds: ['m2'] });
    stored.resolve();
    await Promise.all(storing);
    const entries = await slow.entries();
    expect(entries.map(({ parts }) => textOf(parts)).toSorted()).toEqual(['', 'I drink tea.']);
  });

  it('does not undo a later one that arrived before it', async () => {
    await world.say('I drink coffee.');
    const at = world.clock.now();
    const change = (text: string, madeAt: number) =>
      world.bot.sink.edited({
        ...{ conversation: HERE, externalId: 'm1' },
        ...{ parts: [{ kind: 'text', text }], at: madeAt },
      });
    await change('I drink tea.', at + 1);
    await change('I drink water.', at + 2);
    await change('I drink tea.', at + 1);
    expect(await kept()).toEqual(['I drink water.']);
  });

  it('belongs to one message, and no edit undoes a deletion', async () => {
    await edit('m1', 'Elsewhere.', 'test:here:other' as ConversationKey);
    await remove('m2');
    await edit('m2', 'Not any more.');
    await world.say('Here.');
    await world.say('Gone.');
    expect(await kept()).toEqual(['Here.']);
  });

  it('is counted when it leaves nothing to keep', async () => {
    await remove('m1');
    await world.say('My secret.');
    expect(world.events.filter(({ kind }) => kind === 'message.dropped')).toMatchObject([
      { platform: 'test', reason: 'deleted', externalId: 'm1' },
    ]);
  });

  it('is forgotten after ten minutes', async () => {
    await edit('m1', 'Too late.');
    await world.clock.advance(600_001);
    await edit('other', 'Something else.');
    await world.say('As it was said.');
    expect(await kept()).toEqual(['As it was said.']);
  });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('what a channel can ask', () => {
  it('names people’s newest messages with edits, without deleted ones', async () => {
    for (const text of ['one', 'two', 'three']) await world.say(text);
    await world.clock.advance(1000);
    await edit('m1', 'one!');
    await remove('m2');
    const cursors = await collect(world.bot.sink.conversations.heard('test', 0));
    const found = await Promise.all(cursors.map((cursor) => cursor.kept()));
    expect(
      found.flat().map(({ externalId, at, editedAt }) => [externalId, editedAt === null ? null : editedAt - at]),
    ).toEqual([
      ['m1', 1000],
      ['m3', null],
    ]);
  });

  it('finds where catching up starts, newest first', async () => {
    const old = at('old');
    const [first, second] = [at('first'), at('second')];
    await world.say('long ago', { key: old });
    await world.clock.advance(5000);
    await world.say('lately', { key: first, id: 'x1' });
    await world.clock.advance(1000);
    await world.say('now', { key: second, id: 'x2' });
    await world.say('elsewhere', { key: makeKey({ platform: 'tester', workspace: 'here', channel: 'talk' }) });
    const heard = async (windowMs: number) =>
      (await collect(world.bot.sink.conversations.heard('test', windowMs))).map(({ conversation, externalId }) => [
        conversation,
        externalId,
      ]);
    expect(await heard(1000)).toEqual([
      [second, 'x2'],
      [first, 'x1'],
    ]);
    expect((await heard(6000)).at(-1)?.[0]).toEqual(old);
  });

  it('tells where a reply is owed or not yet posted', async () => {
    const model = Promise.withResolvers<void>();
    const chat = scriptedModel(async () => model.promise.then(() => ({ text: 'Hello.' })), { id: 'test:chat' });
    await using active = await createBotWorld({ models: [chat] });
    const owed = async () =>
      (await collect(active.bot.sink.conversations.heard('test', 0))).map(({ owesReply }) => owesReply);
    await active.say('Hello?');
    expect(await owed()).toEqual([true]);
    active.channel.trouble.refuse = 1;
    model.resolve();
    await until(() => active.events.some(({ kind }) => kind === 'reply.delayed'));
    expect(await owed()).toEqual([true]);
    await active.settled();
    expect(await owed()).toEqual([false]);
  });

  it('treats a late message as the newest', async () => {
    await world.say('second', { id: 'x2' });
    await world.say('first, fetched later', { id: 'x1' });
    const [cursor] = await collect(world.bot.sink.conversations.heard('test', 0));
    expect(cursor?.externalId).toBe('x1');
  });

  it('finds what workspace, channel and thread hold, each workspace once', async () => {
    const thread = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't' });
    const closed = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 'c', isClosed: true });
    const alike = makeKey({ platform: 'test', workspace: 'here', channel: 'talk2' });
    const abroad = makeKey({ platform: 'test', workspace: 'here2', channel: 'talk' });
    for (const key of [alike, abroad, closed, thread, HERE]) await world.say('hello', { key, audience: 'public' });
    const { conversations } = world.bot.sink;
    const within = async (scope: string) =>
      (await collect(conversations.within(scope))).map((kept) => kept.conversation);
    expect(await within(HERE)).toEqual([HERE, thread, closed]);
    expect(await within('test:here')).toEqual([HERE, thread, closed, alike].toSorted());
    expect(await within('test')).toHaveLength(5);
    expect((await collect(conversations.workspaces('test'))).toSorted()).toEqual(['test:here', 'test:here2']);
    expect((await collect(conversations.within(abroad)))[0]?.audience).toBe('public');
    const place = await collect(conversations.heardIn(HERE));
    expect(place.map(({ conversation }) => conversation).toSorted()).toEqual([HERE, thread]);
  });

  it('tells what may be quoted of a message', async () => {
    await world.say('my password is swordfish');
    await world.say('my cat is called Tom');
    await edit('m2', 'my cat is called Tim');
    await remove('m1');
    const { conversations } = world.bot.sink;
    const quotedIn = { conversation: HERE, audience: null };
    const quoted = (externalId: string, ...keys: readonly ConversationKey[]) =>
      conversations.textOf({ conversations: keys, externalId, at: 0, quotedIn, shown: '' });
    const elsewhere = 'test:here:other' as ConversationKey;
    expect(await quoted('m1', elsewhere, HERE)).toBe('');
    expect(await quoted('m2', elsewhere, HERE)).toBe('my cat is called Tim');
    expect(await quoted('m2', elsewhere)).toBeNull();
    expect(await quoted('unknown', HERE)).toBeNull();
  });

  it('quotes a kept message below an erased thread', async () => {
    await world.say('my cat is called Tom');
    const thread = at('thread');
    await world.say('a secret', { key: thread });
    const asked = { conversation: thread, author: ADA, rights: 'operator', audience: 'public' } as const;
    await world.bot.sink.command({ ...asked, path: ['privacy', 'erase'], options: { confirm: 'yes' } });
    await world.clock.advance(60_000);
    const quoted = (externalId: string, ...conversations: readonly ConversationKey[]) =>
      world.bot.sink.conversations.textOf({
        ...{ conversations, externalId, at: 0, shown: '' },
        quotedIn: { conversation: HERE, audience: null },
      });
    expect(await quoted('m1', thread, HERE)).toBe('my cat is called Tom');
    expect(await quoted('m2', thread, HERE)).toBe('');
  });

  it('leaves a picture without words to the platform', async () => {
    const picture = { kind: 'attachment', name: 'a.png', mediaType: 'image/png', sizeBytes: 9, reference: '' } as const;
    await world.say('', { attachments: [picture] });
    await world.say('my password is swordfish', { attachments: [picture] });
    const quotedIn = { conversation: HERE, audience: null };
    const quoted = (externalId: string, shown: string) =>
      world.bot.sink.conversations.textOf({ conversations: [HERE], externalId, at: 0, quotedIn, shown });
    expect(await quoted('m1', '')).toBeNull();
    // Words that are no longer stored.
    expect(await quoted('m1', 'my password is swordfish')).toBe('');
    await remove('m2');
    expect(await quoted('m2', '')).toBe('');
  });

  it('lists many conversations once each while others are written', async () => {
    const keys = Array.from({ length: 1200 }, (_, index) => at(`talk-${String(index).padStart(4, '0')}`));
    await Promise.all(keys.map((key) => world.say('hello', { key })));
    const found = [];
    for await (const { conversation } of world.bot.sink.conversations.within('test')) {
      found.push(conversation);
      if (found.length === 600) await world.say('again', { key: at('talk-0001') });
    }
    expect(found).toEqual(keys);
    const heard = await collect(world.bot.sink.conversations.heard('test', 0));
    expect(new Set(heard.map(({ conversation }) => conversation)).size).toBe(keys.length);
  });
});

const at = (channel: string) => makeKey({ platform: 'test', workspace: 'here', channel });

/** Messages become durable when `disk` resolves, and so does a write that changes nothing. */
function onDisk({ store }: Storage, disk: Promise<void>): Pick<Storage['store'], 'conversations' | 'transcript'> {
  disk.catch(() => undefined);
  return {
    conversations: { ...store.conversations, release: () => disk },
    transcript: {
      ...store.transcript,
      append: async (message) => ({ ...(await store.transcript.append(message)), durable: disk }),
    },
  };
}

/** A transcript whose messages are durable as `durable` says. */
function flushing({ store }: Storage, durable: () => Promise<void>): Storage['store']['transcript'] {
  return {
    ...store.transcript,
    append: async (message) => ({ ...(await store.transcript.append(message)), durable: durable() }),
  };
}

/** A transcript whose turns are durable when `disk` resolves. */
function committing({ store }: Storage, disk: PromiseWithResolvers<void>): Storage['store']['transcript'] {
  return {
    ...store.transcript,
    async commitTurn(commit) {
      const result = await store.transcript.commitTurn(commit);
      await disk.promise;
      return result;
    },
  };
}

/** Conversations whose deletion resolves when `disk` does, and so does a write that changes nothing. */
function leaving({ store }: Storage, disk: Promise<void>): Storage['store']['conversations'] {
  return {
    ...store.conversations,
    release: () => disk,
    async change(...given) {
      await store.conversations.change(...given);
      await disk;
    },
  };
}

/** A transcript whose deletions resolve when `disk` does. */
function erasing({ store }: Storage, disk: Promise<void>): Storage['store']['transcript'] {
  return {
    ...store.transcript,
    async redact(...given) {
      const seqs = await store.transcript.redact(...given);
      await disk;
      return seqs;
    },
  };
}

/** A transcript that is slow to store. */
function late({ store }: Storage, opened: Promise<void>): Storage['store']['transcript'] {
  return {
    ...store.transcript,
    async append(message) {
      await opened;
      return await store.transcript.append(message);
    },
  };
}
