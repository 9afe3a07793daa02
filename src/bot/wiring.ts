import { type Commands, createCommands } from '../commands/commands.ts';
import type { CommandServices } from '../commands/services.ts';
import { type Compactors, createCompactors } from '../compaction/compactors.ts';
import { createMaintenance } from '../compaction/maintenance.ts';
import { createSweeper, type Sweeper } from '../compaction/sweeper.ts';
import { defaultAgent } from '../config/defaults.ts';
import { type AgentDirectory, createAgentDirectory } from '../config/directory.ts';
import type { AgentSettings } from '../config/schema.ts';
import { inspectContext } from '../context/inspection.ts';
import { createProfiles, type Profiles } from '../context/profile.ts';
import { type Actors, createActors } from '../conversation/actors.ts';
import { createOutbox, type Outbox } from '../conversation/outbox.ts';
import { newestMessage } from '../conversation/snapshot.ts';
import { TAIL_ENTRIES } from '../conversation/view-cache.ts';
import { describe, StrataError } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';
import { instructionsFor } from '../memory/recall.ts';
import { createMemories, type Memories } from '../memory/service.ts';
import type { Channel, ChannelSink } from '../ports/channel.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { ContextEngine, MaintainRequest, MaintainResult } from '../ports/engine.ts';
import { createEvents } from '../ports/events.ts';
import type { Log } from '../ports/log.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Queue, QueueHandler } from '../ports/queue.ts';
import type { Conversation } from '../ports/store.ts';
import { createPromptLibrary } from '../prompts/library.ts';
import type { PromptLibrary } from '../prompts/variables.ts';
import type { Channels, Services, Storage, TextLog } from '../services.ts';
import { createBuiltinTools } from '../tools/builtin.ts';
import type { Tool } from '../tools/define.ts';
import { createToolRegistry } from '../tools/registry.ts';
import { createSystemClock, createSystemRandom } from '../util/clock.ts';
import { silentLog } from '../util/silent-log.ts';
import { createEngines, type Engines } from './engines.ts';
import { volatileFor } from './per-turn-sections.ts';
import { createSink } from './sink.ts';

/** What a bot is made of. Everything optional has a working default. */
export interface BotParts {
  readonly storage: Storage;
  readonly queue: Queue;
  readonly models: ModelProvider;
  /** One a platform. None makes a bot that is talked to through its `sink`. */
  readonly channels?: readonly Channel[];
  /** Settings that differ from the defaults, one object an agent, or a directory that reads them from elsewhere. */
  readonly agents?: readonly (Partial<AgentSettings> & Pick<AgentSettings, 'id'>)[] | AgentDirectory;
  /** Your own tools, beside the built-in ones. An agent may call those that its `tools` name. */
  readonly tools?: readonly Tool[];
  /** Context engines of your own, by the name that an agent's `engine` gives. */
  readonly engines?: Readonly<Record<string, ContextEngine>>;
  readonly prompts?: PromptLibrary;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /**
   * Which half of the work this process does: `gateway` talks to people, `worker` summarises and remembers. The other half
   * needs a process of its own, and both a store and a queue that processes share. Default `all`.
   */
  readonly role?: Role;
  /** Conversations that are maintained side by side. Default 4. */
  readonly workers?: number;
  /** Entries older than this are deleted. Default 0: never. */
  readonly retentionDays?: number;
  /** Write the text of messages and replies to the log. Default false. */
  readonly logText?: boolean;
  /** Where everything is kept, for `/privacy`. */
  readonly dataLocation?: string;
  /** One sentence when the configuration on disk is broken and an older one is in use. */
  readonly configTrouble?: () => string | null;
}

export type Role = 'gateway' | 'worker' | 'all';

/** A bot put together, before its life begins. */
export interface Core {
  readonly services: Services;
  readonly engines: Engines;
  readonly actors: Actors;
  readonly outbox: Outbox;
  readonly sweeper: Sweeper;
  readonly channels: Channels;
  readonly commandParts: CommandServices;
  readonly commands: Commands;
  readonly sink: ChannelSink;
  readonly maintain: QueueHandler;
  readonly workers: number;
  readonly role: Role;
  /** Aborted when intake ends: no new turn begins. */
  readonly closing: AbortController;
  /** Aborted when the time to finish is over: running turns and posts are given back. */
  readonly abort: AbortController;
}

const WORKERS = 4;

export function wire(parts: BotParts): Core {
  const services = gatherServices(parts);
  const channels: Channels = new Map((parts.channels ?? []).map((channel) => [channel.platform, channel]));
  const ends = { closing: new AbortController(), abort: new AbortController() };
  const memories = createMemories(services);
  const logText = textLog(parts, services.log);
  const mind = createMind(parts, services, memories);
  const { actors, outbox } = createBody({ services, logText, channels, ...mind, ...ends });
  const commandParts = createCommandParts(parts, { services, memories, channels, ...mind });
  const commands = createCommands(commandParts);
  const { engines, maintain } = mind;
  return {
    ...{ services, channels, engines, actors, outbox, commandParts, commands, ...ends },
    sink: createSink({ services, actors, commands, logText }),
    sweeper: createSweeper({ services, maintain, retentionDays: () => parts.retentionDays ?? 0 }),
    maintain: async (conversationId, { signal }) => {
      await maintain({ conversationId, trigger: 'queue', instruction: null, signal });
    },
    workers: parts.workers ?? WORKERS,
    role: parts.role ?? 'all',
  };
}

