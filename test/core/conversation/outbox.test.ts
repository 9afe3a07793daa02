import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type Channel,
  type Clock,
  type ConversationKey,
  makeKey,
  type OutboxStore,
  POST_HOLD_MS,
  type Post,
  type PostRow,
  parseKey,
  type Storage,
  StrataError,
} from '../../../src/adapter-kit.ts';
import { createOutbox } from '../../../src/conversation/posts/outbox.ts';
import { createEvents, type StrataEvent } from '../../../src/ports/events.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/util/time/time.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { settle } from '../compaction/compaction.world.ts';

const key = makeKey({ platform: 'test', workspace: 'w', channel: 'c' });
/** Time passes only when something waits for it. */
const hastyClock = (): Clock & { readonly waits: number[]; readonly passed: () => number } => {
  const waits: number[] = [];
  const passed = () => waits.reduce((sum, ms) => sum + ms, 0);
  return { waits, passed, now: () => 1_000 + passed(), sleep: async (ms) => void waits.push(ms) };
};

type Step = 'ok' | 'be away' | 'be busy' | 'lose the answer' | 'refuse';

/** A platform that takes posts unless its script says otherwise, and recognises a nonce it has seen. */
function createPlatform(script: readonly Step[] = []) {
  const posts: Post[] = [];
  const shown = new Map<string, string>();
  let call = 0;
  const channel: Channel = {
    platform: 'test',
    traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start: async () => {},
    split: (text) => [{ kind: 'text', text }],
    async post(post) {
      const step = script[call] ?? 'ok';
      call += 1;
      posts.push(post);
      if (step === 'be away') throw new Error('the platform is down');
      if (step === 'be busy') {
        const busy = { channel: 'Test', reason: 'too many', final: false, retryAfterMs: 90_000 };
        throw new StrataError('POST_FAILED', busy);
      }
      if (step === 'refuse') {
        throw new StrataError('POST_FAILED', { channel: 'Test', reason: 'the channel is gone', final: true });
      }
      shown.set(post.nonce, post.body.kind === 'text' ? post.body.text : post.body.name);
      if (step === 'lose the answer') throw new Error('connection reset');
      return { platformMessageId: `m-${post.nonce}` };
    },
    show() {},
    stop: async () => {},
  };
  return { channel, posts, shown };
}

let directory: string;
let storage: Storage;

beforeEach(async () => {
  directory = await createStoreFolder('outbox');
  storage = await createSqliteStorage({ directory });
});

afterEach(async () => {
  await storage.store.close();
  await rm(directory, { recursive: true });
});

async function commitReply(chunks: readonly string[]): Promise<readonly PostRow[]> {
  const message = {
    externalId: crypto.randomUUID(),
    role: 'user',
    author: null,
    parts: [],
    replyTo: null,
    mentions: [],
    tokens: 1,
    at: 1,
  } as const;
  const appended = await storage.store.transcript.append({
    conversation: key,
    audience: 'dm',
    message,
    wantsReply: true,
    claimLeaseMs: 30_000,
    idleExtractMs: 1,
    now: 1,
  });
  if (appended.kind !== 'stored' || appended.claim === null) throw new Error('the message was not taken');
  const posts = chunks.map((text, chunk) => ({
    nonce: `n${appended.seq}-${chunk}`,
    chunk,
    body: { kind: 'text', text } as const,
    replyTo: null,
  }));
  const committed = await storage.store.transcript.commitTurn({
    claim: appended.claim,
    readUpto: appended.seq,
    entries: [],
    posts,
    usage: [],
    calibration: null,
    maintainAt: 2,
    now: 1,
  });
  if (committed.kind !== 'committed') throw new Error('the turn was not taken');
  return committed.posts;
}

