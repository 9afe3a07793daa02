import { z } from 'zod';
import type {
  Adapters,
  BoardOpener,
  ChannelAdapter,
  ChannelContext,
  ModelsOptions,
  Operations,
  OperationsOptions,
  QueueAdapter,
  QueuePlace,
  Registry,
} from '../bot/adapters.ts';
import { channelProblems } from '../config/channels.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { StrataError } from '../domain/errors.ts';
import type { InspectionHost } from '../inspection/inspection.ts';
import type { Channel } from '../ports/channel.ts';
import type { Log } from '../ports/log.ts';
import type { KnownProviders, ModelProvider } from '../ports/model.ts';
import type { Storage } from '../services.ts';
import type { AppHost, OpenOptions } from './app.ts';
import { openLogFile } from './log-file.ts';

/**
 * Loads the adapters of the configured platforms and validates their sections. Throws `CONFIG_INVALID` with every
 * problem, and `ADAPTER_MISSING` for an unknown platform that the configuration does not name.
 */
export async function loadChannels(
  adapters: Adapters,
  loaded: LoadedConfig,
  platforms: readonly string[],
): Promise<ReadonlyMap<string, ChannelAdapter>> {
  const found = new Map<string, ChannelAdapter>();
  // Adapters that the configuration does not name are known but not loaded.
  const schemas = new Map<string, z.ZodType>(Object.keys(adapters.channels).map((name) => [name, z.unknown()]));
  for (const name of new Set([...platforms, ...Object.keys(loaded.config.channels)])) {
    const adapter = await adapters.channels[name]?.();
    if (adapter === undefined) {
      if (name in loaded.config.channels) continue;
      throw new StrataError('ADAPTER_MISSING', { kind: 'channel', name, known: Object.keys(adapters.channels) });
    }
    found.set(name, adapter);
    schemas.set(name, adapter.settings);
  }
  const problems = channelProblems(loaded, schemas);
  if (problems.length > 0) throw new StrataError('CONFIG_INVALID', { file: loaded.source.file, problems });
  return found;
}

/** The channels of the platforms that this process serves. */
export async function createChannels(
  adapters: ReadonlyMap<string, ChannelAdapter>,
  of: { readonly config: Config; readonly platforms: readonly string[]; readonly context: ChannelContext },
): Promise<readonly Channel[]> {
  const served = [...adapters].filter(([name]) => of.platforms.includes(name));
  return await Promise.all(served.map(([name, adapter]) => adapter.create(of.config.channels[name] ?? {}, of.context)));
}

export async function openStorage(
  { stores }: Adapters,
  { storage, queue }: Config,
  { data, create: mayCreate }: Pick<OpenOptions, 'data' | 'create'>,
): Promise<Storage> {
  if (data !== null && storage.url !== '') {
    const problem = '--data selects an embedded store, but [storage] url selects a server. Remove one of them.';
    throw new StrataError('USAGE', { problem });
  }
  const create = await adapterFor(stores, { kind: 'store', url: storage.url, builtIn: 'sqlite' });
  return await create({ ...storage, shared: queue.url !== '', create: mayCreate });
}

export async function queueAdapterOf({ queues }: Adapters, { queue: { url } }: Config): Promise<QueueAdapter> {
  return await adapterFor(queues, { kind: 'queue', url, builtIn: 'local' });
}

/** The adapter for the scheme of a URL, or the one that needs no server. */
async function adapterFor<Adapter>(
  registry: Registry<Adapter>,
  { kind, url, builtIn }: { readonly kind: string; readonly url: string; readonly builtIn: string },
): Promise<Adapter> {
  const name = url === '' ? builtIn : (url.split(':')[0] ?? '');
  const adapter = await registry[name]?.();
  if (adapter === undefined) throw new StrataError('ADAPTER_MISSING', { kind, name, known: Object.keys(registry) });
  return adapter;
}

export async function checkQueue(
  adapters: Adapters,
  config: Config,
  storage: Storage,
): ReturnType<QueueAdapter['check']> {
  const { check } = await queueAdapterOf(adapters, config);
  return await check({ url: config.queue.url, storage });
}

export function boardOf(open: BoardOpener, place: QueuePlace): OperationsOptions['openBoard'] {
  return (path) => open({ ...place, path });
}

export async function openOperations(
  adapters: Adapters,
  { operations: { listen } }: Config,
  options: Omit<OperationsOptions, 'listen'>,
): Promise<Operations | null> {
  if (listen === '') return null;
  const start = await adapters.operations();
  return await start({ ...options, listen });
}

export async function openInspector(
  adapters: Adapters,
  { inspector }: Config,
  { listen = inspector.listen, ...host }: InspectionHost & { readonly listen?: string | undefined },
): Promise<Operations | null> {
  if (listen === '') return null;
  const start = await adapters.inspector();
  return await start({
    settings: { ...inspector, listen },
    open: async () => (await import('../inspection/inspection.ts')).createInspection(host),
    clock: host.services.clock,
    log: host.services.log,
  });
}

export async function openModels(
  { adapters, environment }: AppHost,
  config: Config,
  log: Log,
): Promise<ModelProvider & KnownProviders> {
  const create = await adapters.models();
  const providers = connectionsOf(config.providers);
  return create({ environment, providers, builtIn: adapters.builtInModels, log });
}

export function connectionsOf(providers: Config['providers']): ModelsOptions['providers'] {
  return Object.fromEntries(
    Object.entries(providers).map(([name, { base_url: baseUrl, api_key: apiKey }]) => [
      name,
      { baseUrl, ...(apiKey === '' ? {} : { apiKey }) },
    ]),
  );
}

/** While a conversation or a command uses the terminal, log lines go to a file. */
export async function openLog({ adapters, streams }: AppHost, loaded: LoadedConfig, isService: boolean): Promise<Log> {
  const { log, storage } = loaded.config;
  const output = isService ? streams.errors : openLogFile(storage.directory);
  const create = await adapters.log();
  return create({ level: log.level, secrets: loaded.secrets, output });
}
