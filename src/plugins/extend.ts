import type { Adapters, Registry } from '../bot/adapters.ts';
import { nameTaken } from './added-names.ts';
import type { LoadedPlugin } from './load.ts';

/** The adapters, including those of the plugins. Throws `PLUGIN_INVALID` if a name is already in use. */
export function extendAdapters(adapters: Adapters, plugins: readonly LoadedPlugin[]): Adapters {
  return {
    ...adapters,
    channels: extend(adapters.channels, { kind: 'channel', plugins, of: (plugin) => plugin.parts().channels }),
    stores: extend(adapters.stores, { kind: 'store', plugins, of: (plugin) => plugin.parts().stores }),
    builtInModels: Object.assign({}, adapters.builtInModels, ...plugins.map((plugin) => plugin.parts().models)),
  };
}

function extend<Adapter>(
  registry: Registry<Adapter>,
  added: {
    readonly kind: string;
    readonly plugins: readonly LoadedPlugin[];
    readonly of: (plugin: LoadedPlugin) => Readonly<Record<string, Adapter>>;
  },
): Registry<Adapter> {
  const extended = new Map(Object.entries(registry));
  for (const plugin of added.plugins) {
    for (const [name, adapter] of Object.entries(added.of(plugin))) {
      if (extended.has(name)) throw nameTaken(plugin.name, `the ${added.kind} "${name}" (${plugin.shown})`);
      extended.set(name, async () => adapter);
    }
  }
  return Object.fromEntries(extended);
}
