import type { Adapters, ChannelContext, Notices, OperationsOptions, TerminalEnd } from '../bot/adapters.ts';
import { type Bot, createBot } from '../bot/bot.ts';
import { roleProblem } from '../bot/checked-options.ts';
import type { ProcessRole } from '../bot/options.ts';
import { allCommands } from '../commands/custom/custom-commands.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import { rowsOf } from '../config/rows.ts';
import type { Config } from '../config/schema.ts';
import { type LiveConfig, watchConfig } from '../config/watch/watch.ts';
import { StrataError } from '../domain/errors.ts';
import type { LoadedPlugin } from '../plugins/load.ts';
import type { PluginContext } from '../plugins/plugin.ts';
import type { PluginRun } from '../plugins/run.ts';
import type { NewEvent } from '../ports/events.ts';
import type { Log } from '../ports/log.ts';
import { createPromptLibrary } from '../prompts/library.ts';
import { type PromptSource, promptSourceOf } from '../prompts/variables.ts';
import type { Storage } from '../services.ts';
import { createSystemClock, createSystemRandom } from '../util/time/clock.ts';
import type { App, AppHost, GlobalOptions, OpenOptions } from './app.ts';
import { botPartsOf, botSettings } from './bot-settings.ts';
import { findPlugins, withPlugins } from './configuration.ts';
import { createNotices } from './notices.ts';
import {
  boardOf,
  checkQueue,
  createChannels,
  loadChannels,
  openInspector,
  openLog,
  openModels,
  openOperations,
  openStorage,
  queueAdapterOf,
} from './open-adapters.ts';
import { logFindings } from './store-findings.ts';
import { reportUncaught } from './uncaught.ts';

/** Opens only the store. */
export async function openStore(
  host: Pick<AppHost, 'adapters' | 'environment'>,
  options: GlobalOptions & Pick<OpenOptions, 'create'>,
): Promise<Storage> {
  const { load, plugins } = await findPlugins(host, options);
  const { config } = loadConfig(load);
  return await openStorage(await withPlugins(host.adapters, plugins), config, options);
}

/**
 * Opens a bot from the command line's options: reads the configuration, then opens the adapters it names. Starts
 * nothing.
 */
export async function openApp(given: AppHost, options: OpenOptions): Promise<App> {
  const { load, plugins } = await findPlugins(given, options);
  const { configured, loaded } = readConfig(load, options);
  const host: AppHost = { ...given, adapters: await withPlugins(given.adapters, plugins) };
  const { config } = loaded;
  const platforms = platformsOf(config, options);
  const channelAdapters = await loadChannels(host.adapters, loaded, platforms);
  const prompts = createPromptLibrary({ sources: sourcesOf(config) });
  refuseLonely(options.role, config);
  const storage = await openStorage(host.adapters, config, options);
  const ended = Promise.withResolvers<TerminalEnd>();
  // Only commands that serve a platform read this.
  ended.promise.catch(() => undefined);
  try {
    const isService = options.role === 'worker' || platforms.some((name) => name !== 'terminal');
    const log = await openLog(host, loaded, isService);
    const models = await openModels(host, config, log);
    const notices = createNotices();
    const context = contextOf({ host, options, log, storage, ended, notices, plugins });
    const channels = await createChannels(channelAdapters, { config, platforms, context });
    const place = { url: config.queue.url, storage };
    const queues = await queueAdapterOf(host.adapters, config);
    const queue = queues.create({ ...place, log, onTrouble: (message) => tellTrouble(message) });
    const live = watchConfig({
      initial: loaded,
      load,
      check: (next) => prompts.load(sourcesOf(next)),
      onChange: ({ waiting }) => bot.events.emit(changeOf(load.file, waiting)),
      onReject: (message) => bot.events.emit({ kind: 'config.rejected', conversation: null, file: load.file, message }),
    });
    const settings = await botSettings({ host, options, load, config, live, plugins, storage });
    const bot = createBot({ storage, queue, models, prompts, log, channels, ...settings });
    notices.follow(bot.events);
    const tellTrouble = (message: string) => bot.events.emit({ kind: 'queue.trouble', conversation: null, message });
    const openBoard = queues.openBoard && boardOf(queues.openBoard, place);
    return {
      bot,
      services: bot.commandServices,
      config,
      upkeep: storage.upkeep,
      platforms,
      notices,
      channelAdapters: host.adapters.channels,
      channelContext: context,
      ended: ended.promise,
      checkQueue: () => checkQueue(host.adapters, configured.config, storage),
      reportUncaught: (failure) => reportUncaught(failure, { plugins, log, events: bot.events }),
      ...serversOf(host.adapters, config, { bot, load, role: options.role, log, openBoard }),
      ...runOf({ bot, live, config, log, ended, storage, plugins: await startable(plugins, { bot, log }) }),
    };
  } catch (error) {
    await storage.store.close();
    throw error;
  }
}

