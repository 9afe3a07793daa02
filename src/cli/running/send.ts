import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { MAX_SEND_BYTES, type OutgoingFile, type SendOptions } from '../../conversation/send.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import { parseKey } from '../../domain/key.ts';
import { AUDIENCES, type Audience, type ConversationKey } from '../../domain/message.ts';
import { checkFile } from '../../util/files/text-file.ts';
import { type Cli, globalsOf, withApp, writeJson } from '../cli.ts';
import { requireConversation } from '../options.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly file: readonly string[];
  readonly id?: string;
  readonly audience?: string;
  readonly json?: boolean;
}

export function addSend(program: Command, cli: Cli): void {
  const command = program
    .command('send')
    .description('Post a message in a conversation. It is stored now, and the running bot posts it once.')
    .argument('[text...]', 'text of the message');
  requireConversation(command)
    .addOption(
      new Option('--file <path>', 'also send this file or image; repeatable').argParser(collect).default([], 'none'),
    )
    .option('--id <id>', 'your own id of the message; sending the same id again does nothing')
    .option(
      '--audience <who>',
      `${AUDIENCES.join(', ')}: who can read it; required if the conversation has no messages yet`,
    )
    .option('--json', 'print the result as JSON')
    .addHelpText('after', SEND_HELP)
    .action(async (words: readonly string[], options: Options, own: Command) => {
      await send(cli, own, { ...options, text: words.join(' ') });
    });
}

const SEND_HELP = `
The store must not be locked: use a Postgres server or a shared embedded store, or stop the bot. The bot that serves
the platform posts the message within seconds, or at its next start. Programs and plugins call bot.send.

Examples:
  $ strata send --conversation discord:811:822 The build is green. --id build-4711
  $ strata send --conversation slack:T1:C1 --file chart.png --audience public`;

function collect(path: string, paths: readonly string[]): readonly string[] {
  return [...paths, path];
}

async function send(cli: Cli, own: Command, options: Options & { readonly text: string }): Promise<void> {
  const { conversation, text, json } = options;
  const files = await Promise.all(options.file.map(readOutgoing));
  const { platform } = parseKey(conversation);
  const globals = globalsOf(own);
  // The platform's adapter splits the text into messages; it does not connect. No bot would post from a mistyped folder.
  const open = { ...globals, platforms: [platform], create: globals.data === null };
  const { seq, isNew } = await withApp(cli, open, (app) =>
    app.bot.send(conversation, { text, files }, sendOptions(options)),
  );
  if (json === true) return writeJson(cli, { conversation, seq, isNew });
  const what = isNew ? 'is stored and will be posted' : 'was already sent; nothing was sent again';
  cli.stdout.write(`#${seq} ${what}.\n`);
}

function sendOptions({ id, audience }: Options): SendOptions {
  return {
    ...(id === undefined ? {} : { id }),
    ...(audience === undefined ? {} : { audience: readAudience(audience) }),
  };
}

function readAudience(text: string): Audience {
  const audience = AUDIENCES.find((known) => known === text);
  if (audience !== undefined) return audience;
  throw new StrataError('USAGE', { problem: `--audience is "${text}". Expected ${AUDIENCES.join(', ')}.` });
}

async function readOutgoing(path: string): Promise<OutgoingFile> {
  try {
    checkFile(path);
    const { size } = await stat(path);
    if (size > MAX_SEND_BYTES) throw new Error(`it has ${size} bytes; the limit is ${MAX_SEND_BYTES}`);
    return { name: basename(path), data: await readFile(path) };
  } catch (error) {
    throw new StrataError('USAGE', { problem: `--file ${path}: ${describe(error)}` }, { cause: error });
  }
}
