import type { z } from 'zod';
import { didYouMean } from '../util/did-you-mean.ts';
import type { LoadedConfig } from './load.ts';
import { problemsOf } from './problems.ts';
import { createReport, type Report } from './report.ts';
import { isSecretPath } from './tree.ts';

/** Every problem of the enabled channels, including misspelt names, for `config check` and startup. */
export function channelProblems(loaded: LoadedConfig, schemas: ReadonlyMap<string, z.ZodType>): readonly string[] {
  const report = createReport(loaded.source);
  for (const [name, value] of Object.entries(loaded.config.channels)) {
    const schema = schemas.get(name);
    if (!schema) report.add(['channels', name], unknownChannel(name, [...schemas.keys()]));
    const error = schema?.safeParse(value).error;
    if (schema && error) addProblems(report, { loaded, name, schema, error });
  }
  return report.lines();
}

interface BrokenChannel {
  readonly loaded: LoadedConfig;
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
    report.add([...base, ...problem.path], problem.text);
  }
}

function unknownChannel(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  return near === null
    ? `unknown channel; known: ${known.join(', ') || 'none'}`
    : `unknown channel; did you mean ${near}?`;
}
