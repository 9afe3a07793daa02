import type { Adapters } from '../bot/adapters.ts';
import { type LoadOptions, listPlugins } from '../config/load.ts';
import type { LoadedPlugin } from '../plugins/load.ts';
import { type GlobalOptions, loadOptionsOf, type OpenParts } from './app.ts';

/** How to read the configuration, with the plugins that it names imported. */
export interface Configuration {
  readonly load: LoadOptions;
  readonly plugins: readonly LoadedPlugin[];
}

/** Imports the plugins; a configuration without any costs nothing more than reading it. Throws `CONFIG_UNREADABLE`. */
export async function findPlugins(
  process: Pick<OpenParts, 'environment'>,
  globals: GlobalOptions,
): Promise<Configuration> {
  const load = loadOptionsOf(process, globals);
  if (listPlugins(load).entries.length === 0) return { load, plugins: [] };
  const { loadPlugins } = await import('../plugins/load.ts');
  const plugins = await loadPlugins(load);
  return { load: { ...load, extensions: plugins }, plugins };
}

/** The adapters with those of plugins that `loadConfig` has opened. Throws `PLUGIN_INVALID` for a name that is taken. */
export async function withPlugins(adapters: Adapters, plugins: readonly LoadedPlugin[]): Promise<Adapters> {
  if (plugins.length === 0) return adapters;
  const { extendAdapters } = await import('../plugins/extend.ts');
  return extendAdapters(adapters, plugins);
}
