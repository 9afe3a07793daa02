import { basename, extname } from 'node:path';
import { z } from 'zod';
import { checkKeys } from './key-check.ts';
import { knownPaths, type ProblemContext, problemsOf } from './problems.ts';
import { type Environment, resolveReferences } from './references.ts';
import type { Report } from './report.ts';
import { type AgentEntry, fileSchema, fileSections, pluginListSchema } from './schema.ts';
import type { ConfigSource } from './toml/source.ts';
import { isSecretPath, isTable, type Path, pathKey, type Tree, valueAt, without } from './toml/tree.ts';

/** The validated layers of the file; invalid values are reported and left out. */
export interface Sections {
  readonly defaults: z.infer<typeof fileSections.defaults>;
  readonly agents: readonly IndexedAgent[];
  readonly general: Tree;
  readonly providers: z.infer<typeof fileSections.providers>;
  readonly prices: z.infer<typeof fileSections.prices>;
  readonly channels: z.infer<typeof fileSections.channels>;
  readonly plugins: z.infer<typeof fileSections.plugins>;
  /** The files of the short form, in the order of the file; empty if the plugins have tables. */
  readonly pluginList: readonly string[];
  /** Values as written, before environment references were resolved, by `pathKey`. */
  readonly written: ReadonlyMap<string, string>;
  /** Paths by `pathKey` whose variable is missing, which is reported already. */
  readonly unresolved: ReadonlySet<string>;
}

export interface IndexedAgent {
  /** Index in the file's list; an error in one agent does not hide those of the others. */
  readonly index: number;
  readonly entry: AgentEntry;
}

const elsewhere = knownPaths(fileSchema);

/** Validates each section with the schema of its layer. */
export function readSections(
  source: ConfigSource,
  options: {
    readonly environment: Environment;
    readonly report: Report;
    readonly usesProvider: (name: string) => boolean;
  },
): Sections {
  const { report } = options;
  const resolved = resolveReferences(source.tree, {
    environment: options.environment,
    enabled: (path) => isEnabled(source.tree, path, options.usesProvider),
  });
  for (const problem of resolved.problems) report.add(problem.path, problem.text);
  for (const [section, table] of Object.entries(inUse(resolved.tree, options.usesProvider)))
    checkKeys(table, [section], { report, written: resolved.written });
  const unresolved = new Set(resolved.problems.map((problem) => pathKey(problem.path)));
  const reader: SectionReader = { tree: resolved.tree, written: resolved.written, unresolved, report };
  refuseUnknownSections(reader);
  const { defaults, storage, queue, log, operations, inspector, privacy, providers, prices, channels } = fileSections;
  return {
    defaults: readSection(reader, defaults, ['defaults']) ?? {},
    agents: readAgents(reader),
    general: {
      storage: readSection(reader, storage, ['storage']),
      queue: readSection(reader, queue, ['queue']),
      log: readSection(reader, log, ['log']),
      operations: readSection(reader, operations, ['operations']),
      inspector: readSection(reader, inspector, ['inspector']),
      privacy: readSection(reader, privacy, ['privacy']),
    },
    providers: readSection(reader, providers, ['providers']) ?? {},
    prices: readSection(reader, prices, ['prices']) ?? {},
    channels: readSection(reader, channels, ['channels']) ?? {},
    ...readPlugins(reader),
    written: resolved.written,
    unresolved,
  };
}

/** What is not in use may hold anything. */
function inUse({ providers, channels }: Tree, usesProvider: (name: string) => boolean): Tree {
  const used = (tables: unknown, isUsed: (name: string, table: unknown) => boolean) =>
    isTable(tables) ? Object.fromEntries(Object.entries(tables).filter(([name, table]) => isUsed(name, table))) : {};
  const isChannel = (_: string, table: unknown) => isChannelEnabled(table);
  return { providers: used(providers, usesProvider), channels: used(channels, isChannel) };
}

/** A missing variable matters only if its section is in use. */
function isEnabled(tree: Tree, path: Path, usesProvider: (name: string) => boolean): boolean {
  const [section, name] = path;
  if (section === 'providers') return usesProvider(String(name));
  return section !== 'channels' || isChannelEnabled(valueAt(tree, path.slice(0, 2)));
}

export function isChannelEnabled(table: unknown): boolean {
  return isTable(table) && table['enabled'] !== false;
}

interface SectionReader {
  readonly tree: Tree;
  readonly written: ReadonlyMap<string, string>;
  /** Values whose variable is missing were already reported. */
  readonly unresolved: ReadonlySet<string>;
  readonly report: Report;
}

function readAgents(reader: SectionReader): readonly IndexedAgent[] {
  const agents = reader.tree['agents'];
  if (agents === undefined) return [];
  if (!Array.isArray(agents)) {
    reader.report.add(['agents'], 'expected a list of tables: write each agent as [[agents]]');
    return [];
  }
  return agents.flatMap((_, index) => {
    const entry = readSection(reader, fileSections.agents.element, ['agents', index]);
    return entry ? [{ index, entry }] : [];
  });
}

function readPlugins(reader: SectionReader): Pick<Sections, 'plugins' | 'pluginList'> {
  if (!Array.isArray(reader.tree['plugins'])) {
    return { plugins: readSection(reader, fileSections.plugins, ['plugins']) ?? {}, pluginList: [] };
  }
  const pluginList = readSection(reader, pluginListSchema, ['plugins']) ?? [];
  const names = pluginList.map(pluginNameOf);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) === index) continue;
    reader.report.add(['plugins', index], `two plugins are named "${name}"; give each its own [plugins.NAME] table`);
  }
  const plugins = Object.fromEntries(pluginList.map((file, index) => [names[index] ?? '', { file }]));
  return { plugins, pluginList };
}

/** `./plugins/dice.ts` → `dice`. */
function pluginNameOf(file: string): string {
  return basename(file, extname(file));
}

function readSection<Schema extends z.ZodType>(
  reader: SectionReader,
  schema: Schema,
  base: Path,
): z.infer<Schema> | undefined {
  const value = valueAt(reader.tree, base);
  if (value === undefined) return undefined;
  const first = schema.safeParse(value);
  if (first.success) return first.data;
  const context = contextOf(reader, { schema, value, base });
  const problems = problemsOf(first.error, context);
  for (const problem of problems) {
    const path = [...base, ...problem.path];
    if (problem.isUnknownKey || !reader.unresolved.has(pathKey(path))) reader.report.add(path, problem.text);
  }
  if (!isTable(value)) return undefined;
  const rest = without(
    value,
    problems.map(({ path }) => path),
  );
  const second = schema.safeParse(rest);
  return second.success ? second.data : undefined;
}

function contextOf(
  reader: SectionReader,
  section: { readonly schema: z.ZodType; readonly value: unknown; readonly base: Path },
): ProblemContext {
  return {
    schema: section.schema,
    value: section.value,
    elsewhere,
    section: String(section.base[0]),
    mayShow: (path) => {
      const whole = [...section.base, ...path];
      return !reader.written.has(pathKey(whole)) && !isSecretPath(whole);
    },
  };
}

const sectionNames = z
  .strictObject(Object.fromEntries(Object.keys(fileSections).map((name) => [name, z.unknown()])))
  .partial();

function refuseUnknownSections(reader: SectionReader): void {
  const result = sectionNames.safeParse(reader.tree);
  if (result.success) return;
  const context = { schema: fileSchema, value: reader.tree, elsewhere, section: '', mayShow: () => true };
  for (const problem of problemsOf(result.error, context)) reader.report.add(problem.path, problem.text);
}
