import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import {
  type AskedPreview,
  forgetQuestion,
  forgottenReply,
  isEmpty,
  previewRequest,
} from '../../commands/built-in/memory/forget.ts';
import { openCall } from '../../commands/command.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { type ConversationKey, textOf } from '../../domain/message.ts';
import type { TokenedPreview } from '../../memory/forget/forget-target.ts';
import type { InputLine } from '../../util/text/lines.ts';
import { type Cli, globalsOf, withApp, writeJson } from '../cli.ts';
import { inputLines } from '../input-lines.ts';
import { OPERATOR, printReply } from '../invoke.ts';
import { readerOf } from './memory-records.ts';

export interface ForgetRequest {
  readonly conversation: ConversationKey;
  readonly what: string;
  readonly yes: boolean;
  readonly json: boolean;
}

const NO_MATCH = 'Nothing matches, so there is nothing to forget.';

/** Shows what would be deleted, asks in a terminal, and deletes. Without a terminal it requires `--yes`. */
export async function forgetCommand(cli: Cli, own: Command, request: ForgetRequest): Promise<void> {
  await withApp(cli, globalsOf(own), async (app) => {
    const asked = await previewRequest(await callOf(app, request));
    const { preview } = asked;
    if (request.json) return await forgetAsJson(cli, app, { preview, yes: request.yes });
    const isAnswered = request.yes || isEmpty(preview);
    const confirmed = isAnswered ? preview : await confirmedPreview(cli, app, { request, asked });
    if (confirmed !== null && !isEmpty(confirmed))
      return printReply(cli, forgottenReply(await app.services.memories.forget(confirmed), confirmed));
    const reason = confirmed === null ? 'Nothing was deleted. Add --yes to delete it.' : NO_MATCH;
    cli.stderr.write(`${reason}\n`);
    cli.exit(1);
  });
}

async function callOf(app: App, { conversation: key, what }: ForgetRequest, confirm: string | null = null) {
  const { audience } = await findConversation(app.services, key);
  const invocation = { conversation: key, audience, author: OPERATOR, rights: 'operator' } as const;
  const path = ['memory', 'forget'];
  const options = confirm === null ? { id: what } : { id: what, confirm };
  return await openCall(app.services, { ...invocation, path, options }, app.bot.commands.specs);
}

const MAX_ANSWER_BYTES = 1000;

interface Asking {
  readonly request: ForgetRequest;
  readonly asked: AskedPreview;
}

/**
 * Asks in a terminal. A bot may say or learn more until somebody answers, so what would be deleted is looked up again; if
 * it has changed, it is shown again. Null if the answer is no; empty if nothing is left.
 */
async function confirmedPreview(cli: Cli, app: App, { request, asked }: Asking): Promise<TokenedPreview | null> {
  printReply(cli, forgetQuestion(asked));
  if (cli.stdin.isTTY !== true) return null;
  await using lines = inputLines(cli.stdin, { maxBytes: MAX_ANSWER_BYTES, signal: cli.signal });
  for (let { preview: shown } = asked; await isConfirmed(cli, lines); ) {
    const again = await previewRequest(await callOf(app, request, shown.token));
    if (again.preview.token === shown.token || isEmpty(again.preview)) return again.preview;
    printReply(cli, forgetQuestion(again));
    shown = again.preview;
  }
  return null;
}

async function isConfirmed({ stderr, signal }: Cli, lines: AsyncIterator<InputLine, void>): Promise<boolean> {
  stderr.write('Delete for good? [y/N] ');
  const { value: line } = await lines.next();
  if (line === undefined) stderr.write('\n');
  return line?.kind === 'line' && !signal.aborted && /^y(?:es)?$/i.test(line.text.trim());
}

async function forgetAsJson(
  cli: Cli,
  app: App,
  { preview, yes }: { readonly preview: TokenedPreview; readonly yes: boolean },
): Promise<void> {
  const isDeleted = yes && !isEmpty(preview);
  const remains = isDeleted ? (await app.services.memories.forget(preview)).remains : null;
  writeJson(cli, { deleted: isDeleted, remains, ...recordOf(preview) });
}

function recordOf({ memories, messages, sentences, summaries, withheld }: TokenedPreview) {
  return {
    memories: memories.map(({ id, text, subjectName, place }) => ({ id, text, about: subjectName, place })),
    messages: messages.map(({ conversation, entry: { seq, author, at, parts } }) => {
      return { conversation, seq, author: author?.name ?? null, at: new Date(at).toISOString(), text: textOf(parts) };
    }),
    sentences: sentences.map(({ conversation, entry: { seq, author }, text, kind, about }) => {
      return { conversation, seq, author: author?.name ?? null, text, kind, about: about.name };
    }),
    summaries,
    withheld,
  };
}

/** Lists the hidden sentences of the conversation's place that await a decision. */
export async function printHeld(cli: Cli, own: Command, key: ConversationKey): Promise<void> {
  await withApp(cli, globalsOf(own), async (app) => {
    const reader = await readerOf(app, key);
    const held = await app.services.memories.held({ reader, author: OPERATOR, rights: 'operator' });
    writeJson(
      cli,
      held.map(({ at, ...sentence }) => ({ ...sentence, at: new Date(at).toISOString() })),
    );
  });
}