function openOutbox(
  channel: Channel | null,
  clock: Clock = hastyClock(),
  abort = new AbortController(),
  faults: Partial<OutboxStore> = {},
) {
  const events: StrataEvent[] = [];
  const bus = createEvents({ now: () => 0, onListenerError: () => {} });
  bus.on((event) => events.push(event));
  const channelOf = (_conversation: ConversationKey) => channel;
  const store = { ...storage.store.outbox, ...faults };
  const outbox = createOutbox({ store, channelOf, freed: async () => {}, events: bus, clock, signal: abort.signal });
  return { outbox, events, abort };
}

describe('the outbox', () => {
  it('posts chunks in their order and leaves nothing pending', async () => {
    const { channel, posts } = createPlatform();
    const { outbox } = openOutbox(channel);
    outbox.deliver(key, await commitReply(['one', 'two', 'three']));
    outbox.deliver(key, await commitReply(['four']));
    await outbox.drained();
    expect(posts.map((post) => post.body)).toMatchObject([
      { text: 'one' },
      { text: 'two' },
      { text: 'three' },
      { text: 'four' },
    ]);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('retries with growing pauses and posts once', async () => {
    const clock = hastyClock();
    const { channel, posts, shown } = createPlatform(['be away', 'lose the answer', 'ok']);
    const { outbox, events } = openOutbox(channel, clock);
    outbox.deliver(key, await commitReply(['hello']));
    await outbox.drained();
    expect(posts.map((post) => post.attempt)).toEqual([1, 2, 3]);
    expect([...shown.values()]).toEqual(['hello']);
    expect(clock.waits).toEqual([500, 1000]);
    expect(events.map((event) => event.kind)).toEqual(['reply.delayed', 'reply.delayed', 'reply.posted']);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  // Shows: W30
  it('posts after a long outage, trying about once a minute', async () => {
    const clock = hastyClock();
    const isAway = () => clock.now() < 50 * MINUTE_MS;
    const { channel, posts } = createPlatform();
    const post: Channel['post'] = (given, options) =>
      isAway() ? Promise.reject(new Error('the platform is down')) : channel.post(given, options);
    const { outbox, events } = openOutbox({ ...channel, post }, clock);
    outbox.deliver(key, await commitReply(['worth waiting for', 'and the rest']));
    await outbox.drained();
    expect(posts.map(({ body }) => body)).toMatchObject([{ text: 'worth waiting for' }, { text: 'and the rest' }]);
    expect(Math.max(...clock.waits)).toBe(MINUTE_MS);
    expect(clock.waits.length).toBeLessThan(70);
    expect(events.filter(({ kind }) => kind === 'reply.failed')).toEqual([]);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('shows what waits, how often it was tried, and why', async () => {
    const { channel } = createPlatform(['be away', 'be away']);
    const abort = new AbortController();
    const seen: PostRow[] = [];
    const clock: Clock = {
      now: () => 1_000,
      async sleep() {
        seen.push(...(await storage.store.outbox.pending(null)));
        if (seen.length === 2) abort.abort();
      },
    };
    const { outbox, events } = openOutbox(channel, clock, abort);
    outbox.deliver(key, await commitReply(['patience']));
    await outbox.drained();
    expect(seen).toMatchObject([1, 2].map((attempts) => ({ attempts, reason: 'the platform is down' })));
    expect(events).toMatchObject([
      { kind: 'reply.delayed', failures: 1, nextAttemptAt: 1_500 },
      { kind: 'reply.delayed', failures: 2, nextAttemptAt: 2_000 },
    ]);
  });

  it('waits as long as the platform asks', async () => {
    const { channel, shown } = createPlatform(['be busy', 'ok']);
    const clock = hastyClock();
    const { outbox } = openOutbox(channel, clock, new AbortController());
    outbox.deliver(key, await commitReply(['in a while']));
    await outbox.drained();
    expect(clock.passed()).toBe(90_000);
    expect(shown.size).toBe(1);
  });

  it('waits an hour if the platform asks for a day', async () => {
    const clock = hastyClock();
    const { channel, posts } = createPlatform();
    const busy = { channel: 'Test', reason: 'too many', final: false, retryAfterMs: 24 * HOUR_MS };
    const post: Channel['post'] = (given, options) =>
      given.nonce.endsWith('-0') ? Promise.reject(new StrataError('POST_FAILED', busy)) : channel.post(given, options);
    const { outbox, events } = openOutbox({ ...channel, post }, clock);
    outbox.deliver(key, await commitReply(['tomorrow', 'but this']));
    await outbox.drained();
    expect(clock.passed()).toBe(HOUR_MS);
    expect(posts.map(({ body }) => body)).toMatchObject([{ text: 'but this' }]);
    expect(events.map(({ kind }) => kind)).toEqual(['reply.delayed', 'reply.failed', 'reply.posted']);
  });

  it('tries a reply again that came in a pause', async () => {
    const clock = hastyClock();
    const { channel, posts } = createPlatform();
    const busy = { channel: 'Test', reason: 'too many', final: false, retryAfterMs: HOUR_MS };
    let tries = 0;
    const post: Channel['post'] = (given, options) => {
      tries += 1;
      if (tries <= 2) return Promise.reject(new StrataError('POST_FAILED', busy));
      return tries === 3 ? Promise.reject(new Error('connection reset')) : channel.post(given, options);
    };
    const [first, second] = [await commitReply(['first']), await commitReply(['second'])];
    const sleep: Clock['sleep'] = async (ms, options) => {
      await clock.sleep(ms, options);
      if (clock.passed() === 59 * MINUTE_MS) outbox.deliver(key, second);
    };
    const { outbox } = openOutbox({ ...channel, post }, { ...clock, sleep });
    outbox.deliver(key, first);
    await outbox.drained();
    expect(posts.map(({ body }) => body)).toMatchObject([{ text: 'second' }]);
  });

  it('gives up after an hour, reports it and continues', async () => {
    const clock = hastyClock();
    const { channel, posts } = createPlatform();
    const post: Channel['post'] = (given, options) =>
      given.nonce.endsWith('-0') ? Promise.reject(new Error('the platform is down')) : channel.post(given, options);
    const { outbox, events } = openOutbox({ ...channel, post }, clock);
    outbox.deliver(key, await commitReply(['never', 'but this']));
    await outbox.drained();
    expect(clock.now()).toBeGreaterThan(60 * MINUTE_MS);
    expect(clock.now()).toBeLessThan(63 * MINUTE_MS);
    expect(posts.map(({ body }) => body)).toMatchObject([{ text: 'but this' }]);
    expect(events.filter(({ kind }) => kind === 'reply.failed')).toMatchObject([{ chunk: 0 }]);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it.each([-HOUR_MS, 8 * HOUR_MS])('posts although the clock moves by %i ms', async (jumpMs) => {
    const clock = hastyClock();
    let moved = 0;
    const now = () => clock.now() + moved;
    const { channel, posts } = createPlatform();
    // The computer was suspended during the request, or its clock was set.
    const post: Channel['post'] = (given, options) => {
      if (moved !== 0) return channel.post(given, options);
      moved = jumpMs;
      return Promise.reject(new Error('connection reset'));
    };
    const { outbox, events } = openOutbox({ ...channel, post }, { ...clock, now });
    outbox.deliver(key, await commitReply(['one', 'two']));
    await outbox.drained();
    expect(posts.map(({ body }) => body)).toMatchObject([{ text: 'one' }, { text: 'two' }]);
    expect(events.map(({ kind }) => kind)).toEqual(['reply.delayed', 'reply.posted', 'reply.posted']);
  });

  it('gives up replies together that waited behind another', async () => {
    const clock = hastyClock();
    const post = () => Promise.reject(new Error('the platform is down'));
    const { outbox } = openOutbox({ ...createPlatform().channel, post }, clock);
    outbox.deliver(key, await commitReply(['first']));
    outbox.deliver(key, await commitReply(['second']));
    await outbox.drained();
    expect(clock.now()).toBeLessThan(63 * MINUTE_MS);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('gives up a whole reply when nobody waits for it', async () => {
    const clock = hastyClock();
    const isAway = () => clock.now() < 62 * MINUTE_MS;
    const { channel, posts } = createPlatform();
    const post: Channel['post'] = (given, options) =>
      isAway() ? Promise.reject(new Error('the platform is down')) : channel.post(given, options);
    const { outbox, events } = openOutbox({ ...channel, post }, clock);
    outbox.deliver(key, await commitReply(['the beginning', 'the middle', 'the end']));
    await outbox.drained();
    expect(posts).toEqual([]);
    expect(events.filter(({ kind }) => kind === 'reply.failed')).toMatchObject([0, 1, 2].map((chunk) => ({ chunk })));
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('gives up at once on a permanent rejection', async () => {
    const clock = hastyClock();
    const { channel, posts } = createPlatform(['refuse', 'ok']);
    const { outbox, events } = openOutbox(channel, clock);
    outbox.deliver(key, await commitReply(['to nobody', 'to somebody']));
    await outbox.drained();
    expect(clock.waits).toEqual([]);
    expect(posts).toHaveLength(2);
    expect(events).toMatchObject([
      { kind: 'reply.failed', message: 'Test did not accept the message: the channel is gone' },
      { kind: 'reply.posted', chunk: 1 },
    ]);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('posts once even if recording it fails first', async () => {
    const { channel, posts } = createPlatform();
    let failures = 2;
    const sent: OutboxStore['sent'] = async (...call) => {
      failures -= 1;
      if (failures >= 0) throw new Error('the store is away');
      await storage.store.outbox.sent(...call);
    };
    const { outbox, events } = openOutbox(channel, hastyClock(), new AbortController(), { sent });
    outbox.deliver(key, await commitReply(['once']));
    await outbox.drained();
    expect(posts).toHaveLength(1);
    expect(events.map(({ kind }) => kind)).toEqual(['reply.delayed', 'reply.delayed', 'reply.posted']);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('calls no post failed that people see', async () => {
    const { channel, posts } = createPlatform();
    const clock = hastyClock();
    const sent: OutboxStore['sent'] = async (...call) => {
      if (clock.now() < 62 * MINUTE_MS) throw new Error('the store is away');
      await storage.store.outbox.sent(...call);
    };
    const { outbox, events } = openOutbox(channel, clock, new AbortController(), { sent });
    outbox.deliver(key, await commitReply(['seen']));
    await outbox.drained();
    expect(posts).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === 'reply.failed')).toEqual([]);
    expect(events.at(-1)).toMatchObject({ kind: 'reply.posted' });
  });

  it('reports a post whose record was stored without an answer', async () => {
    const { channel, posts } = createPlatform();
    let isAway = true;
    const sent: OutboxStore['sent'] = async (...call) => {
      await storage.store.outbox.sent(...call);
      if (!isAway) return;
      isAway = false;
      throw new Error('the answer of the store was lost');
    };
    const { outbox, events } = openOutbox(channel, hastyClock(), new AbortController(), { sent });
    outbox.deliver(key, await commitReply(['once']));
    await outbox.drained();
    expect(posts).toHaveLength(1);
    expect(events.map(({ kind }) => kind)).toEqual(['reply.delayed', 'reply.posted']);
  });

  it('tells the platform that a recovered post may exist already', async () => {
    await commitReply(['left over']);
    const { channel, posts } = createPlatform();
    const { outbox } = openOutbox(channel);
    outbox.deliver(key, await storage.store.outbox.pending(null), { recovered: true });
    await outbox.drained();
    expect(posts.map((post) => post.attempt)).toEqual([2]);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it.each([
    ['recovered', []],
    ['failed', ['be away']],
  ] as const)('keeps the order when a %s attempt cannot be counted', async (kind, script) => {
    const committed = await commitReply(['one', 'two']);
    const { channel, shown } = createPlatform(script);
    let isAway = true;
    const attempt: OutboxStore['attempt'] = async (...call) => {
      if (isAway) {
        isAway = false;
        throw new Error('the store is away');
      }
      await storage.store.outbox.attempt(...call);
    };
    const { outbox } = openOutbox(channel, hastyClock(), new AbortController(), { attempt });
    outbox.deliver(key, committed, { recovered: kind === 'recovered' });
    await outbox.drained();
    expect([...shown.values()]).toEqual(['one', 'two']);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('does not repeat a recovered post that was out', async () => {
    const [first] = await commitReply(['out', 'left over']);
    const recovered = await storage.store.outbox.pending(null);
    const { channel, shown } = createPlatform();
    const { outbox } = openOutbox(channel);
    await storage.store.outbox.sent(first?.id ?? 0, 'm-of-another');
    outbox.deliver(key, recovered, { recovered: true });
    await outbox.drained();
    expect([...shown.values()]).toEqual(['left over']);
  });

  it('posts nothing that was deleted while it waited', async () => {
    const { channel, shown } = createPlatform(['be away']);
    const posts = await commitReply(['forget this', 'and that']);
    const conversationId = posts[0]?.conversationId ?? 0;
    const clock = hastyClock();
    const sleep: Clock['sleep'] = async (ms, options) => {
      await storage.store.conversations.change(conversationId, { kind: 'purge' });
      await clock.sleep(ms, options);
    };
    const { outbox } = openOutbox(channel, { ...clock, sleep });
    outbox.deliver(key, posts);
    await outbox.drained();
    expect([...shown.values()]).toEqual([]);
  });

  it('keeps the posts of a platform not connected here', async () => {
    const { outbox } = openOutbox(null);
    outbox.deliver(key, await commitReply(['later']));
    await outbox.drained();
    expect(await storage.store.outbox.pending(null)).toHaveLength(1);
  });

  it('leaves unposted messages pending when the process ends', async () => {
    const { channel } = createPlatform(['be away']);
    const { outbox, abort } = openOutbox(channel, { ...hastyClock(), sleep: async () => abort.abort() });
    outbox.deliver(key, await commitReply(['first', 'second']));
    await outbox.drained();
    expect((await storage.store.outbox.pending(null)).map((post) => post.body)).toMatchObject([
      { text: 'first' },
      { text: 'second' },
    ]);
  });

  it('keeps a post that is refused because the process ends', async () => {
    const { channel } = createPlatform();
    const abort = new AbortController();
    const post: Channel['post'] = async () => {
      abort.abort();
      throw new StrataError('POST_FAILED', { channel: 'Test', reason: 'it is closed', final: true });
    };
    const { outbox, events } = openOutbox({ ...channel, post }, hastyClock(), abort);
    outbox.deliver(key, await commitReply(['for the next start']));
    await outbox.drained();
    expect(await storage.store.outbox.pending(null)).toMatchObject([{ body: { text: 'for the next start' } }]);
    expect(events).toEqual([]);
  });

  it('holds no posts of others where it has posted all', async () => {
    const { channel } = createPlatform();
    const clock = hastyClock();
    const { outbox } = openOutbox(channel, clock);
    outbox.deliver(key, await commitReply(['mine']));
    await outbox.drained();
    await settle();
    const [abandoned] = await commitReply(['of a process that died']);
    await clock.sleep(POST_HOLD_MS, { signal: AbortSignal.timeout(MINUTE_MS) });
    await outbox.hold();
    const { platform } = parseKey(key);
    expect(await storage.store.outbox.take({ platform, now: clock.now() + 2, limit: 9 })).toMatchObject([
      { id: abandoned?.id },
    ]);
  });
});
