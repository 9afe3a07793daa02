import { describe, StrataError } from '../domain/errors.ts';
import type { CommandInvocation } from '../ports/channel.ts';
import type { CommandReply } from '../ports/reply.ts';
import { assertAccess, type Command, openCall, type Suggestion } from './command.ts';
import { checkOptions, resolveAction } from './parse.ts';
import { cleanReply, failureReply } from './reply.ts';
import type { CommandServices } from './services.ts';
import type { CommandSpec } from './spec.ts';
import { allCommands, commandSpecs } from './specs.ts';

/** The commands of a running bot, the same on every platform. */
export interface Commands {
  readonly specs: readonly CommandSpec[];
  /** Never rejects: the reply describes the error. Permissions are checked here, whatever the platform has checked. */
  run(invocation: CommandInvocation): Promise<CommandReply>;
  /** Completions for an option while it is typed: at most 25 that match the text so far. */
  suggest(invocation: CommandInvocation, option: string): Promise<readonly Suggestion[]>;
}

const MAX_SUGGESTIONS = 25;

export function createCommands(parts: CommandServices): Commands {
  const fail = (invocation: CommandInvocation, error: unknown): CommandReply => {
    if (!(error instanceof StrataError)) {
      const fields = {
        command: invocation.path.join(' '),
        conversation: invocation.conversation,
        cause: describe(error),
      };
      parts.log.error('a command failed', fields);
      parts.events.emit({ kind: 'error.internal', conversation: invocation.conversation, message: describe(error) });
    }
    return failureReply(error, parts.commandPrefix(invocation.conversation));
  };
  return {
    specs: commandSpecs,
    async run(invocation) {
      try {
        return cleanReply(await answer(parts, invocation));
      } catch (error) {
        return cleanReply(fail(invocation, error));
      }
    },
    async suggest(invocation, option) {
      try {
        return await complete(parts, invocation, option);
      } catch {
        return [];
      }
    },
  };
}

async function answer(parts: CommandServices, invocation: CommandInvocation): Promise<CommandReply> {
  const { command, action } = resolveAction(invocation.path, commandSpecs);
  assertAccess(action.access, invocation);
  const options = checkOptions(command, action, invocation.options);
  const path = action.name === '' ? [command.name] : [command.name, action.name];
  const handler = commandOf(command).run[action.name];
  if (handler === undefined) throw new Error(`/${path.join(' ')} has no handler`);
  return await handler(await openCall(parts, { ...invocation, path, options }, commandSpecs));
}

async function complete(
  parts: CommandServices,
  invocation: CommandInvocation,
  option: string,
): Promise<readonly Suggestion[]> {
  const { command, action } = resolveAction(invocation.path, commandSpecs);
  assertAccess(action.access, invocation);
  const suggester = commandOf(command).suggest?.[option];
  if (suggester === undefined) return [];
  const typed = (invocation.options[option] ?? '').toLowerCase();
  const all = await suggester(await openCall(parts, invocation, commandSpecs));
  const fitting = all.filter(({ label, value }) => `${value} ${label}`.toLowerCase().includes(typed));
  return fitting.slice(0, MAX_SUGGESTIONS);
}

function commandOf(spec: CommandSpec): Command {
  const command = allCommands.find((candidate) => candidate.spec === spec);
  if (command === undefined) throw new Error(`/${spec.name} is not implemented`);
  return command;
}
