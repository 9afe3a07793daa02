import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Extension, PluginEntry } from '../config/extensions.ts';
import { type LoadOptions, listPlugins } from '../config/load.ts';
import { StrataError } from '../domain/errors.ts';
import { checkFile } from '../util/files/text-file.ts';
import { type AddedNames, createAddedNames } from './added-names.ts';
import { describeFailure } from './failure-place.ts';
import { resolveOwnPackage } from './own-package.ts';
import type { Plugin, PluginParts } from './plugin.ts';

/** A plugin of the configuration. `parts` is available once `loadConfig` has opened it. */
export interface LoadedPlugin extends Extension {
  /** As the plugin names itself; the configuration may know it by its file only. */
  readonly ownName: string;
  readonly path: string;
  readonly shown: string;
  /** Throws if the plugin has not been opened. */
  parts(): PluginParts;
}

const LOAD_LIMIT_MS = 30_000;

/**
 * Imports the plugins that the configuration names, in order. If a plugin fails to load, its `open` throws the reason,
 * so `loadConfig` reports it with all other problems.
 */
export async function loadPlugins(options: LoadOptions): Promise<readonly LoadedPlugin[]> {
  const { source, entries } = listPlugins(options);
  if (entries.length > 0) resolveOwnPackage();
  const plugins: LoadedPlugin[] = [];
  const names = createAddedNames();
  for (const entry of entries) plugins.push(await loadPlugin(entry, { folder: source.folder, names }));
  return plugins;
}

async function loadPlugin(
  entry: PluginEntry,
  { folder, names }: { readonly folder: string; readonly names: AddedNames },
): Promise<LoadedPlugin> {
  const file = { path: resolve(folder, entry.file), shown: entry.file };
  try {
    const plugin = await importPlugin(file.path);
    if (entry.path.length === 3 && plugin.name !== entry.name) {
      throw new StrataError('PLUGIN_INVALID', {
        plugin: plugin.name,
        problem: `its table is [plugins.${entry.name}]; rename it to [plugins.${plugin.name}]`,
      });
    }
    return loadedPlugin(entry.name, plugin, { file, names });
  } catch (error) {
    return brokenPlugin(entry.name, error, file);
  }
}

type PluginFile = Pick<LoadedPlugin, 'path' | 'shown'>;

function loadedPlugin(
  name: string,
  plugin: Plugin,
  { file, names }: { readonly file: PluginFile; readonly names: AddedNames },
): LoadedPlugin {
  let parts: PluginParts | null = null;
  return {
    ...file,
    name,
    ownName: plugin.name,
    settings: plugin.settings,
    open(settings) {
      // Settings apply only after a restart, because a plugin is opened once.
      parts ??= attempt(() => open(plugin, settings, { names, file: file.shown }), file);
      const { tools, engines, models, stores } = parts;
      const own = { engines: Object.keys(engines), providers: Object.keys(models), stores: Object.keys(stores) };
      return { tools: tools.map((tool) => tool.name), ...own };
    },
    parts() {
      if (parts === null) throw new Error(`The plugin ${name} is not open.`);
      return parts;
    },
  };
}

function open(
  plugin: Plugin,
  settings: unknown,
  { names, file }: { readonly names: AddedNames; readonly file: string },
): PluginParts {
  const parts = plugin.open(settings);
  names.add({ plugin: plugin.name, file }, parts);
  return parts;
}

function attempt<Result>(work: () => Result, file: PluginFile): Result {
  try {
    return work();
  } catch (error) {
    throw new Error(describeFailure(error, file), { cause: error });
  }
}

function brokenPlugin(name: string, error: unknown, file: PluginFile): LoadedPlugin {
  const fail = (): never => {
    throw new Error(describeFailure(error, file), { cause: error });
  };
  return { ...file, name, ownName: name, settings: z.unknown(), open: fail, parts: fail };
}

async function importPlugin(path: string): Promise<Plugin> {
  checkFile(path);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`it did not finish loading within ${LOAD_LIMIT_MS / 1000} seconds`)),
    LOAD_LIMIT_MS,
  );
  try {
    const module: unknown = await Promise.race([import(pathToFileURL(path).href), late.promise]);
    const parsed = moduleSchema.safeParse(module);
    if (parsed.success) return parsed.data.default;
    throw new Error('it does not export a plugin; expected `export default definePlugin({ name: … })`');
  } finally {
    clearTimeout(timer);
  }
}

const isPlugin = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'strata-plugin';
const exportSchema = z.looseObject({ default: z.custom<Plugin>(isPlugin) });
/** The default export of what was compiled to CommonJS is part of `module.exports`, which Node.js imports as the default. */
const moduleSchema = z.union([
  exportSchema,
  z.looseObject({ default: exportSchema }).transform(({ default: own }) => own),
]);
