import type { Command } from 'commander';
import { findPlugins } from '../app/configuration.ts';
import { type Cli, globalsOf } from './cli.ts';
import { channelSchemas } from './platform.ts';

interface CheckOptions {
  readonly json?: boolean;
}

interface ShowOptions extends CheckOptions {
  readonly origin?: boolean;
  readonly agent?: string;
}

export function addConfig(program: Command, cli: Cli): void {
  const group = program
    .command('config')
    .description('Check the configuration, or show what is in force.')
    .addHelpText('after', EXAMPLES);
  group
    .command('check')
    .description('Report everything that is wrong with the configuration and its prompts.')
    .option('--json', 'one JSON object: ok, file, problems')
    .action(async ({ json = false }: CheckOptions, own: Command) => {
      const { checkConfig } = await import('./config.ts');
      const { load, plugins } = await findPlugins(cli, globalsOf(own));
      const channels = () => channelSchemas(cli, plugins);
      cli.exit(await checkConfig(cli, { load, channels, json }));
    });
  group
    .command('show')
    .description('Every value in force. Secrets are shown as the file writes them.')
    .option('--origin', 'with the place that each value comes from')
    .option('--agent <id>', 'only the values of this agent')
    .option('--json', 'as JSON')
    .action(async ({ json = false, origin = false, agent }: ShowOptions, own: Command) => {
      const { showConfig } = await import('./config.ts');
      const { load } = await findPlugins(cli, globalsOf(own));
      cli.exit(showConfig(cli, { load, json, origin, agent: agent ?? null }));
    });
}

const EXAMPLES = `
Examples:
  $ strata config check --config bot.toml
  $ strata config show --origin --agent main`;
