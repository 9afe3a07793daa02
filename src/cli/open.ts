import { z } from 'zod';
import type {
  Adapters,
  BoardOpener,
  ChannelAdapter,
  ChannelContext,
  Notices,
  Operations,
  OperationsOptions,
  QueueAdapter,
  TerminalContext,
  TerminalEnd,
} from '../bot/adapters.ts';
import { type Bot, createBot } from '../bot/bot.ts';
import { lonelyRole } from '../bot/checked-parts.ts';
import type { Role } from '../bot/parts.ts';
import { channelProblems } from '../config/channels.ts';
import { type AgentDirectory, createAgentDirectory } from '../config/directory.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { type LiveConfig, watchConfig } from '../config/watch.ts';
import { StrataError } from '../domain/errors.ts';
import type { Log } from '../ports/log.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Upkeep } from '../ports/upkeep.ts';
import { createPromptLibrary } from '../prompts/library.ts';
import type { PromptSource } from '../prompts/variables.ts';
import type { Storage } from '../services.ts';
import { createSystemClock, createSystemRandom } from '../util/clock.ts';
import { type App, loadOptionsOf, type OpenOptions } from './cli.ts';
import type { CliContext, GlobalOptions } from './context.ts';
import { openLogFile } from './log-file.ts';
import { createNotices } from './notices.ts';

export interface OpenParts {
  readonly adapters: Adapters;
  /** The process's terminal: the CLI's texts and the terminal channel share it. */
  readonly streams: Pick<TerminalContext, 'input' | 'output' | 'errors' | 'isTTY' | 'color'>;
  readonly environment: CliContext['environment'];
}

/** The store that the configuration names, and nothing else. */
export async function openStore(
  parts: Pick<OpenParts, 'adapters' | 'environment'>,
  options: GlobalOptions & Pick<OpenOptions, 'create'>,
): Promise<Storage> {
  const { config } = loadConfig(loadOptionsOf(parts, options));
  return await openStorage(parts.adapters, config, options);
}

/** From the command line's options to a bot: configuration first, then the adapters that it names. Starts nothing. */
export async function openApp(parts: OpenParts, options: OpenOptions): Promise<App> {
  const load = loadOptionsOf(parts, options);
  const loaded = loadConfig(load);
  const { config } = loaded;
  const platforms = platformsOf(config, options);
  const adapters = await loadChannels(parts.adapters, loaded, platforms);
  const prompts = createPromptLibrary({ sources: sourcesOf(config) });
  refuseLonely(options.role, config);
  const storage = await openStorage(parts.adapters, config, options);
  const ended = Promise.withResolvers<TerminalEnd>();
  // Read by those commands only that serve a platform.
  ended.promise.catch(() => undefined);
  try {
    const isService = options.role === 'worker' || platforms.some((name) => name !== 'terminal');
    const log = await openLog(parts, loaded, isService);
    const models = await openModels(parts, config, log);
    const notices = createNotices();
    const context = contextOf({ parts, options, log, storage, ended, notices });
    const served = [...adapters].filter(([name]) => platforms.includes(name));
    const channels = await Promise.all(
      served.map(([name, adapter]) => adapter.create(config.channels[name] ?? {}, context)),
    );
    const { url } = config.queue;
    const queues = await queueAdapterOf(parts.adapters, config);
    const queue = queues.create({ url, log, onTrouble: (message) => tellTrouble(message) });
    const live = watchConfig({
      initial: loaded,
      load,
      check: (next) => prompts.load(sourcesOf(next)),
      onChange: () => bot.events.emit({ kind: 'config.changed', conversation: null, file: load.file }),
      onReject: (message) => bot.events.emit({ kind: 'config.rejected', conversation: null, file: load.file, message }),
    });
    const agents = createAgentDirectory(() => live.config());
    const bot = createBot({
      ...{ storage, queue, models, prompts, log, channels, role: options.role },
      agents: options.listenOnly ? listening(agents) : agents,
      retentionDays: config.privacy.retention_days,
      dataLocation: storage.upkeep.place,
      configTrouble: () => troubleOf(live, load.file),
    });
    notices.follow(bot.events);
    const tellTrouble = (message: string) => bot.events.emit({ kind: 'queue.trouble', conversation: null, message });
    const openBoard = queues.openBoard && boardOf(queues.openBoard, url);
    const operated = { services: bot.services, role: options.role, log, openBoard };
    return appOf({
      ...{ bot, live, platforms, config, upkeep: storage.upkeep, context, ended: ended.promise },
      checkQueue: () => queues.check(url),
      operate: () => openOperations(parts.adapters, config, operated),
    });
  } catch (error) {
    await storage.store.close();
    throw error;
  }
}

function appOf(of: {
  readonly bot: Bot;
  readonly live: LiveConfig;
  readonly platforms: readonly string[];
  readonly config: Config;
  readonly upkeep: Upkeep;
  readonly context: ChannelContext;
  readonly ended: Promise<TerminalEnd>;
  readonly checkQueue: App['checkQueue'];
  readonly operate: App['operate'];
}): App {
  return {
    bot: of.bot,
    parts: of.bot.commandParts,
    config: of.config,
    upkeep: of.upkeep,
    channelContext: of.context,
    platforms: of.platforms,
    notices: of.context.terminal.notices,
    ended: of.ended,
    checkQueue: of.checkQueue,
    operate: of.operate,
    async close(options) {
      of.live.close();
      await of.bot.stop(options);
    },
  };
}

/** The platforms that the configuration enables; a conversation in the terminal where it enables none. */
function platformsOf(config: Config, { platforms, role }: OpenOptions): readonly string[] {
  if (role === 'worker') return [];
  if (platforms !== 'configured') return platforms;
  const enabled = Object.keys(config.channels);
  return enabled.length === 0 ? ['terminal'] : enabled;
}

