import { describe, StrataError } from '../domain/errors.ts';
import type { CommandInvocation } from '../ports/channel.ts';
import type { CommandSpec } from '../ports/command.ts';
import type { CommandReply } from '../ports/reply.ts';
import { waitForOwnTurn } from '../util/async/event-loop.ts';
import { resolveAction } from './actions.ts';
import { assertAccess, type Command, openCall, type Suggestion } from './command.ts';
import { allCommands } from './custom/custom-commands.ts';
import type { CommandDefinition } from './custom/define.ts';
import { checkOptions } from './lines/parse.ts';
import { cleanReply, failureReply } from './reply.ts';
import type { CommandServices } from './services.ts';

/** The commands of a running bot, the same on every platform. */
export interface Commands {
  readonly specs: readonly CommandSpec[];
  /** Never rejects: the reply describes the error. Permissions are checked here, even if the platform has checked them. */
  run(invocation: CommandInvocation): Promise<CommandReply>;
  /** Completions for an option while it is typed: at most 25 that match the text so far. */
  suggest(invocation: CommandInvocation, option: string): Promise<readonly Suggestion[]>;
}

const MAX_SUGGESTIONS = 25;

/** `own` are added to the built-in ones. Throws `COMMAND_INVALID` and `COMMAND_DUPLICATE`. */
export function createCommands(services: CommandServices, own: readonly CommandDefinition[] = []): Commands {
  const commands = allCommands(own);
  const specs = commands.map(({ spec }) => spec);
  const context: Context = { services, commands, specs };
  return {
    specs,
    async run(invocation) {
      await waitForOwnTurn();
      try {
        return cleanReply(await answer(context, invocation));
      } catch (error) {
        return cleanReply(fail(services, invocation, error));
      }
    },
    async suggest(invocation, option) {
      await waitForOwnTurn();
      try {
        return await complete(context, invocation, option);
      } catch (error) {
        if (!(error instanceof StrataError))
          services.log.warn('Completions could not be loaded', logFields(invocation, error));
        return [];
      }
    },
  };
}

interface Context {
  readonly services: CommandServices;
  readonly commands: readonly Command[];
  readonly specs: readonly CommandSpec[];
}

function logFields(invocation: CommandInvocation, error: unknown) {
  return { command: invocation.path.join(' '), conversation: invocation.conversation, cause: describe(error) };
}

function fail(services: CommandServices, invocation: CommandInvocation, error: unknown): CommandReply {
  if (!(error instanceof StrataError)) {
    services.log.error('A command failed', logFields(invocation, error));
    services.events.emit({ kind: 'error.internal', conversation: invocation.conversation, message: describe(error) });
  }
  return failureReply(error, services.commandPrefix(invocation.conversation));
}

async function answer({ services, commands, specs }: Context, invocation: CommandInvocation): Promise<CommandReply> {
  const { command, action } = resolveAction(invocation.path, specs);
  assertAccess(action.access, invocation);
  const options = checkOptions(command, action, invocation.options);
  const path = action.name === '' ? [command.name] : [command.name, action.name];
  const handler = commandOf(command, commands).run[action.name];
  if (handler === undefined) throw new Error(`/${path.join(' ')} has no handler`);
  return await handler(await openCall(services, { ...invocation, path, options }, specs));
}

async function complete(
  { services, commands, specs }: Context,
  invocation: CommandInvocation,
  option: string,
): Promise<readonly Suggestion[]> {
  const { command, action } = resolveAction(invocation.path, specs);
  assertAccess(action.access, invocation);
  const { suggest = {} } = commandOf(command, commands);
  const suggester = suggest[`${action.name} ${option}`] ?? suggest[option];
  if (suggester === undefined) return [];
  const typed = (invocation.options[option] ?? '').toLowerCase();
  const all = await suggester(await openCall(services, invocation, specs));
  const fitting = all.filter(({ label, value }) => `${value} ${label}`.toLowerCase().includes(typed));
  return fitting.slice(0, MAX_SUGGESTIONS);
}

function commandOf(spec: CommandSpec, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => candidate.spec === spec);
  if (command === undefined) throw new Error(`/${spec.name} is not implemented`);
  return command;
}
