import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalQueue } from '../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import { type Bot, createBot } from '../src/bot/bot.ts';
import type { ProcessRole } from '../src/bot/options.ts';
import { type AgentOverrides, defaultAgent } from '../src/config/defaults.ts';
import type { PriceOptions } from '../src/costs/prices.ts';
import { makeKey } from '../src/domain/key.ts';
import type { Author, ConversationKey, InboundMessage } from '../src/domain/message.ts';
import type { Channel } from '../src/ports/channel.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { ContextEngine } from '../src/ports/engine.ts';
import type { ModelProvider } from '../src/ports/model.ts';
import type { Queue } from '../src/ports/queue.ts';
import type { Reranker } from '../src/ports/reranker.ts';
import type { Storage } from '../src/services.ts';
import { silentLog } from '../src/util/log/silent-log.ts';
import { REPLY_MODEL, SUMMARY_MODEL } from './models.ts';

export interface WorldOptions {
  readonly models: ModelProvider;
  readonly agent?: AgentOverrides;
  readonly clock?: Clock;
  readonly prices?: PriceOptions;
  readonly reranker?: Reranker;
  readonly engines?: Readonly<Record<string, ContextEngine>>;
  /** Not removed afterwards if given; otherwise a temporary directory is created. */
  readonly directory?: string;
  /** Default: an SQLite file in the directory. Closed with the bot. */
  readonly storage?: Storage;
  /** Default: the in-process queue. */
  readonly queue?: Queue;
  readonly role?: ProcessRole;
  /** Called with every post, for a benchmark that counts posts itself. */
  readonly onPost?: (post: {
    readonly conversation: ConversationKey;
    readonly nonce: string;
    readonly replyTo: string | null;
  }) => void;
}

/** A complete bot on a real store and queue, with a platform that accepts every post at once. */
export interface World {
  readonly bot: Bot;
  readonly storage: Storage;
  /** Sends a message of a person and waits for its answer. Resolves to the milliseconds until its post. */
  ask(conversation: ConversationKey, message: { readonly id: string; readonly text: string }): Promise<number>;
  close(): Promise<void>;
}

export function conversationKey(name: string | number): ConversationKey {
  return makeKey({ platform: 'bench', workspace: 'bench', channel: String(name) });
}

/** Runs the work in a new world, and always cleans up afterwards. */
export async function withWorld<Result>(
  options: WorldOptions,
  work: (world: World) => Promise<Result>,
): Promise<Result> {
  const world = await openWorld(options);
  try {
    return await work(world);
  } finally {
    await world.close();
  }
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'strata-bench-'));
  const storage = options.storage ?? (await createSqliteStorage({ directory }));
  const waits = new Map<string, (postedAt: number) => void>();
  const channel = createBenchChannel((post) => {
    options.onPost?.(post);
    // Not once the caller gets its turn: work that comes after the post would count.
    waits.get(`${post.conversation} ${post.replyTo}`)?.(performance.now());
  });
  const bot = createBot({
    storage,
    queue: options.queue ?? createLocalQueue({ log: silentLog }),
    models: options.models,
    channels: [channel],
    agents: [benchAgent(options.agent)],
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.prices === undefined ? {} : { prices: options.prices }),
    ...(options.reranker === undefined ? {} : { reranker: options.reranker }),
    ...(options.role === undefined ? {} : { role: options.role }),
    ...(options.engines === undefined ? {} : { engines: options.engines }),
  });
  let failure: string | null = null;
  bot.events.on((event) => {
    if (event.kind === 'turn.failed' || event.kind === 'error.internal') failure ??= event.message;
  });
  await bot.start();
  return {
    bot,
    storage,
    async ask(conversation, { id, text }) {
      const posted = Promise.withResolvers<number>();
      const wait = `${conversation} ${id}`;
      waits.set(wait, posted.resolve);
      const startedAt = performance.now();
      await bot.sink.message(personMessage(conversation, { id, text }));
      const tookMs = (await posted.promise) - startedAt;
      waits.delete(wait);
      // Failure replies would skew the timing.
      if (failure !== null) throw new Error(`A turn failed: ${failure}`);
      return tookMs;
    },
    async close() {
      await bot.stop({ deadlineMs: 1000 });
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function benchAgent(overrides: AgentOverrides = {}) {
  return defaultAgent({
    model: REPLY_MODEL,
    mode: 'active',
    ...overrides,
    compaction: { model: SUMMARY_MODEL, ...overrides.compaction },
  });
}

/** Another person in each conversation: one alone would have eight replies at once. */
export function personIn(conversation: ConversationKey): Author {
  return { id: `ada-${conversation.replaceAll(':', '-')}`, name: 'Ada', kind: 'person' };
}

export function personMessage(
  conversation: ConversationKey,
  { id, text }: { readonly id: string; readonly text: string },
): InboundMessage {
  return {
    conversation,
    audience: 'dm',
    externalId: id,
    author: personIn(conversation),
    text,
    attachments: [],
    replyTo: null,
    mentions: [],
    addressesBot: true,
    at: Date.now(),
  };
}

type Posted = Parameters<NonNullable<WorldOptions['onPost']>>[0];

export function createBenchChannel(onPost: (post: Posted) => void): Channel {
  return {
    platform: 'bench',
    traits: { idempotentPosts: true, ephemeral: true, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start: async () => undefined,
    split: (text) => [{ kind: 'text', text }],
    async post(post) {
      onPost(post);
      return { platformMessageId: `posted-${post.nonce}` };
    },
    show: () => undefined,
    stop: async () => undefined,
  };
}
