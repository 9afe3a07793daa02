import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { AgentSettings } from '../../config/schema.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import { builtInPrompts, createPromptLibrary, promptProblemsOf } from '../../prompts/library.ts';
import { baseLine } from '../../prompts/template.ts';
import { promptNames, promptSourceOf } from '../../prompts/variables.ts';
import { makeFolder } from '../../util/files/make-folder.ts';
import { readText } from '../../util/files/text-file.ts';
import { didYouMean } from '../../util/text/did-you-mean.ts';
import { formatTable } from '../../util/text/table.ts';
import { type Cli, type ExitCode, widthOf, writeJson } from '../cli.ts';

type Streams = Pick<Cli, 'stdout' | 'stderr'>;

/** `prompts list`: the file used for each prompt of each agent. */
export function listPrompts(
  cli: Streams,
  command: { readonly agents: readonly AgentSettings[]; readonly json: boolean },
): ExitCode {
  const library = createPromptLibrary();
  const rows = command.agents.flatMap((agent) =>
    library.list(promptSourceOf(agent)).map((prompt) => ({ agent: agent.id, ...prompt })),
  );
  if (command.json) {
    for (const row of rows) writeJson(cli, row);
    return 0;
  }
  const cells = rows.map((row) => [
    row.agent,
    row.name,
    row.hash,
    row.outdated ? `${row.origin} (the built-in has changed since)` : row.origin,
    relative('.', row.file),
  ]);
  cli.stdout.write(`${formatTable(['agent', 'prompt', 'hash', 'origin', 'file'], cells, widthOf(cli))}\n`);
  return 0;
}

/** `prompts check`: compiles and renders every prompt of every agent. */
export function checkPrompts(
  cli: Streams,
  command: { readonly agents: readonly AgentSettings[]; readonly json: boolean },
): ExitCode {
  const problems = promptProblemsOf(command.agents);
  if (command.json) writeJson(cli, { ok: problems.length === 0, problems });
  else if (problems.length === 0) cli.stdout.write(`All ${promptNames.length} prompts are valid.\n`);
  else cli.stderr.write(`${problems.join('\n')}\n`);
  return problems.length === 0 ? 0 : 2;
}

export interface EjectCommand {
  /** Names of the prompts; empty means all. */
  readonly names: readonly string[];
  /** The folder to write to. */
  readonly folder: string;
  readonly language: string;
  /** Overwrite existing files. */
  readonly force: boolean;
}

/** `prompts eject`: copies built-in prompts for editing. */
export function ejectPrompts(cli: Streams, command: EjectCommand): ExitCode {
  const names = command.names.length > 0 ? command.names.map(knownName) : promptNames;
  const source = { language: command.language, folder: '' };
  const copies = createPromptLibrary({ builtIn: builtInPrompts })
    .list(source)
    .filter((prompt) => names.includes(prompt.name))
    .map((prompt) => ({ ...prompt, target: join(command.folder, `${prompt.name}.md.hbs`) }));
  const present = copies.find((copy) => existsSync(copy.target));
  if (present && !command.force) {
    throw new StrataError('USAGE', { problem: `${present.target} already exists. Add --force to overwrite it.` });
  }
  for (const copy of copies) write(copy.target, baseLine(copy.hash) + readText(copy.file));
  for (const copy of copies) cli.stdout.write(`${copy.target}\n`);
  cli.stderr.write(`Set prompts = ${JSON.stringify(command.folder)} in config.toml to use them.\n`);
  return 0;
}

function write(file: string, text: string): void {
  try {
    makeFolder(dirname(resolve(file)));
    writeFileSync(file, text);
  } catch (error) {
    throw new StrataError('USAGE', { problem: `Cannot write ${file}: ${describe(error)}` }, { cause: error });
  }
}

function knownName(name: string): string {
  const known: readonly string[] = promptNames;
  if (known.includes(name)) return name;
  const near = didYouMean(name, known);
  const hint = near === null ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`;
  throw new StrataError('USAGE', { problem: `There is no prompt "${name}". ${hint}` });
}
