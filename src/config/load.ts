import { resolve } from 'node:path';
import { StrataError } from '../domain/errors.ts';
import { type MergedAgent, mergeAgents } from './agents.ts';
import { type ChannelSchemas, checkChannels } from './channels.ts';
import { checkAgents } from './checks.ts';
import { generalDefaults } from './defaults.ts';
import { type Extension, openExtensions, type PluginEntry, pluginEntries } from './extensions.ts';
import { addressProblem, checkUsualKeys } from './key-check.ts';
import { type KnownNames, unknownName } from './known.ts';
import { fileOrigin, type Merged, mergeLayers, type Origin } from './layers.ts';
import { checkModels } from './model-check.ts';
import { type ConfigFlags, overrideLayers } from './overrides.ts';
import type { Environment } from './references.ts';
import { createReport, type Report, reportProblems } from './report.ts';
import { checkRerankers } from './reranker-check.ts';
import { type Config, type GeneralSettings, generalSchema } from './schema.ts';
import { secretsOf } from './secrets.ts';
import { withSectionTexts } from './section-files.ts';
import { isChannelEnabled, readSections, type Sections } from './sections.ts';
import { type ConfigSource, readSource } from './toml/source.ts';
import { isTable, type Path, pathKey, type Tree, valueAt } from './toml/tree.ts';

export interface LoadOptions {
  /** As given by the user; `config.toml` by default. */
  readonly file: string;
  /** The user named the file, so it must exist. */
  readonly explicit: boolean;
  readonly environment: Environment;
  readonly flags: ConfigFlags;
  /** The loaded plugins of the file. Without them, their settings and names are not checked. */
  readonly extensions?: readonly Extension[];
  /** The schemas of the channels' tables. Without them, the tables are not checked. */
  readonly channels?: ChannelSchemas;
}

/** A configuration, and where each of its values comes from. */
export interface LoadedConfig {
  readonly config: Config;
  readonly source: ConfigSource;
  /** The origin of the value at a path of `config`. */
  originOf(path: Path): Origin;
  /** How the file writes a value that came from the environment; null for all others. */
  writtenAs(path: Path): string | null;
  /** Resolved secrets, to be redacted in logs. */
  readonly secrets: readonly string[];
}

/**
 * Precedence: built-in values < `[defaults]` < `[[agents]]` < environment < flags. Throws `CONFIG_UNREADABLE`, or
 * `CONFIG_INVALID` with every problem.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const source = readSource(options.file, options);
  const report = createReport(source);
  const usesProvider = providersIn(source.tree, options);
  const read = readSections(source, { environment: options.environment, report, usesProvider });
  const sections = withSectionTexts(read, { source, report });
  const agents = mergeAgents(sections, { source, report, overrides: overrideLayers('agent', options) });
  const known = openExtensions(options.extensions ?? [], { sections, report });
  checkAgents(agents, { source, report, known });
  checkRerankers(agents, sections.providers, report);
  if (known !== null) {
    checkModels(agents, { report, providers: [...known.providers, ...Object.keys(sections.providers)] });
    checkUsualKeys(options.environment, { report, providers: known.providers.filter(usesProvider) });
  }
  const general = mergeGeneral(sections, { source, report, options });
  if (general !== null) checkAddresses(general, report);
  if (general !== null && known !== null) checkStore(general, known, report);
  const channels = enabledChannels(sections);
  if (options.channels !== undefined) {
    const written = (path: Path) => sections.written.get(pathKey(path)) ?? null;
    const { unresolved } = sections;
    checkChannels({ config: { channels }, writtenAs: written, unresolved }, options.channels, report);
  }
  const problems = report.lines();
  if (general === null || problems.length > 0) {
    throw new StrataError('CONFIG_INVALID', { file: options.file, problems });
  }
  const parts = { source, sections, agents, ...general };
  const config: Config = {
    agents: agents.map((agent) => agent.settings),
    ...general.settings,
    providers: filledProviders(sections),
    prices: sections.prices,
    channels,
    plugins: sections.plugins,
  };
  return {
    config,
    source,
    originOf: (path) => originOf(path, parts),
    writtenAs: (path) => writtenAs(path, parts),
    secrets: secretsOf(config, sections.written),
  };
}

/** The plugins named in the file, to be loaded before the rest is checked. `loadConfig` reports problems. */
export function listPlugins(options: LoadOptions): {
  readonly source: ConfigSource;
  readonly entries: readonly PluginEntry[];
} {
  const source = readSource(options.file, options);
  if (source.tree['plugins'] === undefined) return { source, entries: [] };
  const sections = readSections(source, {
    environment: options.environment,
    report: createReport(source),
    usesProvider: () => false,
  });
  return { source, entries: pluginEntries(sections) };
}

function checkAddresses({ settings, merged }: General, report: Report): void {
  for (const section of ['storage', 'queue'] as const) {
    const text = addressProblem(settings[section].url);
    const path = [section, 'url'];
    if (text !== null) report.addAt(merged.origins.get(pathKey(path)) ?? { kind: 'default' }, { path, text });
  }
}

