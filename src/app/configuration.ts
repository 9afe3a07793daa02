import type { Adapters } from '../bot/adapters.ts';
import { type LoadOptions, listPlugins } from '../config/load.ts';
import type { LoadedPlugin } from '../plugins/load.ts';
import { type AppHost, type GlobalOptions, loadOptionsOf } from './app.ts';

/** Options for reading the configuration and importing its plugins. */
export interface Configuration {
  readonly load: LoadOptions;
  readonly plugins: readonly LoadedPlugin[];
}

/** Reads the configuration and imports its plugins. Throws `CONFIG_UNREADABLE`. */
export async function findPlugins(
  process: Pick<AppHost, 'environment'>,
  globals: GlobalOptions,
): Promise<Configuration> {
  const load = loadOptionsOf(process, globals);
  if (listPlugins(load).entries.length === 0) return { load, plugins: [] };
  const { loadPlugins } = await import('../plugins/load.ts');
  const plugins = await loadPlugins(load);
  return { load: { ...load, extensions: plugins }, plugins };
}

/** The adapters, including those of the plugins that `loadConfig` opened. */
export async function withPlugins(adapters: Adapters, plugins: readonly LoadedPlugin[]): Promise<Adapters> {
  if (plugins.length === 0) return adapters;
  const { extendAdapters } = await import('../plugins/extend.ts');
  return extendAdapters(adapters, plugins);
}
