import type { Commands } from '../commands/commands.ts';
import type { CommandServices } from '../commands/services.ts';
import type { Send } from '../conversation/send.ts';
import { StrataError } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { ChannelSink } from '../ports/channel.ts';
import type { Events } from '../ports/events.ts';
import type { Queue } from '../ports/queue.ts';
import type { Services } from '../services.ts';
import { holdProcess } from '../util/async/hold-process.ts';
import { endsWithin } from '../util/async/within.ts';
import { logEvent } from './event-log.ts';
import { watchLoop } from './loop-watchdog.ts';
import type { BotOptions } from './options.ts';
import { createWindowWarnings } from './window-warning.ts';
import { type Core, wire } from './wiring.ts';

const SHARED = 'Two bots use one queue. Create a queue for each of them.';
const STOPPED = 'A bot that was stopped cannot be started again. Create another one, with a new storage and queue.';
const HEARTBEAT_MS = 5_000;
const STOP_DEADLINE_MS = 10_000;
const DUE_AT_ONCE = 100;
const POSTS_AT_ONCE = 500;
/** For releasing claims and ending children after the deadline for stopping. */
const LATE_MS = 3_000;

/**
 * A running bot. `start` resolves when it accepts messages; `stop` resolves when all work in flight is finished or
 * released. Between the two the process stays alive.
 */
export interface Bot extends AsyncDisposable {
  /** Reports everything that happens, to functions passed to `events.on`. */
  readonly events: Events;
  /** Receives the events of the channels. Programs can use it to talk to a bot without a channel. */
  readonly sink: ChannelSink;
  /** The stores, models and other parts that the bot works with. */
  readonly services: Services;
  /** Runs chat commands, and lists them for channels that register them. */
  readonly commands: Commands;
  /** The services of the chat commands, also used by the CLI. */
  readonly commandServices: CommandServices;
  /**
   * Posts a message on the bot's own initiative: stores it in the transcript and posts it once, even across crashes.
   * Resolves when it is durable; if the platform is unreachable, the message is posted later. Throws `SEND_INVALID`,
   * `KEY_INVALID`, and `ADAPTER_MISSING` for a platform that the bot does not serve.
   *
   * @example
   * await bot.send('discord:811:822', 'The build is green.', { id: 'build-4711' });
   * await bot.send('slack:T1:C1', { text: 'Today:', files: [{ name: 'chart.png', data: await readFile('chart.png') }] });
   */
  readonly send: Send;
  /** Discards the cached view. Call this after something else has changed the conversation. */
  changed(conversation: ConversationKey): void;
  /**
   * Can be called once: a stopped bot cannot be started again. A start that fails stops what it has started; `stop` then
   * closes the store and the queue.
   */
  start(): Promise<void>;
  /** Resolves when every reply that is currently owed has been posted and all due maintenance has been requested. */
  settled(): Promise<void>;
  /**
   * Stops intake first, then turns, posts and jobs, within `deadlineMs` (default 10 s). The next start does what is
   * left.
   */
  stop(options?: { readonly deadlineMs?: number }): Promise<void>;
}

/**
 * Creates a bot from its parts without starting anything. Throws `CONFIG_INVALID` with every problem of the options,
 * `TOOL_INVALID` and `TOOL_DUPLICATE`.
 *
 * @example
 * const bot = createBot({
 *   channels: [createTerminalChannel()],
 *   models: createAiSdkModels({ environment: process.env }),
 *   queue: createLocalQueue(),
 *   storage: await createSqliteStorage({ directory: 'data' }),
 *   agents: [{ id: 'cook', persona: 'You know every recipe.' }],
 * });
 * await bot.start();
 */
