import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { renderReply } from '../commands/lines/render.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import type { Author, ConversationKey } from '../domain/message.ts';
import type { CommandInvocation } from '../ports/channel.ts';
import type { CommandReply } from '../ports/reply.ts';
import { type Cli, globalsOf, widthOf, withApp } from './cli.ts';

/** The person at the machine is an operator. */
export const OPERATOR: Author = { id: 'local', name: 'operator', kind: 'person' };

export interface Invocation {
  readonly conversation: ConversationKey;
  readonly path: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  /** Print only the file of the answer. */
  readonly fileOnly?: boolean;
}

/** Runs a chat command on the command line with all its pages and prints the answer. */
export async function runCommand(cli: Cli, own: Command, invocation: Invocation): Promise<void> {
  await withApp(cli, globalsOf(own), async (app) => {
    const replies = await invokeAll(app, invocation);
    for (const reply of replies) {
      if (invocation.fileOnly === true && reply.file !== null) cli.stdout.write(`${reply.file.text.trimEnd()}\n`);
      else printReply(cli, reply);
    }
    if (replies.some((reply) => reply.tone === 'error')) cli.exit(1);
  });
}

/** The answer of a chat command with all its pages. */
async function invokeAll(app: App, { conversation: key, path, options }: Invocation): Promise<readonly CommandReply[]> {
  const { audience } = await findConversation(app.services, key);
  const base: CommandInvocation = { conversation: key, audience, author: OPERATOR, rights: 'operator', path, options };
  const replies: CommandReply[] = [];
  for (let next: CommandInvocation | null = base; next !== null; ) {
    const reply: CommandReply = await app.bot.commands.run(next);
    replies.push(reply);
    next = reply.page?.next ? { ...base, ...reply.page.next } : null;
  }
  return replies;
}

/** Data goes to standard output, refusals to standard error. Pages and buttons are left out. */
export function printReply(cli: Cli, reply: CommandReply): void {
  const text = renderReply({ ...reply, page: null, actions: [] }, { color: false, specs: [], width: widthOf(cli) });
  (reply.tone === 'error' ? cli.stderr : cli.stdout).write(`${text}\n`);
}
