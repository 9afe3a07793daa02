import type { Command } from 'commander';
import type { ConversationKey } from '../../domain/message.ts';
import { type Cli, globalsOf } from '../cli.ts';
import { addConversation } from '../options.ts';
import { serve, terminalOf } from './serve.ts';

interface Options {
  readonly conversation?: ConversationKey;
  readonly user?: string;
}

export function addChat(program: Command, cli: Cli): void {
  const command = program
    .command('chat')
    .description('Talk to the bot in this terminal, even if platforms are configured.');
  addConversation(command)
    .option('--user <name>', 'your name')
    .addHelpText('after', CHAT_HELP)
    .action(async (options: Options, own: Command) => {
      const terminal = terminalOf(cli, options);
      await serve(cli, { ...globalsOf(own), platforms: ['terminal'], role: 'all', terminal });
    });
}

const CHAT_HELP = `
Piped input is processed line by line; each reply is printed before the next line is read:
  $ printf 'My name is Ada.\\n/memory list\\n' | strata chat`;
