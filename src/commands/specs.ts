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
import type { ActionSpec, CommandSpec } from './spec.ts';
import { status } from './status.ts';
import { summaries } from './summaries.ts';
import { transcript } from './transcript.ts';

/** Every command, in the order of `/help`. */
export const allCommands: readonly Command[] = [
  help,
  status,
  context,
  compact,
  summaries,
  memory,
  transcript,
  reset,
  privacy,
];

export const commandSpecs: readonly CommandSpec[] = allCommands.map((command) => command.spec);

export type ReadCommand =
  | { readonly kind: 'command'; readonly command: ReplyCommand }
  /** The answer to an unknown command or wrong usage. */
  | { readonly kind: 'refused'; readonly reply: CommandReply };

/** Parses one typed line as a command of the bot. Never throws. `prefix` is how commands begin there. */
export function readCommandLine(line: string, prefix = '/'): ReadCommand {
  try {
    return { kind: 'command', command: parseCommandLine(line, commandSpecs) };
  } catch (error) {
    return { kind: 'refused', reply: failureReply(error, prefix) };
  }
}

/** The action of a command; null if it is not one of ours. */
export function actionOf({ path: [name, sub] }: Pick<ReplyCommand, 'path'>): ActionSpec | null {
  const spec = commandSpecs.find((candidate) => candidate.name === name);
  return spec?.actions.find((action) => action.name === (sub ?? spec.otherwise)) ?? null;
}

/** Commands that can't be undone ask for confirmation first. */
export function asksConfirmation(command: ReplyCommand): boolean {
  return actionOf(command)?.irreversible ?? false;
}

/** The line to type for a command, on platforms without buttons. */
export function formatCommand(command: ReplyCommand): string {
  return formatCommandLine(command, commandSpecs);
}
