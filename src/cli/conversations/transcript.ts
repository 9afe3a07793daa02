import type { Command } from 'commander';
import { shownAuthor, shownText } from '../../commands/format-entry.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import type { ConversationKey, Entry } from '../../domain/message.ts';
import { indentLines } from '../../util/text/foreign-text.ts';
import { cleanText, formatTime } from '../../util/text/text.ts';
import { type Cli, globalsOf, isoOrNull, withApp, writeJson } from '../cli.ts';
import { readCount, requireConversation } from '../options.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly from?: number;
  readonly to?: number;
  readonly json?: boolean;
}

const BATCH = 500;

export function addTranscript(program: Command, cli: Cli): void {
  const command = program.command('transcript').description('Print all messages of a conversation, oldest first.');
  requireConversation(command)
    .option('--from <seq>', 'first message to print', readCount)
    .option('--to <seq>', 'last message to print', readCount)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', '\nExample:\n  $ strata transcript --conversation terminal:local:main --from 10 --to 20')
    .action(async (options: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const conversation = await findConversation(app.services, options.conversation);
        const last = Math.min(options.to ?? Number.POSITIVE_INFINITY, conversation.nextSeq - 1);
        for (let from = options.from ?? 1; from <= last && !cli.signal.aborted; ) {
          const range = { fromSeq: from, toSeq: last, limit: BATCH };
          const entries = await app.services.store.transcript.read(conversation.id, range);
          for (const entry of entries) print(cli, entry, options.json ?? false);
          const newest = entries.at(-1);
          if (newest === undefined) return;
          from = newest.seq + 1;
        }
      });
    });
}

function print(cli: Cli, entry: Entry, json: boolean): void {
  if (json) writeJson(cli, entryJson(entry));
  else cli.stdout.write(`${entryText(entry)}\n`);
}

/** Only the number of a message is at the margin, so that no line of its text looks like another message. */
export function entryText(entry: Entry): string {
  const { seq, at } = entry;
  return `#${seq}  ${formatTime(at)}  ${cleanText(shownAuthor(entry))}: ${indentLines(cleanText(shownText(entry)))}`;
}

/** The JSON form of an entry. */
export function entryJson(entry: Entry) {
  return {
    seq: entry.seq,
    id: entry.externalId,
    role: entry.role,
    author: entry.author,
    text: entry.redactedAt === null ? shownText(entry) : '',
    at: new Date(entry.at).toISOString(),
    turn: entry.turn,
    tokens: entry.tokens,
    parts: entry.parts,
    replyTo: entry.replyTo,
    editedAt: isoOrNull(entry.editedAt),
    redactedAt: isoOrNull(entry.redactedAt),
  };
}
