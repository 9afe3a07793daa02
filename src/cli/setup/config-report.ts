import { type ChannelSchemas, channelProblems } from '../../config/channels.ts';
import { literalSecrets } from '../../config/literal-secrets.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../config/load.ts';
import { rowsOf, safeValue } from '../../config/rows.ts';
import { valueAt } from '../../config/toml/tree.ts';
import { isStrataError, StrataError } from '../../domain/errors.ts';
import { promptProblemsOf } from '../../prompts/library.ts';
import { formatTable } from '../../util/text/table.ts';
import { type Cli, type ExitCode, widthOf, writeJson } from '../cli.ts';

export interface ConfigCommand {
  readonly load: LoadOptions;
  /** The schemas of the channel adapters. Called after the configuration was read, because plugins add some. */
  readonly channels: () => Promise<ChannelSchemas>;
  /** What does not prevent a start. Called if there are no problems. Default: nothing. */
  readonly warnings?: () => Promise<readonly string[]>;
  readonly json: boolean;
}

type Streams = Pick<Cli, 'stdout' | 'stderr'>;

/**
 * `config check`: reports every problem, including prompts and channels. The exit code is that of wrong usage if there
 * are any.
 */
export async function checkConfig(cli: Streams, command: ConfigCommand): Promise<ExitCode> {
  const { problems, found, secrets } = await examine(command);
  const { file } = command.load;
  const warnings = problems.length === 0 ? [...secrets, ...((await command.warnings?.()) ?? [])] : [];
  if (command.json) writeJson(cli, { ok: problems.length === 0, file, problems, warnings });
  else if (problems.length === 0)
    cli.stdout.write(found ? `${file} is valid.\n` : `There is no ${file}; all settings have their defaults.\n`);
  else cli.stderr.write(`${problems.join('\n')}\n`);
  if (!command.json) for (const warning of warnings) cli.stderr.write(`Warning: ${warning}\n`);
  return problems.length === 0 ? 0 : 2;
}

interface Examined {
  readonly problems: readonly string[];
  readonly found: boolean;
  /** Those that the file itself contains. */
  readonly secrets: readonly string[];
}

async function examine({ load, channels }: ConfigCommand): Promise<Examined> {
  try {
    const loaded = loadConfig(load);
    const problems = [...channelProblems(loaded, await channels()), ...promptProblemsOf(loaded.config.agents)];
    return { problems, found: loaded.source.found, secrets: literalSecrets(loaded.source) };
  } catch (error) {
    if (!isStrataError(error, 'CONFIG_INVALID')) throw error;
    // If a plugin cannot be used, its channels are unknown.
    const schemas = await channels().catch(() => null);
    return {
      problems: schemas === null ? error.data.problems : problemsOf({ ...load, channels: schemas }),
      found: true,
      secrets: [],
    };
  }
}

function problemsOf(load: LoadOptions): readonly string[] {
  try {
    loadConfig(load);
    return [];
  } catch (error) {
    if (!isStrataError(error, 'CONFIG_INVALID')) throw error;
    return error.data.problems;
  }
}

export interface ShowCommand extends Omit<ConfigCommand, 'channels' | 'warnings'> {
  /** Show where each value came from. */
  readonly origin: boolean;
  /** Show only this agent's values; null shows everything. */
  readonly agent: string | null;
}

/** `config show`: the values in use. Secrets are shown as written in the file, never resolved. */
export function showConfig(cli: Streams, command: ShowCommand): ExitCode {
  const loaded = loadConfig(command.load);
  const index = agentIndex(loaded, command.agent);
  const rows = rowsOf(loaded, index);
  if (command.json) {
    const path = index === null ? [] : ['agents', index];
    const value = command.origin ? rows : safeValue(valueAt(loaded.config, path), path, loaded);
    cli.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  } else if (command.origin) {
    const cells = rows.map((row) => [row.path, shownValue(row.value), row.origin]);
    cli.stdout.write(`${formatTable(['key', 'value', 'origin'], cells, widthOf(cli))}\n`);
  } else {
    for (const row of rows) cli.stdout.write(`${row.path} = ${JSON.stringify(row.value)}\n`);
  }
  return 0;
}

function agentIndex(loaded: LoadedConfig, id: string | null): number | null {
  if (id === null) return null;
  const ids = loaded.config.agents.map((agent) => agent.id);
  if (ids.includes(id)) return ids.indexOf(id);
  throw new StrataError('USAGE', { problem: `There is no agent "${id}". Known: ${ids.join(', ')}.` });
}

function shownValue(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
