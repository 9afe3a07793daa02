import { type Commands, createCommands } from '../commands/commands.ts';
import { shownName } from '../commands/format-entry.ts';
import type { CommandServices } from '../commands/services.ts';
import type { Maintenance } from '../compaction/maintenance.ts';
import { createSweeper, type Sweeper } from '../compaction/sweeper.ts';
import { type Compactors, createCompactors } from '../compaction/watch/compactors.ts';
import { createProfiles, type Profiles } from '../context/profile/profile.ts';
import { createRequestRecorder } from '../context/record/record-request.ts';
import { type Actors, createActors } from '../conversation/actors.ts';
import { type Children, createChildren } from '../conversation/children/children.ts';
import { createHeldReplies, type HeldReplies } from '../conversation/posts/held-replies.ts';
import { createOutbox, type Outbox } from '../conversation/posts/outbox.ts';
import { createSend, type Send } from '../conversation/send.ts';
import { createCacheAccounts } from '../conversation/turn/cache-account.ts';
import { createRefusedParts } from '../conversation/turn/refused/refused-part.ts';
import { createRefusedPasts, type RefusedPasts } from '../conversation/turn/refused/refused-past.ts';
import type { PendingReading } from '../conversation/turn/reply-options.ts';
import { createDiskWatch } from '../conversation/turn/waiting/disk-watch.ts';
import { createTurnSlots } from '../conversation/turn/waiting/turn-slots.ts';
import { createPrices, withPrices } from '../costs/prices.ts';
import { describe } from '../domain/errors.ts';
import { platformOf, workspaceOf } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';
import { createHookRunner } from '../hooks/runner.ts';
import { instructionsFor } from '../memory/recall/recall.ts';
import { createMemories, type Memories } from '../memory/service.ts';
import { type Breaker, createBreaker } from '../models/breaker.ts';
import type { ChannelSink } from '../ports/channel.ts';
import type { MaintainRequest, MaintainResult } from '../ports/engine.ts';
import { createEvents } from '../ports/events.ts';
import type { Log } from '../ports/log.ts';
import type { QueueHandler } from '../ports/queue.ts';
import { createPromptLibrary } from '../prompts/library.ts';
import { withPauses } from '../search/passages/reranker-pauses.ts';
import type { Channels, Services, TextLog } from '../services.ts';
import { createBuiltinTools } from '../tools/builtin.ts';
import { createToolRegistry } from '../tools/registry.ts';
import { onFirstUse } from '../util/async/on-first-use.ts';
import { createRepeatedReport } from '../util/errors/repeated-report.ts';
import { createErrorLog } from '../util/log/error-log.ts';
import { createSystemClock, createSystemRandom } from '../util/time/clock.ts';
import { checkBotOptions } from './checked-options.ts';
import { checkedSink } from './checked-sink.ts';
import { createCommandServices } from './command-services.ts';
import { createEngines, type Engines } from './engines.ts';
import { guardedChannel, guardedLog, guardedModels } from './guarded-parts.ts';
import { guardedClock, guardedPrompts } from './guarded-values.ts';
import type { BotOptions, ProcessRole } from './options.ts';
import { volatileFor } from './per-turn-sections.ts';
import { createSink } from './sink.ts';

/** A wired bot that has not started yet. */
export interface Core {
  readonly services: Services;
  readonly engines: Engines;
  readonly compactors: Compactors;
  readonly actors: Actors;
  readonly outbox: Outbox;
  readonly children: Children;
  readonly held: HeldReplies;
  readonly sweeper: Sweeper;
  readonly channels: Channels;
  readonly commandServices: CommandServices;
  readonly commands: Commands;
  readonly sink: ChannelSink;
  readonly send: Send;
  readonly maintain: QueueHandler;
  readonly workers: number;
  readonly role: ProcessRole;
  /** Reports a failure of what the bot does by itself. */
  readonly report: (error: unknown) => void;
  /** True while the channels are connected: this process then posts what it commits. */
  readonly posting: { isOn: boolean };
  /** Aborted when intake ends: no new turn begins. */
  readonly closing: AbortController;
  /** Aborted when the time to finish is over: running turns and posts are released. */
  readonly abort: AbortController;
}

const WORKERS = 4;

export function wire(options: BotOptions): Core {
  const services = gatherServices(options);
  const own = (options.channels ?? []).map((channel) => guardedChannel(channel, services.log));
  const channels: Channels = new Map(own.map((channel) => [channel.platform, channel]));
  const ends = { closing: new AbortController(), abort: new AbortController() };
  const posting = { isOn: false };
  const role = options.role ?? 'all';
  const memories = createMemories({ ...services, personScope: (workspace) => personScopeOf(channels, workspace) });
  const logText = textLog(options, services.log);
  const maintenanceSide = createMaintenanceSide(options, services, memories);
  const refusedPasts = createRefusedPasts(services);
  const held = createHeldReplies(services.clock, (conversation) => actors.of(conversation).wake());
  const replySide = { services, logText, channels, held, refusedPasts, ...maintenanceSide, ...ends };
  const { actors, outbox, children } = createReplySide(replySide);
  // Turns elsewhere may have been given what was deleted.
  services.events.on(({ kind }) => {
    if (kind === 'memory.forgotten' || kind === 'message.removed') actors.refreshBusy();
  });
  const commandServices = createCommandServices(options, {
    services,
    memories,
    channels,
    refusedPasts,
    ...maintenanceSide,
  });
  const commands = createCommands(commandServices, options.commands);
  const { engines, compactors, maintain } = maintenanceSide;
  const talk = { services, channels, logText, outbox, isPosting: () => posting.isOn };
  return {
    services,
    channels,
    engines,
    compactors,
    actors,
    outbox,
    children,
    held,
    commandServices,
    commands,
    posting,
    ...ends,
    sink: checkedSink(createSink({ ...talk, actors, commands, held })),
    send: createSend({ ...talk, actors, isWorker: role === 'worker' }),
    sweeper: createSweeper({ services, maintain, retentionDays: retentionOf(options) }),
    maintain: async (conversationId, { signal }) => {
      await maintain({ conversationId, trigger: 'queue', instruction: null, signal });
    },
    workers: options.workers ?? WORKERS,
    role,
    report: createRepeatedReport(services),
  };
}

