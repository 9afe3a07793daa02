import type { AgentSettings } from '../config/schema.ts';
import { StrataError } from '../domain/errors.ts';
import type { Author } from '../domain/message.ts';
import type { Requester } from '../memory/rights/permissions.ts';
import { readerFor } from '../memory/rights/policy.ts';
import { withStoredAudience } from '../memory/rights/stored-audience.ts';
import type { CommandInvocation } from '../ports/channel.ts';
import type { Access, CommandSpec } from '../ports/command.ts';
import type { MemoryReader } from '../ports/memory-store.ts';
import type { CommandReply, ReplyCommand } from '../ports/reply.ts';
import type { Conversation } from '../ports/store.ts';
import { makeReply } from './reply.ts';
import type { CommandServices } from './services.ts';

/** A command: its specification, and a handler for each of its actions. */
export interface Command {
  readonly spec: CommandSpec;
  /** By the action's name; empty for the command itself. */
  readonly run: Readonly<Record<string, Handler>>;
  /** Completions by option name. */
  readonly suggest?: Readonly<Record<string, Suggester>>;
}

export type Handler = (call: Call) => Promise<CommandReply>;
export type Suggester = (call: Call) => Promise<readonly Suggestion[]>;

export interface Suggestion {
  readonly label: string;
  readonly value: string;
}

/** One invocation, with what handlers need. */
export interface Call {
  readonly services: CommandServices;
  readonly invocation: CommandInvocation;
  readonly specs: readonly CommandSpec[];
  /** Null if no message of the place is stored yet. */
  readonly conversation: Conversation | null;
  readonly agent: AgentSettings;
  /** Determines which memories the place can read. */
  readonly reader: MemoryReader;
}

export async function openCall(
  services: CommandServices,
  given: CommandInvocation,
  specs: readonly CommandSpec[],
): Promise<Call> {
  const invocation = await withStoredAudience(services.store, given);
  const conversation = await services.store.conversations.find(invocation.conversation);
  const agent = services.agents.agentFor(invocation.conversation);
  // The platform reports the current audience with each command; the stored one may be outdated.
  const reader = readerFor({ key: invocation.conversation, audience: invocation.audience }, agent);
  return { services, invocation, specs, conversation, agent, reader };
}

export function optionOf(call: Call, name: string): string | null {
  return call.invocation.options[name] ?? null;
}

/** Returns a required option. The parser guarantees that it exists. */
export function requiredOption(call: Call, name: string): string {
  return optionOf(call, name) ?? '';
}

/** The line that people type for a command in this place: `/status`, or `/strata status`. */
export function typed({ services, invocation }: Call, command: string): string {
  return `${services.commandPrefix(invocation.conversation)}${command}`;
}

/** The person whom an option consists of, by a mention of the platform; null for any other text. */
export function mentionedIn({ invocation }: Call, name: string): Author | null {
  const text = invocation.options[name]?.trim();
  return invocation.mentions?.find((person) => text === `@${person.name}`) ?? null;
}

export function pageOf(call: Call): number {
  return Number(optionOf(call, 'page') ?? '1');
}

/** The command as it was called, for running it again with another page. */
export function sameCommand({ invocation }: Call): ReplyCommand {
  return { path: invocation.path, options: invocation.options };
}

export function commandTo(path: string, options: Readonly<Record<string, string>> = {}): ReplyCommand {
  return { path: path.split(' '), options };
}

/** The answer of every command in a place without messages. */
export function nothingYet(title: string): CommandReply {
  return makeReply(title, { text: 'There are no messages here yet.' });
}

/** The person who asks, with their permissions in the place. */
export function requesterOf({ reader, invocation }: Call): Requester {
  const { author, rights, mentions = [] } = invocation;
  return { reader, author, rights, mentions };
}

/** In a DM the person manages the place; elsewhere the platform decides who does. */
export function mayModerate({ rights, audience }: Pick<CommandInvocation, 'rights' | 'audience'>): boolean {
  return rights !== 'member' || audience === 'dm';
}

/** Throws `COMMAND_FORBIDDEN`. The handler checks `subject` itself, because it knows who the data is about. */
export function assertAccess(access: Access, invocation: CommandInvocation): void {
  const command = invocation.path.join(' ');
  if (access === 'moderator' && !mayModerate(invocation)) {
    throw new StrataError('COMMAND_FORBIDDEN', { command, needs: 'the people who manage this place' });
  }
  if (access === 'operator' && invocation.rights !== 'operator') {
    throw new StrataError('COMMAND_FORBIDDEN', { command, needs: 'the operators of the bot' });
  }
}
