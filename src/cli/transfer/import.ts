import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { idleMsOf } from '../../config/directory.ts';
import { estimateParts } from '../../context/measure/tokens.ts';
import { parseKey } from '../../domain/key.ts';
import type { Audience, Author, ConversationKey, TextPart } from '../../domain/message.ts';
import type { Append } from '../../ports/store.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { cleanText, counted } from '../../util/text/text.ts';
import { type Cli, globalsOf, tellIfStopped, withApp } from '../cli.ts';
import { checkInput, type FileMessage, readMessages } from '../jsonl.ts';
import { requireConversation } from '../options.ts';

interface Options {
  readonly conversation: ConversationKey;
}

export function addImport(program: Command, cli: Cli): void {
  const command = program
    .command('import <file>')
    .description(
      'Append the messages of a JSON Lines file to a conversation. Messages that are already stored are skipped.',
    );
  requireConversation(command)
    .addHelpText('after', HELP)
    .action(async (file: string, options: Options, own: Command) => {
      checkInput(file);
      await withApp(cli, { ...globalsOf(own), create: true }, async (app) => {
        const counts = await importFile(cli, app, { file, conversation: options.conversation });
        const known = counts.known === 0 ? '' : ` ${counted(counts.known, 'was', 'were')} already stored.`;
        cli.stderr.write(
          `Imported ${counted(counts.stored, 'message', 'messages')} into ${options.conversation}.${known}\n`,
        );
        tellIfStopped(cli);
      });
    });
}

const HELP = `
Each line is a JSON object with id, author and text, and optionally at (ISO time) and role (user or assistant).

Example:
  $ strata import chat.jsonl --conversation terminal:local:main`;

async function importFile(
  cli: Cli,
  app: App,
  source: { readonly file: string; readonly conversation: ConversationKey },
): Promise<{ readonly stored: number; readonly known: number }> {
  let [stored, known] = [0, 0];
  try {
    for await (const message of readMessages(source.file, cli.signal)) {
      if (cli.signal.aborted) break;
      const isNew = await storeMessage(app, source.conversation, message);
      if (isNew) stored += 1;
      else known += 1;
    }
  } finally {
    app.bot.changed(source.conversation);
  }
  return { stored, known };
}

/** Returns false if a message with this id is already stored. */
export async function storeMessage(app: App, conversation: ConversationKey, message: FileMessage): Promise<boolean> {
  const { agents, clock, store } = app.services;
  const now = clock.now();
  const append: Append = {
    conversation,
    audience: await audienceOf(app, conversation),
    message: {
      externalId: message.id,
      role: message.role,
      author: authorOf(message),
      parts: partsOf(message),
      replyTo: null,
      mentions: [],
      tokens: estimateParts(partsOf(message)),
      at: message.at ?? now,
    },
    wantsReply: false,
    claimLeaseMs: null,
    idleExtractMs: idleMsOf(agents.agentFor(conversation)),
    isImported: true,
    now,
  };
  const { kind, durable } = await store.transcript.append(append);
  await durable;
  return kind === 'stored';
}

export function authorOf({ author, role }: FileMessage): Author {
  return { id: author, name: oneLine(author), kind: role === 'assistant' ? 'bot' : 'person' };
}

/** A terminal belongs to one person. Other known places keep their audience, and new ones count as private. */
export async function audienceOf({ services }: App, conversation: ConversationKey): Promise<Audience> {
  if (parseKey(conversation).platform === 'terminal') return 'dm';
  return (await services.store.conversations.find(conversation))?.audience ?? 'private';
}

function partsOf({ text }: FileMessage): readonly TextPart[] {
  return text === '' ? [] : [{ kind: 'text', text: cleanText(text) }];
}
