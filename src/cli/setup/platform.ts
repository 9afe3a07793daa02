import type { Command } from 'commander';
import { type Configuration, findPlugins, withPlugins } from '../../app/configuration.ts';
import type { ChannelAdapter } from '../../bot/adapters.ts';
import { allCommands } from '../../commands/custom/custom-commands.ts';
import { type ChannelSchemas, channelProblems } from '../../config/channels.ts';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import { resolveReferences } from '../../config/references.ts';
import { readSource } from '../../config/toml/source.ts';
import { isSecretPath, type Path } from '../../config/toml/tree.ts';
import { StrataError } from '../../domain/errors.ts';
import type { LoadedPlugin } from '../../plugins/load.ts';
import type { CommandSpec } from '../../ports/command.ts';
import { cleanText } from '../../util/text/text.ts';
import { type Cli, globalsOf } from '../cli.ts';
import { COMMANDS } from '../names.ts';

/** The schemas of the channels' configuration sections, by name. */
export async function channelSchemas(cli: Cli, plugins: readonly LoadedPlugin[]): Promise<ChannelSchemas> {
  const rows = Object.entries((await withPlugins(await cli.adapters(), plugins)).channels).map(
    async ([name, load]) => [name, (await load()).settings] as const,
  );
  return new Map(await Promise.all(rows));
}

/** Commands of a platform, for example `strata discord invite`. Loaded only when used. */
export async function addPlatform(program: Command, cli: Cli, argv: readonly string[]): Promise<void> {
  const [first, second] = program.parseOptions([...argv]).operands;
  const name = first === 'help' ? second : first;
  if (name === undefined || COMMANDS.some((known) => known === name)) return;
  const adapter = await findAdapter(program, cli, name);
  if (adapter !== undefined && adapter.tasks.length > 0) addTasks(program, cli, { name, adapter });
}

/** Plugins are imported only if no built-in adapter has the name. */
async function findAdapter(program: Command, cli: Cli, name: string): Promise<ChannelAdapter | undefined> {
  const own = (await cli.adapters()).channels[name];
  if (own !== undefined) return await own();
  const { load, plugins } = await findPlugins(cli, globalsOf(program));
  if (plugins.length === 0) return undefined;
  loadConfig(load);
  return await (await withPlugins(await cli.adapters(), plugins)).channels[name]?.();
}

function addTasks(
  program: Command,
  cli: Cli,
  { name, adapter }: { readonly name: string; readonly adapter: ChannelAdapter },
): void {
  const group = program.command(name).description(`Commands of the ${name} channel.`);
  for (const task of adapter.tasks) {
    group
      .command(task.name)
      .description(task.description)
      .action(async (_options: object, own: Command) => {
        const { load, plugins } = await findPlugins(cli, globalsOf(own));
        const environment = task.needsSecrets === false ? withPlaceholders(load, name) : load.environment;
        const { settings, commandSpecs } = await settingsOf(cli, name, { load: { ...load, environment }, plugins });
        const text = await task.run(settings, { commandSpecs });
        cli.stdout.write(`${cleanText(text)}\n`);
      });
  }
}

/** As long as any secret has to be. */
const PLACEHOLDER = '0'.repeat(64);

/** The environment with values for the credentials of a channel's table whose variables are missing. */
function withPlaceholders({ file, explicit, environment }: LoadOptions, name: string): LoadOptions['environment'] {
  const { tree } = readSource(file, { explicit });
  const enabled = (path: Path): boolean => path[0] === 'channels' && path[1] === name && isCredential(path);
  const { problems } = resolveReferences(tree, { environment, enabled });
  return { ...environment, ...Object.fromEntries(problems.map(({ variable }) => [variable, PLACEHOLDER])) };
}

/** What a platform gives out when the app is created. */
function isCredential(path: Path): boolean {
  return isSecretPath(path) || path.at(-1) === 'client_id';
}

interface TaskInput {
  readonly settings: unknown;
  readonly commandSpecs: readonly CommandSpec[];
}

/** Validates the channel's section as at startup, without opening the store or anything else. */
async function settingsOf(cli: Cli, name: string, { load, plugins }: Configuration): Promise<TaskInput> {
  const loaded = loadConfig(load);
  const problems = channelProblems(loaded, await channelSchemas(cli, plugins));
  if (problems.length > 0) throw new StrataError('CONFIG_INVALID', { file: loaded.source.file, problems });
  const commands = allCommands(plugins.flatMap((plugin) => plugin.parts().commands));
  return { settings: loaded.config.channels[name] ?? {}, commandSpecs: commands.map(({ spec }) => spec) };
}
