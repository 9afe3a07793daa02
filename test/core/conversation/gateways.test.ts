import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type Channel,
  type Clock,
  type ModelRequest,
  makeKey,
  POST_HOLD_MS,
  type Queue,
  STORE_FILE,
  type Storage,
  StrataError,
} from '../../../src/adapter-kit.ts';
import { type Bot, createBot } from '../../../src/bot/bot.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import {
  type Script,
  scriptedModel,
  settle,
  type TestClock,
  testClock,
  until,
} from '../compaction/compaction.world.ts';

/** Several bots over one store, as processes would be: each with its own connection, copies and timers. */
interface Gateway {
  readonly bot: Bot;
  readonly storage: Storage;
  /** From now on its posts hang forever. */
  die(): void;
}

const PLACE = { platform: 'test', workspace: 'here', channel: 'talk' };
const KEY = makeKey(PLACE);
/** Longer than any lease, hold and heartbeat. */
const LONG_MS = POST_HOLD_MS + 10_000;

let directory: string;
let clock: TestClock;
let posts: { readonly gateway: string; readonly nonce: string; readonly text: string }[];
let requests: { readonly gateway: string; readonly request: ModelRequest }[];
let gateways: Gateway[];
let said: number;

beforeEach(async () => {
  directory = await createStoreFolder('gateways');
  clock = testClock();
  posts = [];
  requests = [];
  gateways = [];
  said = 0;
});
afterEach(async () => {
  for (const { bot } of gateways) await bot.stop({ deadlineMs: 20 });
  await rm(directory, { recursive: true, force: true });
});

interface GatewayOptions {
  readonly script?: Script;
  readonly post?: () => Promise<void>;
  /** Runs before each commit of a turn. */
  readonly commit?: () => Promise<void>;
  /** Runs before each claim. */
  readonly claim?: () => Promise<void>;
  /** Runs before each list of memories, which a turn reads. */
  readonly list?: () => Promise<void>;
}

async function openGateway(name: string, { script, post, ...before }: GatewayOptions = {}): Promise<Gateway> {
  const life = { isOver: false };
  const storage = delayed(await createSqliteStorage({ directory, shared: true }), before);
  const model = scriptedModel(
    (request, options) => {
      requests.push({ gateway: name, request });
      return script?.(request, options) ?? { text: `${name} heard ${lastWord(request)}` };
    },
    { id: 'test:chat' },
  );
  const own = mortal(life);
  const bot = createBot({
    storage,
    queue: farQueue(createLocalQueue({ log: silentLog, clock: own })),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'main', model: model.id, mode: 'active', tools: [] }],
    channels: [channelOf(name, life, post)],
    clock: own,
    role: 'gateway',
    log: silentLog,
  });
  await bot.start();
  const gateway = {
    bot,
    storage,
    die() {
      life.isOver = true;
    },
  };
  gateways.push(gateway);
  return gateway;
}

/** A queue as on a server, which a gateway requires; no worker reads it here. */
function farQueue(queue: Queue): Queue {
  return { ...queue, stats: () => ({ ...queue.stats(), driver: 'far away' }) };
}

function delayed(
  storage: Storage,
  { commit, claim: beforeClaim, list: beforeList }: Pick<GatewayOptions, 'commit' | 'claim' | 'list'>,
): Storage {
  const { transcript, conversations, memories } = storage.store;
  const commitTurn: typeof transcript.commitTurn = async (turn) => {
    await commit?.();
    return await transcript.commitTurn(turn);
  };
  const claim: typeof conversations.claim = async (request) => {
    await beforeClaim?.();
    return await conversations.claim(request);
  };
  const list: typeof memories.list = async (query) => {
    await beforeList?.();
    return await memories.list(query);
  };
  const store = {
    ...storage.store,
    transcript: { ...transcript, commitTurn },
    conversations: { ...conversations, claim },
    memories: { ...memories, list },
  };
  return { ...storage, store };
}

function lastWord(request: ModelRequest): string {
  return (
    JSON.stringify(request.messages.at(-1))
      .match(/word\d+/gu)
      ?.at(-1) ?? 'nothing'
  );
}

/** What a dead bot was waiting for never ends. */
function mortal(life: { readonly isOver: boolean }): Clock {
  return {
    now: clock.now,
    sleep: (ms, options) =>
      new Promise((resolve, reject) => {
        clock.sleep(ms, options).then(
          () => life.isOver || resolve(),
          (error: unknown) => reject(error),
        );
      }),
  };
}