interface ReadConfig {
  readonly configured: LoadedConfig;
  /** With the store and queue that are used. */
  readonly loaded: LoadedConfig;
}

function readConfig(load: LoadOptions, { scratch }: OpenOptions): ReadConfig {
  const configured = loadConfig(load);
  if (scratch === undefined) return { configured, loaded: configured };
  const { storage, queue } = configured.config;
  const own = { storage: { ...storage, url: '', directory: scratch }, queue: { ...queue, url: '' } };
  return { configured, loaded: { ...configured, config: { ...configured.config, ...own } } };
}

function runOf({
  bot,
  live,
  plugins,
  config,
  storage,
  log,
  ended,
}: {
  readonly bot: Bot;
  readonly ended: PromiseWithResolvers<TerminalEnd>;
  readonly live: LiveConfig;
  readonly plugins: PluginRun | null;
  readonly config: Config;
  readonly storage: Pick<Storage, 'upkeep'>;
  readonly log: Log;
}): Pick<App, 'start' | 'close'> {
  return {
    async start() {
      try {
        await plugins?.start();
        await bot.start();
      } catch (error) {
        await plugins?.stop();
        throw error;
      }
      // A file is checked when it is opened.
      if (config.storage.url !== '') void logFindings(storage.upkeep, log);
    },
    async close(options) {
      live.close();
      await bot.stop(options);
      await plugins?.stop();
      // A program that waits for the end of a platform would wait forever.
      ended.resolve({ failures: 0 });
    },
  };
}

function serversOf(
  adapters: Adapters,
  config: Config,
  {
    bot,
    load,
    ...options
  }: { readonly bot: Bot; readonly load: LoadOptions } & Omit<OperationsOptions, 'listen' | 'services'>,
): Pick<App, 'operate' | 'inspect'> {
  const configRows = () => rowsOf(loadConfig(load), null);
  return {
    operate: () => openOperations(adapters, config, { services: bot.services, ...options }),
    inspect: (listen) => openInspector(adapters, config, { services: bot.commandServices, configRows, listen }),
  };
}

async function startable(
  plugins: readonly LoadedPlugin[],
  services: Pick<PluginContext, 'bot' | 'log'>,
): Promise<PluginRun | null> {
  if (plugins.length === 0) return null;
  const { createPluginRun } = await import('../plugins/run.ts');
  return createPluginRun(plugins, services);
}

/** The platforms that the configuration enables, or the terminal if there are none. */
function platformsOf(config: Config, { platforms, role }: OpenOptions): readonly string[] {
  if (role === 'worker') return [];
  if (platforms !== 'configured') return platforms;
  const enabled = Object.keys(config.channels);
  return enabled.length === 0 ? ['terminal'] : enabled;
}

function contextOf(of: {
  readonly host: AppHost;
  readonly options: OpenOptions;
  readonly log: Log;
  readonly storage: Storage;
  readonly ended: PromiseWithResolvers<TerminalEnd>;
  readonly notices: Notices;
  readonly plugins: readonly LoadedPlugin[];
}): ChannelContext {
  const { host, options, log, storage, ended, notices, plugins } = of;
  const clock = createSystemClock();
  const { user = 'user', conversation = null } = options.terminal ?? {};
  return {
    log,
    state: storage.state,
    clock,
    random: createSystemRandom(clock),
    terminal: { ...host.streams, user, conversation, notices, onEnd: ended.resolve },
    commandSpecs: allCommands(botPartsOf(plugins).commands).map(({ spec }) => spec),
    onRefused: ended.reject,
  };
}

function sourcesOf({ agents }: Pick<Config, 'agents'>): readonly PromptSource[] {
  return agents.map(promptSourceOf);
}

/** A gateway or worker alone requires a shared queue to reach the other half. */
function refuseLonely(role: ProcessRole, { queue }: Config): void {
  const fault = roleProblem(role, { isShared: queue.url !== '' });
  if (fault === null) return;
  const problem = `${fault}: set STRATA_QUEUE_URL, or url in [queue], to a redis:// or postgres:// URL. Without a role, one process does everything.`;
  throw new StrataError('USAGE', { problem });
}

function changeOf(file: string, waiting: readonly string[]): NewEvent {
  return { kind: 'config.changed', conversation: null, file, waitsForRestart: waiting.join(', ') };
}