export function createBot(options: BotOptions): Bot {
  const core = wire(options);
  const { events } = core.services;
  const warnOfWindows = createWindowWarnings(core.commandServices);
  const unsubscribe = events.on((event) => {
    logEvent(core.services.log, event);
    if (event.kind === 'config.changed') warnOfWindows();
  });
  let starting: Promise<void> | null = null;
  let halting: Promise<void> | null = null;
  let stopping: Promise<void> | null = null;
  let unwatch = () => {};
  let release = () => {};
  const halt = (deadlineMs: number): Promise<void> => {
    halting ??= haltAll(core, deadlineMs);
    return halting;
  };
  const start = async (): Promise<void> => {
    // Without a channel, or with an unreachable platform, nothing else keeps the process alive.
    release = holdProcess();
    try {
      await startAll(core);
      // Loading a channel's library takes long, and nobody waits for a reply yet.
      unwatch = watchLoop(events);
      warnOfWindows();
    } catch (error) {
      await halt(STOP_DEADLINE_MS).catch(core.report);
      core.abort.abort(new Error('The bot could not start.'));
      release();
      throw error;
    }
  };
  const stop = async (deadlineMs: number): Promise<void> => {
    try {
      await stopAll(core, deadlineMs, halt);
    } finally {
      release();
      unwatch();
      unsubscribe();
    }
  };
  return {
    events,
    sink: core.sink,
    services: core.services,
    commands: core.commands,
    commandServices: core.commandServices,
    send: core.send,
    changed: (conversation) => core.actors.peek(conversation)?.refresh(),
    async start() {
      if (stopping !== null) throw new StrataError('USAGE', { problem: STOPPED });
      starting ??= start();
      await starting;
    },
    settled: () => settle(core),
    stop(options) {
      stopping ??= stop(options?.deadlineMs ?? STOP_DEADLINE_MS);
      return stopping;
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
}

async function startAll(core: Core): Promise<void> {
  if (core.role !== 'gateway') startWorker(core);
  if (core.role !== 'worker') await startGateway(core);
}

/** Numbers of conversations mean something only in their own store. */
const queueOwners = new WeakMap<Queue, Core>();

function startWorker(core: Core): void {
  const { maintain, workers, abort, sweeper } = core;
  const { queue } = core.services;
  if (isOfAnother(core)) throw new StrataError('USAGE', { problem: SHARED });
  queueOwners.set(queue, core);
  queue.process(maintain, { concurrency: workers, signal: abort.signal });
  sweeper.start();
}

/** Whether another bot works on the queue. */
function isOfAnother(core: Core): boolean {
  const owner = queueOwners.get(core.services.queue);
  return owner !== undefined && owner !== core;
}

async function startGateway(core: Core): Promise<void> {
  const { sink, channels } = core;
  await Promise.all([...channels.values()].map((channel) => channel.start(sink)));
  core.posting.isOn = true;
  await recoverPosts(core);
  const sweepChildren = createChildSweep(core);
  sweepChildren();
  await wakeOwedReplies(core);
  heartbeat(core, sweepChildren).catch(core.report);
}

/** Starts a sweep, unless one is running: an engine may take a minute for each child, and nothing else waits for it. */
function createChildSweep(core: Core): () => void {
  let isSweeping = false;
  const sweep = async (): Promise<void> => {
    isSweeping = true;
    await core.children.sweep().catch((error: unknown) => {
      // A bot that stops closes its store without waiting for the sweep; the next start sweeps again.
      if (!core.closing.signal.aborted) core.report(error);
    });
    isSweeping = false;
  };
  return () => {
    if (!isSweeping) void sweep();
  };
}

/** Posts what was committed, but not recorded as sent when its process ended. */
async function recoverPosts({ services, outbox, channels }: Core): Promise<void> {
  const { store, clock } = services;
  const free = [...channels.keys()].map((platform) =>
    store.outbox.take({ platform, now: clock.now(), limit: POSTS_AT_ONCE }),
  );
  const byConversation = Map.groupBy((await Promise.all(free)).flat(), (post) => post.conversationId);
  for (const [id, posts] of byConversation) {
    const conversation = await store.conversations.get(id);
    if (conversation !== null) outbox.deliver(conversation.key, posts, { recovered: true });
  }
}

/** Writes owed replies without a claim: their process has ended. Those of a channel that catches up wait. */
async function wakeOwedReplies({ services, actors, channels, held }: Core): Promise<void> {
  const { store, clock } = services;
  const request = { now: clock.now(), limit: DUE_AT_ONCE };
  // Each platform separately: pending replies of a disconnected platform must not hide those of another.
  const requests = channels.size === 0 ? [request] : [...channels.keys()].map((platform) => ({ ...request, platform }));
  const due = await Promise.all(requests.map((each) => store.conversations.due('reply', each)));
  const own = due.flat().filter(({ key }) => !held.holds(key));
  for (const { key } of own) actors.of(key).wake();
}

async function heartbeat(core: Core, sweepChildren: () => void): Promise<void> {
  const { clock } = core.services;
  while (!core.closing.signal.aborted) {
    await clock.sleep(HEARTBEAT_MS, { signal: core.closing.signal }).catch(() => undefined);
    if (core.closing.signal.aborted) return;
    core.actors.sweep(clock.now());
    sweepChildren();
    const checks = [core.outbox.hold, () => recoverPosts(core), () => wakeOwedReplies(core)];
    for (const check of checks) {
      await check().catch(core.report);
    }
  }
}

async function settle({ actors, outbox, compactors }: Core): Promise<void> {
  await actors.drained();
  await outbox.drained();
  await compactors.drained();
}

/** Ends intake, then turns, posts and the sweeper. While a store does not answer, the steps wait beyond the deadline. */
async function haltAll(core: Core, deadlineMs: number): Promise<void> {
  const leftMs = countDown(core, deadlineMs);
  core.closing.abort();
  core.posting.isOn = false;
  await endsWithin(finish(core, leftMs), deadlineMs + LATE_MS);
}

/** If a step ends early, the next one gets its remaining time; never more, though the clock may be set back meanwhile. */
function countDown({ services: { clock } }: Core, deadlineMs: number): () => number {
  const deadlineAt = clock.now() + deadlineMs;
  return () => Math.max(1, Math.min(deadlineMs, deadlineAt - clock.now()));
}

async function stopAll(core: Core, deadlineMs: number, halt: (deadlineMs: number) => Promise<void>): Promise<void> {
  const { services, abort } = core;
  const leftMs = countDown(core, deadlineMs);
  const closeQueue = () => services.queue.close({ deadlineMs: leftMs() });
  // A step that fails must not keep the process alive: the others still run, and the first failure is thrown.
  const steps: readonly (() => Promise<unknown>)[] = [
    () => halt(deadlineMs),
    async () => isOfAnother(core) || (await endsWithin(closeQueue(), leftMs() + LATE_MS)),
    async () => abort.abort(new Error('The bot has stopped.')),
    () => endsWithin(core.engines.dispose(), LATE_MS),
    () => services.store.close(),
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Rejects with the failure of a channel to stop, after everything else has ended. */
async function finish(core: Core, leftMs: () => number): Promise<void> {
  const { channels, abort } = core;
  await core.outbox.hold().catch(core.report);
  const stopped = await Promise.allSettled([...channels.values()].map(async (channel) => await channel.stop()));
  if (!(await endsWithin(settle(core), leftMs()))) abort.abort(new Error('The bot is stopping.'));
  await settle(core);
  await Promise.all([
    // Some ends have only begun at the deadline. A child that its engine does not end in time is ended by a sweep.
    endsWithin(core.children.drained(), leftMs() + LATE_MS),
    core.role === 'gateway' ? null : core.sweeper.stop({ deadlineMs: leftMs() }),
  ]);
  const failed = stopped.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
