import type { z } from 'zod';
import { describe } from '../domain/errors.ts';
import { builtInNames, type KnownNames } from './known.ts';
import { problemsOf } from './problems.ts';
import type { Report } from './report.ts';
import type { Sections } from './sections.ts';
import { isSecretPath, type Path, pathKey } from './toml/tree.ts';

/** A plugin as seen by the configuration: the schema of its table, and the names agents can use with it. */
export interface Extension {
  /** As in `[plugins.NAME]`. */
  readonly name: string;
  readonly settings: z.ZodType;
  /** Called with parsed settings. Errors it throws are reported at the plugin's place in the file. */
  open(settings: unknown): KnownNames;
}

/** A plugin as listed in the file: `plugins = ["./dice.ts"]`, or `file` in `[plugins.dice]`. */
export interface PluginEntry {
  readonly name: string;
  /** As written in the file. */
  readonly file: string;
  /** Its path in the file. */
  readonly path: Path;
}

export function pluginEntries(sections: Pick<Sections, 'plugins' | 'pluginList'>): readonly PluginEntry[] {
  const { plugins, pluginList } = sections;
  return Object.entries(plugins).map(([name, { file }]) => {
    const index = pluginList.indexOf(file);
    return { name, file, path: index === -1 ? ['plugins', name, 'file'] : ['plugins', index] };
  });
}

/**
 * Validates each plugin's table with its schema and opens the plugin. Null if a plugin is broken: its names are unknown
 * then.
 */
export function openExtensions(
  extensions: readonly Extension[],
  { sections, report }: { readonly sections: Sections; readonly report: Report },
): KnownNames | null {
  const names = extensions.map((extension) => openOne(extension, { sections, report }));
  const known = names.filter((each) => each !== null);
  if (known.length < Object.keys(sections.plugins).length) return null;
  return {
    tools: [...builtInNames.tools, ...known.flatMap(({ tools }) => tools)],
    engines: [...builtInNames.engines, ...known.flatMap(({ engines }) => engines)],
    providers: [...builtInNames.providers, ...known.flatMap(({ providers }) => providers)],
    stores: [...builtInNames.stores, ...known.flatMap(({ stores }) => stores)],
  };
}

function openOne(
  { name, settings: schema, open }: Extension,
  { sections, report }: { readonly sections: Sections; readonly report: Report },
): KnownNames | null {
  const { file: _file, ...value } = sections.plugins[name] ?? { file: '' };
  const base = ['plugins', name];
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const mayShow = (path: Path) => !isSecretPath(path) && !sections.written.has(pathKey([...base, ...path]));
    const context = { schema, value, elsewhere: [], section: 'plugins', mayShow };
    for (const { path, text } of problemsOf(parsed.error, context)) report.add([...base, ...path], text);
    return null;
  }
  try {
    return open(parsed.data);
  } catch (error) {
    const entry = pluginEntries(sections).find((each) => each.name === name);
    report.add(entry?.path ?? base, describe(error));
    return null;
  }
}
