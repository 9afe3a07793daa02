import type { Command } from 'commander';
import { findPlugins } from '../../app/configuration.ts';
import { type Cli, globalsOf } from '../cli.ts';
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
    .description('Check the configuration, or show the values in use.')
    .addHelpText('after', EXAMPLES);
  group
    .command('check')
    .description(
      'Report all errors in the configuration and its prompts, windows that are too small for their thresholds, and secrets in the file.',
    )
    .option('--json', 'print one JSON object: ok, file, problems, warnings')
    .action(async ({ json = false }: CheckOptions, own: Command) => {
      const { checkConfig } = await import('./config-report.ts');
      const { load, plugins } = await findPlugins(cli, globalsOf(own));
      const channels = () => channelSchemas(cli, plugins);
      const warnings = async () => (await import('./window-warnings.ts')).windowWarnings(cli, globalsOf(own));
      cli.exit(await checkConfig(cli, { load, channels, warnings, json }));
    });
  group
    .command('show')
    .description('Show every value in use. Secrets are shown as written in the file, for example env:NAME.')
    .option('--origin', 'show where each value comes from')
    .option('--agent <id>', 'show only the values of this agent')
    .option('--json', 'print JSON')
    .action(async ({ json = false, origin = false, agent }: ShowOptions, own: Command) => {
      const { showConfig } = await import('./config-report.ts');
      const { load } = await findPlugins(cli, globalsOf(own));
      cli.exit(showConfig(cli, { load, json, origin, agent: agent ?? null }));
    });
}

const EXAMPLES = `
Examples:
  $ strata config check --config bot.toml
  $ strata config show --origin --agent main`;