function gatherServices(parts: BotParts): Services {
  const clock = parts.clock ?? createSystemClock();
  const log = parts.log ?? silentLog;
  const onListenerError = (error: unknown) => log.error('An event listener failed', { cause: describe(error) });
  return {
    ...parts.storage,
    queue: parts.queue,
    models: parts.models,
    agents: directoryOf(parts.agents),
    prompts: parts.prompts ?? createPromptLibrary(),
    events: createEvents({ now: clock.now, onListenerError }),
    clock,
    random: parts.random ?? createSystemRandom(clock),
    log,
  };
}

function textLog({ logText }: BotParts, log: Log): TextLog {
  if (logText !== true) return () => undefined;
  return (conversation, author, text) => log.info('message.text', { conversation, author, text });
}

function directoryOf(agents: BotParts['agents']): AgentDirectory {
  if (agents !== undefined && 'agentFor' in agents) return agents;
  const settings = (agents ?? []).map((agent, index) => defaultAgent({ default: index === 0, ...agent }));
  const config = { agents: settings.length === 0 ? [defaultAgent({})] : settings };
  return createAgentDirectory(() => config);
}

/** What judges, remembers and summarises. */
interface Mind {
  readonly tools: ReturnType<typeof createToolRegistry>;
  readonly profiles: Profiles;
  readonly engines: Engines;
  readonly compactors: Compactors;
  readonly maintain: (request: MaintainRequest) => Promise<MaintainResult>;
}

function createMind(parts: BotParts, services: Services, memories: Memories): Mind {
  const tools = createToolRegistry({
    services,
    tools: [...createBuiltinTools(services, memories), ...(parts.tools ?? [])],
  });
  const profiles = createProfiles({
    services,
    tools,
    instructions: (place, agent) => instructionsFor(services, place, agent),
  });
  const maintenance = createMaintenance({ services, profiles });
  const engines = createEngines({ services, maintenance, own: parts.engines ?? {} });
  const compactors = createCompactors({ services, profiles, engineFor: engines.for });
  const maintain = async (request: MaintainRequest): Promise<MaintainResult> => {
    const conversation = await services.store.conversations.get(request.conversationId);
    if (conversation === null) return { changed: false, reason: 'there is no such conversation' };
    try {
      return await engines.for({ agentId: services.agents.agentFor(conversation.key).id }).maintain(request);
    } finally {
      compactors.ended(request.conversationId);
    }
  };
  return { tools, profiles, engines, compactors, maintain };
}

interface BodyParts extends Mind {
  readonly services: Services;
  readonly logText: TextLog;
  readonly channels: Channels;
  readonly closing: AbortController;
  readonly abort: AbortController;
}

/** What takes messages and answers them. */
function createBody(parts: BodyParts): { readonly actors: Actors; readonly outbox: Outbox } {
  const { services, channels, engines, profiles, tools, closing, abort } = parts;
  const channelOf = (conversation: ConversationKey) => channels.get(parseKey(conversation).platform) ?? null;
  const outbox = createOutbox({ ...services, store: services.store.outbox, channelOf, signal: abort.signal });
  const actors = createActors({
    ...{
      services,
      profiles,
      tools,
      outbox,
      logText: parts.logText,
      channelOf,
      engineFor: engines.for,
      watch: parts.compactors,
    },
    volatileFor: (reading) => volatileFor(services, reading),
    open: () => !closing.signal.aborted,
    signal: abort.signal,
  });
  return { actors, outbox };
}

interface CommandNeeds extends Mind {
  readonly services: Services;
  readonly memories: Memories;
  readonly channels: Channels;
}

function createCommandParts(
  parts: BotParts,
  { services, memories, channels, profiles, maintain }: CommandNeeds,
): CommandServices {
  return {
    ...services,
    memories,
    async inspect(conversation) {
      const snapshot = await services.store.transcript.context(conversation.id, { maxEntries: TAIL_ENTRIES });
      if (snapshot === null) throw new StrataError('CONVERSATION_UNKNOWN', { key: conversation.key });
      const profile = await profiles.of(snapshot.conversation);
      const newest = newestMessage(snapshot);
      // Where nobody is answered, nothing stands beside the newest message.
      const listens = services.agents.agentFor(conversation.key).mode === 'observe';
      const volatile = newest === null || listens ? [] : await volatileFor(services, { snapshot, newest });
      return inspectContext(services, { profile, snapshot, volatile });
    },
    compact: (conversation: Conversation, instruction) => {
      const signal = AbortSignal.timeout(COMPACT_LIMIT_MS);
      return maintain({ conversationId: conversation.id, trigger: 'manual', instruction, signal });
    },
    extract: (conversation: Conversation) => {
      const signal = AbortSignal.timeout(EXTRACT_LIMIT_MS);
      return maintain({ conversationId: conversation.id, trigger: 'shutdown', instruction: null, signal });
    },
    linkTo: async (message) => (await channels.get(parseKey(message.conversation).platform)?.linkTo(message)) ?? null,
    dataLocation: parts.dataLocation ?? 'the store of this bot',
    configTrouble: parts.configTrouble ?? (() => null),
  };
}

/** A person waits for the answer of `/compact`; what takes longer goes on in the background. */
const COMPACT_LIMIT_MS = 10 * 60_000;
const EXTRACT_LIMIT_MS = 60_000;
