import type { Command } from 'commander';
import { StrataError } from '../domain/errors.ts';
import { didYouMean } from '../util/text/did-you-mean.ts';

/**
 * `help` in the program and in its groups, and the refusal of unknown names. Commander's own `help` takes one word, and its
 * `--help` shows the usage of the group for an unknown one.
 */
export function addHelp(group: Command): void {
  if (group.commands.length === 0) return;
  for (const child of group.commands) addHelp(child);
  group.on('command:*', ([word = '']: readonly string[]) => {
    throw unknownCommand(word, group);
  });
  group.addHelpText('before', () => {
    const word = group.args.find((arg) => arg !== '--help' && arg !== '-h');
    if (word !== undefined && !word.startsWith('-')) find(group, [word]);
    return '';
  });
  group
    .helpCommand(false)
    .command('help [command...]')
    .description('Show the help of a command.')
    .action((words: readonly string[]) => find(group, words).outputHelp());
}

const MAX_SHOWN = 40;

function find(group: Command, [word, ...rest]: readonly string[]): Command {
  if (word === undefined || group.commands.length === 0) return group;
  const found = group.commands.find((command) => command.name() === word || command.aliases().includes(word));
  if (found !== undefined) return find(found, rest);
  throw unknownCommand(word, group);
}

/** Names the closest command of the group. */
export function unknownCommand(word: string, group: Command): StrataError {
  const shown = word.slice(0, MAX_SHOWN);
  const path = pathOf(group);
  const meant = didYouMean(
    shown,
    group.commands.map((command) => command.name()),
  );
  const list = ['strata', ...path, '--help'].join(' ');
  const hint = meant === null ? `\`${list}\` lists the commands.` : `Did you mean ${[...path, meant].join(' ')}?`;
  return new StrataError('USAGE', { problem: `There is no command "${[...path, shown].join(' ')}". ${hint}` });
}

/** The names from the program to the command, without the program's. */
function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}
