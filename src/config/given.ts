import { mergeAgents } from './agents.ts';
import { checkAgents } from './checks.ts';
import type { AgentNames } from './known.ts';
import { checkModels } from './model-check.ts';
import { problemsOf } from './problems.ts';
import { createReport, type Report } from './report.ts';
import { type AgentEntry, type AgentSettings, fileSections } from './schema.ts';
import { withSectionTexts } from './section-files.ts';
import type { IndexedAgent } from './sections.ts';
import type { ConfigSource } from './toml/source.ts';

/** Prefix of each problem, in place of a file. */
export const CODE_SOURCE = 'createBot';

export interface GivenNames extends AgentNames {
  /** Null if the program's models may have any name. */
  readonly providers: readonly string[] | null;
  /** A directory's agents already have the texts of their sections' files. */
  readonly areFilesRead: boolean;
}

export interface GivenAgents {
  readonly settings: readonly AgentSettings[];
  readonly problems: readonly string[];
}

/**
 * Agents given by a program, validated by the rules of the configuration file. Nothing is filled in from the environment.
 * Relative folders start at the working folder.
 */
export function readGivenAgents(entries: readonly AgentEntry[], known: GivenNames): GivenAgents {
  const source: ConfigSource = {
    file: CODE_SOURCE,
    folder: '.',
    found: true,
    isEmpty: false,
    tree: { agents: entries },
    locate: () => null,
  };
  const report = createReport(source);
  const agents = entries.flatMap((entry, index) => readEntry(entry, { index, report }));
  const sections = {
    defaults: {},
    general: {},
    providers: {},
    prices: {},
    channels: {},
    plugins: {},
    pluginList: [],
    written: new Map(),
    unresolved: new Set<string>(),
    agents,
  };
  const { areFilesRead } = known;
  const read = withSectionTexts(sections, { source, report, areFilesRead });
  const merged = mergeAgents(read, { source, report, overrides: [] });
  checkAgents(merged, { source, report, known });
  if (known.providers !== null) checkModels(merged, { report, providers: known.providers });
  return { settings: merged.map(({ settings }) => settings), problems: report.lines() };
}

function readEntry(
  value: unknown,
  { index, report }: { readonly index: number; readonly report: Report },
): readonly IndexedAgent[] {
  const schema = fileSections.agents.element;
  const parsed = schema.safeParse(value);
  if (parsed.success) return [{ index, entry: parsed.data }];
  const context = { schema, value, elsewhere: [], section: 'agents', mayShow: () => true };
  for (const { path, text } of problemsOf(parsed.error, context)) report.add(['agents', index, ...path], text);
  return [];
}
