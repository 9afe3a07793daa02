import type { CommandSpec } from '../../ports/command.ts';
import type { Command } from '../command.ts';
import { compact } from './compact.ts';
import { context } from './context.ts';
import { help } from './help.ts';
import { memory } from './memory/memory.ts';
import { privacy } from './privacy.ts';
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

/** What the built-in commands are called and take. */
export const builtInSpecs: readonly CommandSpec[] = builtInCommands.map((command) => command.spec);
