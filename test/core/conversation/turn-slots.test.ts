import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { REPLY_LEASE_MS } from '../../../src/conversation/turn/reply.ts';
import { createTurnSlots } from '../../../src/conversation/turn/waiting/turn-slots.ts';
import { StrataError } from '../../../src/domain/errors.ts';
import { makeKey } from '../../../src/domain/key.ts';
import type { Author } from '../../../src/domain/message.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { ADA, BOB, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

const MOST = 8;
/** A bot looks for replies that nobody writes this often. */
const HEARTBEAT_MS = 5_000;
const { signal } = new AbortController();
const threadOf = (index: number) =>
  makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: `t${index}` });

describe('the slots of a person', () => {
  const full = () => {
    const slots = createTurnSlots();
    const taken = Array.from({ length: MOST }, () => {
      const seat = slots.seat();
      seat.ask('bob');
      return seat.take() ?? expect.fail('There are fewer slots.');
    });
    const seat = slots.seat();
    seat.ask('bob');
    return { slots, taken, seat };
  };

  it('are as many as nobody needs', () => {
    expect(full().seat.take()).toBeNull();
  });

  it('are free for others, and for turns of unknown people', () => {
    const { slots } = full();
    const other = slots.seat();
    expect(other.take()).not.toBeNull();
    other.ask('ada');
    expect(other.take()).not.toBeNull();
  });

  it('pass on in the order of the requests', async () => {
    const { slots, taken, seat } = full();
    const order: string[] = [];
    const second = slots.seat();
    second.ask('bob');
    const first = seat.wait(signal).then(() => order.push('first'));
    void second.wait(signal).then(() => order.push('second'));
    taken[0]?.();
    taken[0]?.();
    await first;
    await turn();
    expect(order).toEqual(['first']);
  });

  it('of another person start a waiting turn', async () => {
    const { slots, taken, seat } = full();
    const waiting = seat.wait(signal);
    seat.ask('ada');
    const slot = await waiting;
    expect(slot).not.toBeNull();
    // The turn answers both, so nothing of them waits any more.
    for (const done of taken) done();
    slot?.();
    const next = slots.seat();
    next.ask('bob');
    expect(next.take()).not.toBeNull();
  });

  it('are not kept by a turn that no longer waits', async () => {
    const { slots, taken, seat } = full();
    const over = new AbortController();
    const waiting = seat.wait(over.signal);
    over.abort();
    expect(await waiting).toBeNull();
    taken[0]?.();
    const next = slots.seat();
    next.ask('bob');
    expect(next.take()).not.toBeNull();
  });
});

describe('a person who asks in many threads at once', () => {
  async function flood(count: number, author: Author = BOB, atOnce = MOST) {
    const open = new Map<string, () => void>();
    const model = scriptedModel(
      async ({ messages, purpose }) => {
        if (purpose !== 'reply') return { text: '' };
        const [name = ''] = /question \d+/.exec(JSON.stringify(messages)) ?? [];
        await new Promise<void>((resolve) => open.set(name, resolve));
        return { text: `Answer to ${name}.` };
      },
      { id: 'test:chat' },
    );
    const world = await createBotWorld({ models: [model], agent: { allow_bots: true } });
    for (let index = 0; index < count; index += 1) {
      await world.say(`question ${index}`, { key: threadOf(index), author });
    }
    await until(() => open.size >= Math.min(count, atOnce));
    return { world, open };
  }

  it('is answered in eight of them, others at once', async () => {
    const { world, open } = await flood(40);
    await using _ = world;
    expect(open.size).toBe(MOST);
    await world.say('question 1000', { key: threadOf(1_000), author: ADA });
    await until(() => open.has('question 1000'));
    expect(open.size).toBe(MOST + 1);
  });

  it('is answered everywhere if it is a bot', async () => {
    const { world, open } = await flood(16, { ...BOB, kind: 'bot' }, 16);
    await using _ = world;
    expect(open.size).toBe(16);
  });

  it('is answered everywhere, once', async () => {
    const { world, open } = await flood(40);
    await using _ = world;
    const answered: string[] = [];
    for (const end = performance.now() + 60_000; answered.length < 40 && performance.now() < end; await turn()) {
      for (const [name, answer] of open) {
        open.delete(name);
        answered.push(name);
        answer();
      }
    }
    await world.settled();
    expect(new Set(answered).size).toBe(40);
    expect(world.channel.calls.map(({ body }) => body.text).toSorted()).toEqual(
      Array.from({ length: 40 }, (_, index) => `Answer to question ${index}.`).toSorted(),
    );
  });

  it('waits for nobody where somebody else asks too', async () => {
    const { world, open } = await flood(20);
    await using _ = world;
    await world.say('and I ask question 3000', { key: threadOf(19), author: ADA });
    await until(() => open.has('question 19') || open.has('question 3000'));
  });

  it('has at most eight replies waiting to be posted', async () => {
    const posting = Promise.withResolvers<void>();
    let begun = 0;
    await using world = await createBotWorld({
      models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })],
      channel: (channel) => ({
        ...channel,
        async post(post, options) {
          begun += 1;
          await posting.promise;
          return await channel.post(post, options);
        },
      }),
    });
    for (let index = 0; index < 20; index += 1) await world.say('Is it?', { key: threadOf(index), author: BOB });
    await until(() => begun === MOST);
    await world.say('Is it?', { key: threadOf(1_000), author: ADA });
    await until(() => begun === MOST + 1);
    // A platform that is away for long keeps nobody from other answers.
    await world.clock.advance(MINUTE_MS);
    await until(() => begun === 2 * MOST + 1);
    posting.resolve();
    await world.settled();
    expect(begun).toBe(21);
  });

  it('is answered after turns that an outage has ended', async () => {
    let isAway = true;
    const fail = () => Promise.reject(new StrataError('STORE_UNREACHABLE', { path: 'there', reason: 'it restarts' }));
    await using world = await createBotWorld({
      models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })],
      storage: (storage) => {
        const { transcript, conversations } = storage.store;
        const commitTurn: typeof transcript.commitTurn = (turn) => (isAway ? fail() : transcript.commitTurn(turn));
        const renew: typeof conversations.renew = (...call) => (isAway ? fail() : conversations.renew(...call));
        const own = { transcript: { ...transcript, commitTurn }, conversations: { ...conversations, renew } };
        return { ...storage, store: { ...storage.store, ...own } };
      },
    });
    const failed = () => world.events.filter(({ kind }) => kind === 'error.internal').length;
    for (let index = 0; index < MOST; index += 1) await world.say('Is it?', { key: threadOf(index), author: BOB });
    await until(() => failed() === MOST);
    isAway = false;
    await world.say('Is it?', { key: threadOf(1_000), author: BOB });
    await until(() => world.channel.posts.size === 1);
    // The others are answered once the claims of their turns have ended.
    await world.clock.advance(REPLY_LEASE_MS + HEARTBEAT_MS);
    await until(() => world.channel.posts.size === MOST + 1);
  });

  it('has the rest answered after a restart', async () => {
    const { world, open } = await flood(20);
    await using _ = world;
    open.clear();
    await world.restart();
    await until(() => open.size === MOST);
  });
});