/** The scheme of the store's URL selects its adapter. */
function checkStore({ settings, merged }: General, known: KnownNames, report: Report): void {
  const { url } = settings.storage;
  const scheme = url.split(':')[0] ?? '';
  if (url === '' || known.stores.includes(scheme)) return;
  const path = ['storage', 'url'];
  const origin = merged.origins.get(pathKey(path)) ?? { kind: 'default' };
  report.addAt(origin, { path, text: unknownName('store', scheme, known.stores) });
}

interface General {
  readonly settings: GeneralSettings;
  readonly merged: Merged;
}

function mergeGeneral(
  sections: Sections,
  context: { readonly source: ConfigSource; readonly report: Report; readonly options: LoadOptions },
): General | null {
  const { source, report, options } = context;
  const merged = mergeLayers([
    { values: generalDefaults, originOf: () => ({ kind: 'default' }) },
    {
      values: sections.general,
      originOf: (path) => fileOrigin(path, source.locate),
    },
    ...overrideLayers('general', options),
  ]);
  const result = generalSchema.safeParse(merged.values);
  if (result.success) return { settings: withFolder(result.data, merged, source), merged };
  const value = merged.values;
  reportProblems(result.error, { schema: generalSchema, value, merged, report });
  return null;
}

/** Folders in the file are relative to the file; on the command line, to the working folder. */
function withFolder(settings: GeneralSettings, merged: Merged, source: ConfigSource): GeneralSettings {
  const origin = merged.origins.get(pathKey(['storage', 'directory']));
  const outside = origin?.kind === 'environment' || origin?.kind === 'flag';
  const { directory } = settings.storage;
  return {
    ...settings,
    storage: { ...settings.storage, directory: outside ? resolve(directory) : resolve(source.folder, directory) },
  };
}

/**
 * Whether any model uses a provider. Decided on the raw text: if a model itself comes from the environment, every
 * provider counts.
 */
function providersIn(tree: Tree, options: LoadOptions): (name: string) => boolean {
  const agents = listAt(tree, 'agents');
  const holders = [valueAt(tree, ['defaults']), ...agents, ...agents.flatMap((agent) => listAt(agent, 'routes'))];
  const models: readonly unknown[] = [
    options.environment['STRATA_MODEL'],
    options.flags.model,
    ...holders.flatMap((holder) => [
      valueAt(holder, ['model']),
      ...listAt(holder, 'model'),
      valueAt(holder, ['compaction', 'model']),
      valueAt(holder, ['recall', 'rerank_model']),
    ]),
  ];
  const texts = models.filter((model) => typeof model === 'string');
  if (texts.some((text) => text.startsWith('env:') || text.includes('${'))) return () => true;
  const names = new Set(texts.map((text) => text.split(':')[0]));
  return (name) => names.has(name);
}

function listAt(tree: unknown, name: string): readonly unknown[] {
  const value = valueAt(tree, [name]);
  return Array.isArray(value) ? value : [];
}

function filledProviders(sections: Sections): Config['providers'] {
  return Object.fromEntries(
    Object.entries(sections.providers).map(([name, { base_url = '', api_key = '' }]) => [name, { base_url, api_key }]),
  );
}

/** `enabled` is handled here; the rest of the table belongs to the adapter. */
function enabledChannels(sections: Sections): Config['channels'] {
  return Object.fromEntries(
    Object.entries(sections.channels)
      .filter(([, table]) => isChannelEnabled(table))
      .map(([name, { enabled: _enabled, ...table }]) => [name, table]),
  );
}

interface Parts {
  readonly source: ConfigSource;
  readonly sections: Sections;
  readonly agents: readonly MergedAgent[];
  readonly merged: Merged;
}

function originOf(path: Path, parts: Parts): Origin {
  const [section, name, ...rest] = path;
  if (section === 'plugins' && parts.sections.pluginList.length > 0) return originInFile(['plugins'], parts);
  if (section !== 'agents') {
    const general = parts.merged.origins.get(pathKey(path));
    return general ?? originInFile(path, parts);
  }
  const agent = parts.agents[Number(name)];
  if (!agent || agent.index === null) return agent?.originOf(rest) ?? { kind: 'default' };
  const own = ['id', 'default', 'routes'].includes(String(rest[0]));
  return own ? originInFile(['agents', agent.index, ...rest], parts) : agent.originOf(rest);
}

/** A path that is not in the file has its default. */
function originInFile(path: Path, parts: Parts): Origin {
  const present = isTable(parts.source.tree) && valueAt(parts.source.tree, path) !== undefined;
  return present ? fileOrigin(path, parts.source.locate) : { kind: 'default' };
}

/** Only lists as a whole have an origin. */
function writtenAs(path: Path, parts: Parts): string | null {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = originOf(path.slice(0, length), parts);
    if (origin.kind !== 'file') continue;
    return parts.sections.written.get(pathKey([...origin.path, ...path.slice(length)])) ?? null;
  }
  return null;
}
