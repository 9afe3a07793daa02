import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import {
  type Activity,
  type AttachmentPart,
  type Author,
  type Channel,
  type ChatModel,
  type Clock,
  type CommandReply,
  type ContextEngine,
  type ContextSnapshot,
  type Conversation,
  type ConversationKey,
  type Entry,
  type ImageBytes,
  type InboundMessage,
  type LoadImage,
  makeKey,
  type Post,
  type PostBody,
  type Receipt,
  type Storage,
  StrataError,
  type StrataEvent,
  type Tool,
} from '../../src/adapter-kit.ts';
import { type Bot, createBot } from '../../src/bot/bot.ts';
import { type AgentOverrides, defaultAgent } from '../../src/config/defaults.ts';
import { type AgentDirectory, modelsOf } from '../../src/config/directory.ts';
import type { PriceOptions } from '../../src/costs/prices.ts';
import type { Hooks } from '../../src/hooks/hooks.ts';
import { createPromptLibrary } from '../../src/prompts/library.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { settle, type TestClock, testClock } from '../core/compaction/compaction.world.ts';
import { createStoreFolder } from './store-folder.ts';

/** A complete bot on real parts; only the model and the platform belong to the test, and time moves only on request. */
export interface BotWorld extends AsyncDisposable {
  readonly bot: Bot;
  readonly clock: TestClock;
  readonly channel: RecordingChannel;
  readonly directory: string;
  readonly key: ConversationKey;
  /** Of every bot that ran here. */
  readonly events: readonly StrataEvent[];
  say(text: string, options?: Saying): Promise<Receipt>;
  command(path: string, options?: Readonly<Record<string, string>>): Promise<CommandReply>;
  conversation(): Promise<Conversation>;
  snapshot(): Promise<ContextSnapshot>;
  entries(): Promise<readonly Entry[]>;
  /** Every reply that is owed is posted. Lets at most some seconds pass, for retries; throws when that is not enough. */
  settled(): Promise<void>;
  /** Stops the bot gracefully and starts another one on the same directory. */
  restart(options?: { readonly deadlineMs?: number }): Promise<void>;
  /** The process dies without notice. Another one starts. */
  crash(): Promise<void>;
}

export interface BotWorldOptions {
  readonly models: readonly ChatModel[];
  readonly agent?: AgentOverrides;
  /** In the place of the one agent. */
  readonly agents?: AgentDirectory;
  readonly tools?: readonly Tool[];
  readonly prices?: PriceOptions;
  readonly hooks?: readonly Hooks[];
  readonly engines?: Readonly<Record<string, ContextEngine>>;
  readonly key?: ConversationKey;
  /** Called with every event of a running bot. */
  readonly onEvent?: (event: StrataEvent) => void;
  /** Wraps the bot's channel. */
  readonly channel?: (channel: Channel) => Channel;
  /** Wraps the bot's storage. */
  readonly storage?: (storage: Storage) => Storage;
  readonly started?: boolean;
}

export interface Saying {
  readonly id?: string;
  readonly author?: Author;
  readonly asks?: boolean;
  readonly attachments?: readonly AttachmentPart[];
  readonly replyTo?: string | null;
  readonly key?: ConversationKey;
  readonly audience?: InboundMessage['audience'];
}

export const ADA: Author = { id: 'u-ada', name: 'Ada', kind: 'person' };
export const BOB: Author = { id: 'u-bob', name: 'Bob', kind: 'person' };
export const HERE = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });

const prompts = createPromptLibrary();
/** More than the pauses of an outbox and of a busy model, far less than any time limit of a summary. */
const PATIENCE_MS = 8000;
const STEP_MS = 250;
const DISK_MS = 10;
const HANG_MS = 120_000;

