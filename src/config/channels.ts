import type { z } from 'zod';
import { didYouMean } from '../util/text/did-you-mean.ts';
import { problemsOf } from './problems.ts';
import { createReport, type Report } from './report.ts';
import type { Config } from './schema.ts';
import type { ConfigSource } from './toml/source.ts';
import { isSecretPath, type Path, pathKey } from './toml/tree.ts';

/** The part of a loaded configuration that belongs to the channels. */
interface ChannelTables {
  readonly config: Pick<Config, 'channels'>;
  /** How the file writes a value that came from the environment; null for all others. */
  writtenAs(path: Path): string | null;
  /** Paths by `pathKey` whose variable is missing, which is reported already. Default: none. */
  readonly unresolved?: ReadonlySet<string>;
}

/** By the name of the channel. */
export type ChannelSchemas = ReadonlyMap<string, z.ZodType>;

/** Every problem of the enabled channels, including misspelt names, for startup. */
export function channelProblems(
  loaded: ChannelTables & { readonly source: ConfigSource },
  schemas: ChannelSchemas,
): readonly string[] {
  const report = createReport(loaded.source);
  checkChannels(loaded, schemas, report);
  return report.lines();
}

/** The same for a report that has other problems, too. */
export function checkChannels(loaded: ChannelTables, schemas: ChannelSchemas, report: Report): void {
  for (const [name, value] of Object.entries(loaded.config.channels)) {
    const schema = schemas.get(name);
    if (!schema) report.add(['channels', name], unknownChannel(name, [...schemas.keys()]));
    const error = schema?.safeParse(value).error;
    if (schema && error) addProblems(report, { loaded, name, schema, error });
  }
}

interface BrokenChannel {
  readonly loaded: ChannelTables;
  readonly name: string;
  readonly schema: z.ZodType;
  readonly error: z.ZodError;
}

function addProblems(report: Report, broken: BrokenChannel): void {
  const { loaded, name, schema, error } = broken;
  const base = ['channels', name];
  const value = loaded.config.channels[name] ?? {};
  const mayShow = (path: readonly (string | number)[]): boolean =>
    !isSecretPath(path) && loaded.writtenAs([...base, ...path]) === null;
  for (const problem of problemsOf(error, { schema, value, elsewhere: [], section: 'channels', mayShow })) {
    const path = [...base, ...problem.path];
    if (problem.isUnknownKey || loaded.unresolved?.has(pathKey(path)) !== true) report.add(path, problem.text);
  }
}

function unknownChannel(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  return near === null
    ? `unknown channel; known: ${known.join(', ') || 'none'}`
    : `unknown channel; did you mean ${near}?`;
}