function channelOf(name: string, life: { readonly isOver: boolean }, wait?: () => Promise<void>): Channel {
  return {
    platform: 'test',
    traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start: async () => undefined,
    split: (text) => [{ kind: 'text', text }],
    async post({ nonce, body }, { signal }) {
      if (life.isOver) await forever(signal);
      await wait?.();
      posts.push({ gateway: name, nonce, text: body.text });
      return { platformMessageId: nonce };
    },
    show: () => undefined,
    stop: async () => undefined,
  };
}

function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

async function say({ bot }: Gateway, kind: 'person' | 'bot' = 'person', conversation = KEY): Promise<void> {
  said += 1;
  await bot.sink.message({
    conversation,
    externalId: `m${said}`,
    author: { id: 'u-ada', name: 'Ada', kind },
    text: `word${said}`,
    attachments: [],
    replyTo: null,
    mentions: [],
    addressesBot: kind === 'person',
    audience: 'private',
    at: clock.now(),
  });
}

/** Lets time pass as slowly as the store needs. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await clock.advance(1000);
    for (let turn = 0; turn < 5; turn += 1) await settle();
  }
}

const texts = () => posts.map(({ text }) => text);

/** What an append changes in the row of a conversation. */
const COUNTERS = 'next_seq, last_activity_at, maintain_at, heard_id, heard_at';

/** Replies to one person at once. */
const MOST_TURNS = 8;

/** A gateway whose model is busy with all turns that one person may have, and one turn that waits. */
async function crowded() {
  const gate = Promise.withResolvers<void>();
  const a = await openGateway('a', { script: () => gate.promise.then(() => ({ text: 'a at last' })) });
  const threads = Array.from({ length: MOST_TURNS + 1 }, (_, index) => makeKey({ ...PLACE, thread: `t${index}` }));
  for (const thread of threads) await say(a, 'person', thread);
  await until(() => requests.length === MOST_TURNS);
  return { a, end: gate.resolve };
}