export async function createBotWorld(options: BotWorldOptions): Promise<BotWorld> {
  const directory = await createStoreFolder('bot');
  const clock = testClock();
  const channel = recordingChannel();
  const events: StrataEvent[] = [];
  const key = options.key ?? HERE;
  const wrap = options.channel ?? ((own: Channel) => own);
  let life = await live({ ...options, wrap, directory, clock, channel, events });
  let said = 0;
  /** Of the last message here: a command comes from the same place. */
  let audience: InboundMessage['audience'] = 'private';
  const conversation = async (): Promise<Conversation> => {
    const found = await life.bot.services.store.conversations.find(key);
    if (found === null) throw new Error('Nothing was said yet.');
    return found;
  };
  const world: BotWorld = {
    get bot() {
      return life.bot;
    },
    clock,
    channel,
    directory,
    key,
    events,
    say(text, saying = {}) {
      said += 1;
      const to = saying.key ?? key;
      const heardBy = saying.audience ?? 'private';
      if (to === key) audience = heardBy;
      return life.bot.sink.message({
        conversation: to,
        externalId: saying.id ?? `m${said}`,
        author: saying.author ?? ADA,
        text,
        attachments: saying.attachments ?? [],
        replyTo: saying.replyTo ?? null,
        mentions: [],
        addressesBot: saying.asks ?? true,
        audience: heardBy,
        at: clock.now(),
      });
    },
    command: (path, given = {}) =>
      life.bot.sink.command({
        conversation: key,
        audience,
        author: ADA,
        rights: 'operator',
        path: path.split(' '),
        options: given,
      }),
    conversation,
    async snapshot() {
      const { id } = await conversation();
      const snapshot = await life.bot.services.store.transcript.context(id, { maxEntries: 100_000 });
      if (snapshot === null) throw new Error('The conversation is gone.');
      return snapshot;
    },
    async entries() {
      const { id, nextSeq } = await conversation();
      return await life.bot.services.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: nextSeq });
    },
    settled: () => withinPatience(clock, life.bot.settled()),
    async restart(stopping) {
      await life.bot.stop({ deadlineMs: stopping?.deadlineMs ?? 20 });
      life = await live({ ...options, wrap, directory, clock, channel, events });
    },
    async crash() {
      await life.die();
      life = await live({ ...options, wrap, directory, clock, channel, events });
    },
    async [Symbol.asyncDispose]() {
      await life.bot.stop({ deadlineMs: 20 });
      await rm(directory, { recursive: true, force: true });
    },
  };
  return world;
}

/** Waits without letting more time pass than a person would call late. */
async function withinPatience(clock: TestClock, work: Promise<void>): Promise<void> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  for (let waitedMs = 0; waitedMs <= PATIENCE_MS; waitedMs += STEP_MS) {
    for (let turn = 0; turn < 12 && !isDone; turn += 1) await settle();
    // The disk and modules that are loaded take real time.
    if (!isDone) await sleep(DISK_MS);
    if (isDone) return await ended;
    await clock.advance(STEP_MS);
  }
  // What needs no more time may still need the processor, which others use too.
  for (const end = performance.now() + HANG_MS; !isDone && performance.now() < end; ) await sleep(DISK_MS);
  if (isDone) return await ended;
  throw new Error(`A reply is owed and did not come within ${PATIENCE_MS / 1000} s.`);
}

interface Life {
  readonly bot: Bot;
  die(): Promise<void>;
}

interface LifeOptions extends Omit<BotWorldOptions, 'channel'> {
  readonly wrap: NonNullable<BotWorldOptions['channel']>;
  readonly directory: string;
  readonly clock: TestClock;
  readonly channel: RecordingChannel;
  readonly events: StrataEvent[];
}