function retentionOf({ retentionDays = 0 }: BotOptions): () => number {
  return typeof retentionDays === 'function' ? retentionDays : () => retentionDays;
}

/** If the channel is unknown, the narrower scope applies. */
function personScopeOf(channels: Channels, workspace: string): string {
  const [platform = workspace] = workspace.split(':');
  return channels.get(platform)?.traits.personIds === 'platform' ? platform : workspace;
}

function gatherServices(options: BotOptions): Services {
  const agents = checkBotOptions(options);
  const log = options.log === undefined ? createErrorLog() : guardedLog(options.log);
  const clock = options.clock === undefined ? createSystemClock() : guardedClock(options.clock, log);
  const prices = createPrices(options.prices ?? {}, log);
  const onListenerError = (error: unknown) => log.error('An event listener failed', { cause: describe(error) });
  return {
    ...options.storage,
    queue: options.queue,
    models: withPrices(guardedModels(options.models), prices),
    prices,
    reranker: options.reranker === undefined ? null : withPauses(options.reranker, { clock, log }),
    agents,
    prompts: options.prompts === undefined ? createPromptLibrary() : guardedPrompts(options.prompts),
    hooks: createHookRunner(options.hooks ?? [], clock),
    events: createEvents({ now: clock.now, onListenerError }),
    clock,
    random: options.random ?? createSystemRandom(clock),
    log,
  };
}

function textLog({ logText }: BotOptions, log: Log): TextLog {
  if (logText !== true) return () => undefined;
  return (conversation, author, text) => log.info('message.text', { conversation, author: shownName(author), text });
}

/** The maintenance side: engines, summaries and memories. */
interface MaintenanceSide {
  readonly tools: ReturnType<typeof createToolRegistry>;
  readonly profiles: Profiles;
  readonly breaker: Breaker;
  readonly engines: Engines;
  readonly compactors: Compactors;
  readonly maintain: (request: MaintainRequest) => Promise<MaintainResult>;
}

function createMaintenanceSide(options: BotOptions, services: Services, memories: Memories): MaintenanceSide {
  const tools = createToolRegistry({
    services,
    tools: [...createBuiltinTools(services, memories), ...(options.tools ?? [])],
  });
  const profiles = createProfiles({
    services,
    tools,
    instructions: (place, agent) => instructionsFor(services, place, agent),
  });
  const breaker = createBreaker(services);
  // Loaded with the first job: most processes start long before they compact anything, and gateways never do.
  const loadMaintenance = onFirstUse(async () => {
    const { createMaintenance } = await import('../compaction/maintenance.ts');
    return createMaintenance({ services, profiles, breaker });
  });
  const maintenance: Maintenance = { run: async (request) => (await loadMaintenance()).run(request) };
  const engines = createEngines({ services, maintenance, own: options.engines ?? {} });
  const compactors = createCompactors({ services, profiles, engineFor: engines.for });
  const maintain = async (request: MaintainRequest): Promise<MaintainResult> => {
    try {
      const conversation = await services.store.conversations.get(request.conversationId);
      if (conversation === null) return { changed: false, reason: 'there is no such conversation' };
      return await engines.for({ agentId: services.agents.agentFor(conversation.key).id }).maintain(request);
    } finally {
      compactors.ended(request.conversationId);
    }
  };
  return { tools, profiles, breaker, engines, compactors, maintain };
}

interface ReplySideOptions extends MaintenanceSide {
  readonly refusedPasts: RefusedPasts;
  readonly services: Services;
  readonly logText: TextLog;
  readonly channels: Channels;
  readonly held: HeldReplies;
  readonly closing: AbortController;
  readonly abort: AbortController;
}

/** The reply side: actors, the children of their turns, and the outbox. */
function createReplySide(options: ReplySideOptions): Pick<Core, 'actors' | 'outbox' | 'children'> {
  const { services, channels, engines, profiles, tools, closing, abort } = options;
  const channelOf = (conversation: ConversationKey) => channels.get(platformOf(conversation)) ?? null;
  const { freed } = options.held;
  const outbox = createOutbox({ ...services, store: services.store.outbox, channelOf, freed, signal: abort.signal });
  const shared = {
    services,
    profiles,
    tools,
    channelOf,
    engineFor: engines.for,
    watch: options.compactors,
    breaker: options.breaker,
    logText: options.logText,
    disk: createDiskWatch(services),
    requests: createRequestRecorder(services),
    cacheAccounts: createCacheAccounts(services),
    refusedPasts: options.refusedPasts,
    refusedParts: createRefusedParts({ services, modelFor: profiles.modelFor, signal: abort.signal }),
    volatileFor: (reading: PendingReading) => volatileFor(services, reading),
    signal: abort.signal,
  };
  const children = createChildren(shared);
  const personScope = (conversation: ConversationKey) => personScopeOf(channels, workspaceOf(conversation));
  const own = { slots: createTurnSlots(), personScopeOf: personScope, closing: closing.signal };
  const actors = createActors({ ...shared, ...own, outbox, children });
  return { actors, outbox, children };
}
