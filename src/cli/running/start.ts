import type { Command } from 'commander';
import { PROCESS_ROLES, type ProcessRole } from '../../bot/options.ts';
import { StrataError } from '../../domain/errors.ts';
import { type Cli, globalsOf } from '../cli.ts';
import { unknownCommand } from '../help.ts';
import { COMMANDS } from '../names.ts';
import { serve, terminalOf } from './serve.ts';

interface Options {
  readonly user?: string;
  readonly role?: string;
}

export function addStart(program: Command, cli: Cli): void {
  program
    .command('start', { isDefault: true })
    .description('Run the bot on the configured platforms, or in this terminal if there are none (default).')
    .allowExcessArguments()
    .option('--user <name>', 'your name in the terminal')
    .option('--role <role>', ROLE_HELP)
    .addHelpText('after', START_HELP)
    .action(async (options: Options, own: Command) => {
      refuseWords(own);
      const role = roleOf(cli, options);
      await serve(cli, { ...globalsOf(own), platforms: 'configured', role, terminal: terminalOf(cli, options) });
    });
}

const ROLE_HELP =
  'gateway (replies), worker (summarises) or all (default); gateway and worker need a shared queue (environment: STRATA_ROLE)';

function roleOf(cli: Cli, { role: flag }: Options): ProcessRole {
  const [name, text] =
    flag === undefined ? ['STRATA_ROLE', cli.environment['STRATA_ROLE']?.trim() ?? ''] : ['--role', flag];
  const role = text === '' ? 'all' : PROCESS_ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  throw new StrataError('USAGE', { problem: `${name} is "${text}". Expected ${PROCESS_ROLES.join(', ')}.` });
}

const START_HELP = `
Examples:
  $ strata
  $ strata start --config bot.toml --data /var/lib/strata
  $ STRATA_QUEUE_URL=redis://127.0.0.1:6379 strata start --role worker`;

/** Commander passes unknown words to the default command, so this suggests the nearest command instead. */
function refuseWords({ args: [word], parent }: Command): void {
  if (word === undefined || parent === null) return;
  if (COMMANDS.some((name) => name === word)) {
    throw new StrataError('USAGE', { problem: `"start" cannot be combined with another command. Run: strata ${word}` });
  }
  throw unknownCommand(word, parent);
}