async function live(options: LifeOptions): Promise<Life> {
  const { directory, channel, events } = options;
  const life = { isOver: false };
  const clock = mortal(options.clock, life);
  const storage = await createSqliteStorage({ directory });
  const agent = defaultAgent({
    model: options.models[0]?.id ?? 'test:chat',
    context_window: 3000,
    max_output_tokens: 300,
    persona: 'You are a bot.',
    tools: [],
    ...options.agent,
  });
  const bot = createBot({
    storage: options.storage?.(storage) ?? storage,
    queue: createLocalQueue({ log: silentLog, clock }),
    models: {
      async open(id) {
        const model = options.models.find((candidate) => candidate.id === id);
        if (model === undefined) throw new StrataError('MODEL_UNKNOWN', { model: id, reason: 'the test has none' });
        return model;
      },
      choose: async () => ({ modelId: modelsOf(agent)[0], reason: 'it is the only one' }),
    },
    channels: [options.wrap(channel.connect(life))],
    agents: options.agents ?? [agent],
    clock,
    prompts,
    tools: options.tools ?? [],
    prices: options.prices ?? {},
    hooks: options.hooks ?? [],
    engines: options.engines ?? {},
    log: silentLog,
  });
  bot.events.on((event) => {
    if (life.isOver) return;
    events.push(event);
    options.onEvent?.(event);
  });
  if (options.started !== false) await bot.start();
  return {
    bot,
    async die() {
      life.isOver = true;
      await storage.store.close();
    },
  };
}

/** What a dead bot was waiting for never ends. */
function mortal(clock: TestClock, life: { readonly isOver: boolean }): Clock {
  return {
    now: clock.now,
    sleep: (ms, options) =>
      new Promise((resolve, reject) => {
        clock.sleep(ms, options).then(
          () => life.isOver || resolve(),
          (error: unknown) => life.isOver || reject(error),
        );
      }),
  };
}

/** The platform, as its users see it: it outlives the bots that are connected to it. */
export interface RecordingChannel {
  /** The visible posts by nonce, in order of appearance. */
  readonly posts: ReadonlyMap<string, Post>;
  /** Every call, repetitions included. */
  readonly calls: readonly Post[];
  readonly shown: readonly Activity[];
  /** What the links of images lead to. */
  readonly images: Map<string, ImageBytes>;
  /** The links of images that were loaded. */
  readonly loaded: readonly string[];
  /** The next posts are rejected, or accepted without a response. */
  trouble: { refuse: number; mute: number };
  connect(life: { readonly isOver: boolean }): Channel;
}

const MAX_POST = 500;

function recordingChannel(): RecordingChannel {
  const posts = new Map<string, Post>();
  const calls: Post[] = [];
  const shown: Activity[] = [];
  const images = new Map<string, ImageBytes>();
  const loaded: string[] = [];
  const loadImage: LoadImage = async ({ link }) => {
    loaded.push(link);
    return images.get(link) ?? null;
  };
  const trouble = { refuse: 0, mute: 0 };
  const take = (post: Post): { platformMessageId: string } => {
    calls.push(post);
    if (trouble.refuse > 0) {
      trouble.refuse -= 1;
      throw new Error('The platform refuses.');
    }
    if (!posts.has(post.nonce)) posts.set(post.nonce, post);
    if (trouble.mute > 0) {
      trouble.mute -= 1;
      throw new Error('The answer of the platform was lost.');
    }
    return { platformMessageId: `p-${post.nonce}` };
  };
  return {
    posts,
    calls,
    shown,
    images,
    loaded,
    trouble,
    connect: (life) => ({
      platform: 'test',
      traits: { idempotentPosts: true, ephemeral: true, commandPrefix: '/', personIds: 'workspace', loadImage },
      linkTo: async () => null,
      start: async () => undefined,
      split: (text) => chunksOf(text),
      async post(post) {
        if (life.isOver) throw new Error('The process is gone.');
        return take(post);
      },
      show: (_conversation, activity) => void shown.push(activity),
      stop: async () => undefined,
    }),
  };
}

function chunksOf(text: string): readonly PostBody[] {
  const characters = [...text];
  const chunks: PostBody[] = [];
  for (let from = 0; from < characters.length; from += MAX_POST) {
    chunks.push({ kind: 'text', text: characters.slice(from, from + MAX_POST).join('') });
  }
  return chunks;
}
