import type { ActionSpec, CommandSpec, OptionSpec } from '../ports/command.ts';
import type { CommandReply, ReplyCommand } from '../ports/reply.ts';
import type { Command } from './command.ts';
import { compact } from './compact.ts';
import { context } from './context.ts';
import { help } from './help.ts';
import { memory } from './memory.ts';
import { formatCommandLine, parseCommandLine } from './parse.ts';
import { privacy } from './privacy.ts';
import { failureReply } from './reply.ts';
import { reset } from './reset.ts';
import { status } from './status.ts';
import { summaries } from './summaries.ts';
import { transcript } from './transcript.ts';
import { why } from './why.ts';

/** The commands of every bot, in the order of `/help`. */
export const builtInCommands: readonly Command[] = [
  help,
  status,
  context,
  why,
  compact,
  summaries,
  memory,
  transcript,
  reset,
  privacy,
];

export const builtInSpecs: readonly CommandSpec[] = builtInCommands.map((command) => command.spec);

export type ReadCommand =
  | { readonly kind: 'command'; readonly command: ReplyCommand }
  /** The answer to an unknown command or wrong usage. */
  | { readonly kind: 'refused'; readonly reply: CommandReply };

/**
 * Parses one typed line as a command of the bot. Never throws. `prefix` is how commands begin there. What a form can
 * ask for may be missing: see `optionsToAsk`.
 */
export function readCommandLine(
  line: string,
  { specs, prefix = '/' }: { readonly specs: readonly CommandSpec[]; readonly prefix?: string },
): ReadCommand {
  try {
    return { kind: 'command', command: parseCommandLine(line, specs) };
  } catch (error) {
    return { kind: 'refused', reply: failureReply(error, prefix) };
  }
}

/** The action of a command; null if it is not one of ours. */
export function actionOf(
  { path: [name, sub] }: Pick<ReplyCommand, 'path'>,
  specs: readonly CommandSpec[],
): ActionSpec | null {
  const spec = specs.find((candidate) => candidate.name === name);
  return spec?.actions.find((action) => action.name === (sub ?? spec.otherwise)) ?? null;
}

/** Commands that can't be undone ask for confirmation first. */
export function asksConfirmation(command: ReplyCommand, specs: readonly CommandSpec[]): boolean {
  return actionOf(command, specs)?.irreversible ?? false;
}

/** What the command lacks and a form can ask for. */
export function optionsToAsk(command: ReplyCommand, specs: readonly CommandSpec[]): readonly OptionSpec[] {
  const options = actionOf(command, specs)?.options ?? [];
  return options.filter(({ name, required, inForm }) => required && inForm && !command.options[name]?.trim());
}

/** The line to type for a command, on platforms without buttons. */
export function formatCommand(command: ReplyCommand, specs: readonly CommandSpec[]): string {
  return formatCommandLine(command, specs);
}