/** Loads the adapters of the platforms and has each judge its section. Throws `CONFIG_INVALID` with all that is wrong. */
async function loadChannels(
  adapters: Adapters,
  loaded: LoadedConfig,
  platforms: readonly string[],
): Promise<ReadonlyMap<string, ChannelAdapter>> {
  const found = new Map<string, ChannelAdapter>();
  // What nobody names is known, but not loaded.
  const schemas = new Map<string, z.ZodType>(Object.keys(adapters.channels).map((name) => [name, z.unknown()]));
  for (const name of new Set([...platforms, ...Object.keys(loaded.config.channels)])) {
    const adapter = await adapters.channels[name]?.();
    if (adapter === undefined) continue;
    found.set(name, adapter);
    schemas.set(name, adapter.settings);
  }
  const problems = channelProblems(loaded, schemas);
  if (problems.length > 0) throw new StrataError('CONFIG_INVALID', { file: loaded.source.file, problems });
  return found;
}

function contextOf(of: {
  readonly parts: OpenParts;
  readonly options: OpenOptions;
  readonly log: Log;
  readonly storage: Storage;
  readonly ended: PromiseWithResolvers<TerminalEnd>;
  readonly notices: Notices;
}): ChannelContext {
  const { parts, options, log, storage, ended, notices } = of;
  const clock = createSystemClock();
  const { user = 'user', conversation = null } = options.terminal ?? {};
  return {
    log,
    state: storage.state,
    clock,
    random: createSystemRandom(clock),
    terminal: { ...parts.streams, user, conversation, notices, onEnd: ended.resolve },
    onRefused: ended.reject,
  };
}

function sourcesOf({ agents }: Pick<Config, 'agents'>): readonly PromptSource[] {
  return agents.map(({ language, prompts }) => ({ language, folder: prompts }));
}

/** Half a bot needs the other half, and a way to it. */
function refuseLonely(role: Role, { queue }: Config): void {
  const fault = lonelyRole(role, { isShared: queue.url !== '' });
  if (fault === null) return;
  const problem = `${fault}: set STRATA_QUEUE_URL, or url in [queue], to a redis:// or postgres:// URL. Without a role one process does everything.`;
  throw new StrataError('USAGE', { problem });
}

async function openStorage(
  { stores }: Adapters,
  { storage, queue }: Config,
  { data, create: mayCreate }: Pick<OpenOptions, 'data' | 'create'>,
): Promise<Storage> {
  if (data !== null && storage.url !== '') {
    const problem = '--data names an embedded store, but [storage] url names a server. Leave one of them out.';
    throw new StrataError('USAGE', { problem });
  }
  const name = storage.url === '' ? 'sqlite' : (storage.url.split(':')[0] ?? '');
  const create = await stores[name]?.();
  if (create === undefined) {
    throw new StrataError('ADAPTER_MISSING', { kind: 'store', name, known: Object.keys(stores) });
  }
  return await create({ ...storage, shared: queue.url !== '', create: mayCreate });
}

async function queueAdapterOf({ queues }: Adapters, { queue: { url } }: Config): Promise<QueueAdapter> {
  const name = url === '' ? 'local' : (url.split(':')[0] ?? '');
  const adapter = await queues[name]?.();
  if (adapter === undefined) {
    throw new StrataError('ADAPTER_MISSING', { kind: 'queue', name, known: Object.keys(queues) });
  }
  return adapter;
}

function boardOf(open: BoardOpener, url: string): OperationsOptions['openBoard'] {
  return (path) => open({ url, path });
}

async function openOperations(
  adapters: Adapters,
  { operations: { listen } }: Config,
  options: Omit<OperationsOptions, 'listen'>,
): Promise<Operations | null> {
  if (listen === '') return null;
  const start = await adapters.operations();
  return await start({ ...options, listen });
}

async function openModels({ adapters, environment }: OpenParts, config: Config, log: Log): Promise<ModelProvider> {
  const create = await adapters.models();
  const providers = Object.fromEntries(
    Object.entries(config.providers).map(([name, { base_url: baseUrl, api_key: apiKey }]) => [
      name,
      { baseUrl, ...(apiKey === '' ? {} : { apiKey }) },
    ]),
  );
  return create({ environment, providers, builtIn: adapters.builtInModels, log });
}

/** Beside a conversation in the terminal, and under a command's output, log lines go to a file. */
async function openLog({ adapters, streams }: OpenParts, loaded: LoadedConfig, isService: boolean): Promise<Log> {
  const { log, storage } = loaded.config;
  const output = isService ? streams.errors : openLogFile(storage.directory);
  const create = await adapters.log();
  return create({ level: log.level, secrets: loaded.secrets, output });
}

/** Answers nobody: messages are kept, summarised and remembered. */
function listening(agents: AgentDirectory): AgentDirectory {
  const mute = new WeakMap<object, ReturnType<AgentDirectory['agentFor']>>();
  const muted: AgentDirectory['agentFor'] = (conversation) => {
    const agent = agents.agentFor(conversation);
    const known = mute.get(agent) ?? { ...agent, mode: 'observe' };
    mute.set(agent, known);
    return known;
  };
  return { ...agents, agentFor: muted };
}

function troubleOf(live: LiveConfig, file: string): string | null {
  const rejection = live.rejection();
  if (rejection !== null) return `${file} cannot be used; the last good one is in force. ${rejection}`;
  const waiting = live.waiting();
  return waiting.length === 0 ? null : `Changes of ${waiting.join(', ')} in ${file} wait for a restart.`;
}