describe('several gateways on one store', () => {
  it('answer each message once, whichever of them gets it', async () => {
    const [a, b] = [await openGateway('a'), await openGateway('b')];
    for (let round = 0; round < 6; round += 1) {
      const gateway = round % 2 === 0 ? a : b;
      await say(gateway);
      await gateway.bot.settled();
    }
    expect(texts()).toEqual([
      'a heard word1',
      'b heard word2',
      'a heard word3',
      'b heard word4',
      'a heard word5',
      'b heard word6',
    ]);
  });

  it('read what the others stored', async () => {
    const [a, b] = [await openGateway('a'), await openGateway('b')];
    await say(a);
    await a.bot.settled();
    await say(b);
    await b.bot.settled();
    await say(a);
    await a.bot.settled();
    const seen = JSON.stringify(requests.at(-1)?.request.messages);
    for (const word of ['word1', 'a heard word1', 'word2', 'b heard word2', 'word3']) expect(seen).toContain(word);
  });

  it('read what another stored in place of lost messages', async () => {
    const [a, b] = [await openGateway('a'), await openGateway('b')];
    await say(a);
    await a.bot.settled();
    using database = new DatabaseSync(join(directory, STORE_FILE));
    database.exec('create table kept as select * from conversation');
    await clock.advance(1000);
    await say(a, 'bot');
    // A server failed over to a standby that did not have the last commit.
    database.exec('delete from entry where seq > 2');
    database.exec(`update conversation set (${COUNTERS}) = (select ${COUNTERS} from kept)`);
    await clock.advance(1000);
    await say(b, 'bot');
    await say(a);
    await a.bot.settled();
    const seen = JSON.stringify(requests.at(-1)?.request.messages);
    expect(seen).not.toContain('word2');
    for (const word of ['word1', 'word3', 'word4']) expect(seen).toContain(word);
  });

  it('count a lost prefix once, whichever of them answered before', async () => {
    const [a, b] = [await openGateway('a'), await openGateway('b')];
    const causes: string[] = [];
    for (const { bot } of [a, b]) bot.events.on((event) => event.kind === 'cache.lost' && causes.push(event.cause));
    const talk = async (...turns: readonly Gateway[]) => {
      for (const gateway of turns) {
        await say(gateway);
        await gateway.bot.settled();
      }
    };
    await talk(a, a, a);
    const ada = { id: 'u-ada', name: 'Ada', kind: 'person' } as const;
    const by = { conversation: KEY, audience: 'private', author: ada, rights: 'operator' } as const;
    await b.bot.sink.command({ ...by, path: ['reset'], options: {} });
    await talk(b, a, b, a);
    expect(causes).toEqual(['reset']);
  });

  // Shows: R29
  it('leave messages during a turn to its gateway', async () => {
    const gate = Promise.withResolvers<void>();
    const a = await openGateway('a', {
      script: async (request) => {
        if (requests.length === 1) await gate.promise;
        return { text: `a heard ${lastWord(request)}` };
      },
    });
    const b = await openGateway('b');
    await say(a);
    await until(() => requests.length === 1);
    await say(b);
    await b.bot.settled();
    expect(requests).toHaveLength(1);
    gate.resolve();
    await until(() => posts.length === 2);
    await pass(LONG_MS);
    expect(texts()).toEqual(['a heard word1', 'a heard word2']);
  });

  it('give a reply once, however late another claims it', async () => {
    const turn = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    let claims = 0;
    const a = await openGateway('a', {
      script: async (request) => turn.promise.then(() => ({ text: `a heard ${lastWord(request)}` })),
    });
    const b = await openGateway('b', {
      claim: () => {
        claims += 1;
        return late.promise;
      },
    });
    await say(a);
    await until(() => requests.length === 1);
    await say(b);
    await until(() => claims === 1);
    turn.resolve();
    await until(() => posts.length === 2);
    await say(a, 'bot');
    late.resolve();
    await b.bot.settled();
    await pass(LONG_MS);
    expect(texts()).toEqual(['a heard word1', 'a heard word2']);
  });

  // Shows: W26
  it('repeat a dead gateway’s turn when its claim ends', async () => {
    const a = await openGateway('a', { script: () => new Promise(() => undefined) });
    const b = await openGateway('b');
    await say(b);
    await b.bot.settled();
    await say(a);
    await until(() => requests.length === 2);
    a.die();
    await pass(4000);
    expect(posts).toHaveLength(1);
    await pass(LONG_MS);
    await until(() => posts.length > 1);
    expect(texts()).toEqual(['b heard word1', 'b heard word2']);
  });

  // Shows: W27
  it('do not give a reply that another is working on', async () => {
    const gate = Promise.withResolvers<void>();
    const a = await openGateway('a', { script: async () => gate.promise.then(() => ({ text: 'a at last' })) });
    await openGateway('b');
    await say(a);
    await until(() => requests.length === 1);
    await pass(4 * LONG_MS);
    gate.resolve();
    await until(() => posts.length === 1);
    await pass(LONG_MS);
    expect(texts()).toEqual(['a at last']);
  });

  it('leave turns that wait for their person to their gateway', async () => {
    const { a, end } = await crowded();
    await openGateway('b');
    await pass(3 * MINUTE_MS);
    expect(requests.filter(({ gateway }) => gateway === 'b')).toEqual([]);
    end();
    await a.bot.settled();
    expect(requests).toHaveLength(MOST_TURNS + 1);
  });

  it('take over turns that waited in a stopped one', async () => {
    const { a } = await crowded();
    await openGateway('b');
    await a.bot.stop({ deadlineMs: 20 });
    // Long before the claim of a waiting turn ends.
    await pass(LONG_MS);
    await until(() => texts().includes(`b heard word${MOST_TURNS + 1}`));
  });

  // Shows: W28
  it('post what a dead gateway left behind', async () => {
    const a = await openGateway('a');
    const b = await openGateway('b');
    a.die();
    await say(a);
    await until(async () => (await b.storage.store.outbox.pending(null)).length === 1);
    await pass(POST_HOLD_MS - 3000);
    expect(posts).toEqual([]);
    await pass(LONG_MS);
    await until(async () => (await b.storage.store.outbox.pending(null)).length === 0);
    expect(posts).toMatchObject([{ gateway: 'b', text: 'a heard word1' }]);
  });

  it('leave a post to one waiting for its platform', async () => {
    const gate = Promise.withResolvers<void>();
    // Its heartbeat comes first whenever a hold has ended.
    await openGateway('b');
    const a = await openGateway('a', { post: () => gate.promise });
    await say(a);
    await until(async () => (await a.storage.store.outbox.pending(null)).length === 1);
    await pass(4 * LONG_MS);
    expect(posts).toEqual([]);
    gate.resolve();
    await until(() => posts.length === 1);
    await pass(LONG_MS);
    expect(posts).toMatchObject([{ gateway: 'a' }]);
  });

  it('leave what one of them sends unasked to it', async () => {
    const gate = Promise.withResolvers<void>();
    const a = await openGateway('a', { post: () => gate.promise });
    const b = await openGateway('b');
    await b.bot.settled();
    await a.bot.send(KEY, 'The tea is ready.', { audience: 'private' });
    expect(await b.storage.store.outbox.take({ platform: 'test', now: clock.now(), limit: 9 })).toEqual([]);
    gate.resolve();
    await until(() => posts.length === 1);
    expect(posts).toMatchObject([{ gateway: 'a', text: 'The tea is ready.' }]);
  });

  // Shows: W29
  it('retry a failing turn with growing pauses and report it', async () => {
    let isBroken = true;
    const commit = async () => {
      if (isBroken) throw new Error('the entry cannot be stored');
    };
    const [a] = [await openGateway('a', { commit }), await openGateway('b', { commit })];
    const delays: number[] = [];
    for (const { bot } of gateways) {
      bot.events.on((event) => event.kind === 'turn.delayed' && delays.push(event.nextAttemptAt - event.at));
    }
    await say(a);
    await pass(10 * MINUTE_MS);
    expect(requests.length).toBe(delays.length);
    expect(delays.length).toBeGreaterThan(4);
    expect(delays.length).toBeLessThan(14);
    for (const [index, delay] of delays.slice(1).entries()) expect(delay).toBeGreaterThan(delays[index] ?? 0);
    expect(await reply(a)).toMatch(/^owed, failed \d+ times, next attempt in .*: the entry cannot be stored$/u);
    isBroken = false;
    await pass(10 * MINUTE_MS);
    expect(texts()).toHaveLength(1);
    expect(await reply(a)).toBeNull();
    const before = delays.length;
    isBroken = true;
    await say(a);
    await pass(5_000);
    expect(delays[before]).toBeLessThan(delays[1] ?? 0);
  });

  it.each([
    ['back', 'STORE_UNREACHABLE', 'cannot be reached: it restarts'],
    ['usable', 'STORE_UNUSABLE', 'cannot be used: it restarts'],
  ] as const)('answer once the store is %s instead of apologising', async (_, code, message) => {
    let isAway = true;
    const list = async () => {
      if (isAway) throw new StrataError(code, { path: 'there', reason: 'it restarts' });
    };
    const a = await openGateway('a', { list });
    const delays: string[] = [];
    a.bot.events.on((event) => event.kind === 'turn.delayed' && delays.push(event.message));
    await say(a);
    await until(() => delays.length > 0);
    expect(delays[0]).toContain(message);
    expect(posts).toEqual([]);
    isAway = false;
    await pass(60_000);
    expect(texts()).toEqual(['a heard word1']);
  });

  it('apologise for data that is damaged', async () => {
    const list = () =>
      Promise.reject(new StrataError('STORE_UNUSABLE', { path: 'there', reason: 'it is damaged', isDamaged: true }));
    await say(await openGateway('a', { list }));
    await until(() => posts.length > 0);
    expect(texts()).toEqual([expect.stringContaining('Something went wrong')]);
  });

  it('report posts that a platform rejects, and why', async () => {
    let isAway = true;
    const post = async () => {
      if (isAway) throw new Error('the platform is down');
    };
    const a = await openGateway('a', { post });
    await say(a);
    await pass(5 * MINUTE_MS);
    expect(await reply(a)).toMatch(/^1 not posted yet, tried \d+ times: the platform is down$/u);
    isAway = false;
    await pass(2 * MINUTE_MS);
    await until(() => posts.length > 0);
    expect(texts()).toEqual(['a heard word1']);
    expect(await reply(a)).toBeNull();
  });
});

/** What `/status` says of replies that do not come. */
async function reply({ bot }: Gateway): Promise<string | null> {
  const { fields } = await bot.sink.command({
    conversation: KEY,
    audience: 'private',
    author: { id: 'u-ada', name: 'Ada', kind: 'person' },
    rights: 'operator',
    path: ['status'],
    options: {},
  });
  return fields.find(({ name }) => name === 'Reply')?.value ?? null;
}
