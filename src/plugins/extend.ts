import type { Adapters, Registry } from '../bot/adapters.ts';
import type { LoadedPlugin } from './load.ts';

/** The adapters, including those of the plugins. Their names were checked when the plugins were opened. */
export function extendAdapters(adapters: Adapters, plugins: readonly LoadedPlugin[]): Adapters {
  const parts = plugins.map((plugin) => plugin.parts());
  return {
    ...adapters,
    channels: Object.assign({}, adapters.channels, ...parts.map(({ channels }) => loaded(channels))),
    stores: Object.assign({}, adapters.stores, ...parts.map(({ stores }) => loaded(stores))),
    builtInModels: Object.assign({}, adapters.builtInModels, ...parts.map(({ models }) => models)),
  };
}

function loaded<Adapter>(added: Readonly<Record<string, Adapter>>): Registry<Adapter> {
  return Object.fromEntries(Object.entries(added).map(([name, adapter]) => [name, async () => adapter]));
}
