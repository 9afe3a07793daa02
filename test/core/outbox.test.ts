import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { createOutbox } from '../../src/conversation/outbox.ts';
import { createEvents, type StrataEvent } from '../../src/events.ts';
import {
  type Channel,
  type Clock,
  type ConversationKey,
  makeKey,
  type Post,
  type PostRow,
  type Storage,
} from '../../src/index.ts';

const key = makeKey({ platform: 'test', workspace: 'w', channel: 'c' });
/** Time that passes when somebody waits for it. */
const hastyClock = (): Clock & { readonly waits: number[] } => {
  const waits: number[] = [];
  return { waits, now: () => 1_000, sleep: async (ms) => void waits.push(ms) };
};

/** A platform that takes posts unless its script says otherwise, and recognises a nonce it has seen. */
function createPlatform(script: readonly ('ok' | 'refuse' | 'lose the answer')[] = []) {
  const posts: Post[] = [];
  const shown = new Map<string, string>();
  let call = 0;
  const channel: Channel = {
    platform: 'test',
    traits: { idempotentPosts: true, ephemeral: false },
    start: async () => {},
    split: (text) => [{ kind: 'text', text }],
    async post(post) {
      const step = script[call] ?? 'ok';
      call += 1;
      posts.push(post);
      if (step === 'refuse') throw new Error('the platform is down');
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
  directory = await mkdtemp(join(tmpdir(), 'strata-outbox-'));
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

function openOutbox(channel: Channel | null, clock: Clock = hastyClock()) {
  const events: StrataEvent[] = [];
  const bus = createEvents({ now: () => 0, onListenerError: () => {} });
  bus.on((event) => events.push(event));
  const abort = new AbortController();
  const channelOf = (_conversation: ConversationKey) => channel;
  const outbox = createOutbox({ store: storage.store.outbox, channelOf, events: bus, clock, signal: abort.signal });
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

  it('tries again with growing pauses and posts once when only the answer was lost', async () => {
    const clock = hastyClock();
    const { channel, posts, shown } = createPlatform(['refuse', 'lose the answer', 'ok']);
    const { outbox, events } = openOutbox(channel, clock);
    outbox.deliver(key, await commitReply(['hello']));
    await outbox.drained();
    expect(posts.map((post) => post.attempt)).toEqual([1, 2, 3]);
    expect([...shown.values()]).toEqual(['hello']);
    expect(clock.waits).toEqual([500, 1000]);
    expect(events.map((event) => event.kind)).toEqual(['reply.failed', 'reply.failed', 'reply.posted']);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('reports a post that the platform never takes and goes on with the next', async () => {
    const { channel, posts } = createPlatform(Array.from({ length: 6 }, () => 'refuse' as const));
    const { outbox, events } = openOutbox(channel);
    outbox.deliver(key, await commitReply(['never', 'but this']));
    await outbox.drained();
    expect(posts).toHaveLength(7);
    expect(events.filter((event) => event.kind === 'reply.failed')).toHaveLength(6);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('tells the platform that a recovered post may be there already', async () => {
    await commitReply(['left over']);
    const { channel, posts } = createPlatform();
    const { outbox } = openOutbox(channel);
    outbox.deliver(key, await storage.store.outbox.pending(null), { recovered: true });
    await outbox.drained();
    expect(posts.map((post) => post.attempt)).toEqual([2]);
    expect(await storage.store.outbox.pending(null)).toEqual([]);
  });

  it('keeps the posts of a platform that is not connected here', async () => {
    const { outbox } = openOutbox(null);
    outbox.deliver(key, await commitReply(['later']));
    await outbox.drained();
    expect(await storage.store.outbox.pending(null)).toHaveLength(1);
  });

  it('leaves what it could not post pending when the process ends', async () => {
    const { channel } = createPlatform(['refuse']);
    const { outbox, abort } = openOutbox(channel, { ...hastyClock(), sleep: async () => abort.abort() });
    outbox.deliver(key, await commitReply(['first', 'second']));
    await outbox.drained();
    expect((await storage.store.outbox.pending(null)).map((post) => post.body)).toMatchObject([
      { text: 'first' },
      { text: 'second' },
    ]);
  });
});
