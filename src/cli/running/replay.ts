import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { makeKey } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { endsWithin } from '../../util/async/within.ts';
import { checkFile } from '../../util/files/text-file.ts';
import { counted } from '../../util/text/text.ts';
import { type Cli, globalsOf, tellIfStopped, untilStopped, withApp } from '../cli.ts';
import { channelNameOf, checkInput, type FileMessage, readMessages } from '../jsonl.ts';
import { addConversation } from '../options.ts';
import { createProgress, type Progress } from '../progress.ts';
import { audienceOf, authorOf, storeMessage } from '../transfer/import.ts';
import { createTimeline, type Timeline } from './timeline.ts';

interface Options {
  readonly conversation?: ConversationKey;
  readonly reply?: boolean;
  readonly json?: boolean;
}

/** The next message waits at most this long for maintenance, even if its model hangs. */
const SETTLE_LIMIT_MS = 120_000;

export function addReplay(program: Command, cli: Cli): void {
  const command = program
    .command('replay <file>')
    .description(
      'Run the messages of a JSON Lines file through the whole pipeline with the configured model. Messages that are already stored are skipped, so you can resume an interrupted run.',
    );
  addConversation(command)
    .option('--reply', 'also reply to the messages')
    .option('--json', 'print the timeline as one JSON object per line')
    .addHelpText('after', HELP)
    .action(async (file: string, options: Options, own: Command) => {
      checkInput(file);
      const conversation =
        options.conversation ?? makeKey({ platform: 'replay', workspace: 'local', channel: channelNameOf(file) });
      const reply = options.reply ?? false;
      await withApp(cli, { ...globalsOf(own), create: true, listenOnly: !reply }, async (app) => {
        const progress = createProgress(cli.stderr, await countLines(file));
        const { json = false } = options;
        const timeline = createTimeline(cli, app, { conversation, json, onPrint: progress.clear });
        try {
          await app.start();
          const known = await play(cli, { app, timeline, progress, file, conversation, reply });
          progress.clear();
          if (known > 0) cli.stderr.write(`${counted(known, 'message was', 'messages were')} already stored.\n`);
          await timeline.finish();
          tellIfStopped(cli);
        } finally {
          progress.clear();
          timeline.close();
        }
      });
    });
}

const HELP = `
The conversation is replay:local:<name of the file>, unless you set --conversation.

Examples:
  $ strata replay chat.jsonl
  $ strata replay chat.jsonl --reply --json > timeline.jsonl`;

interface Play {
  readonly app: App;
  readonly timeline: Timeline;
  readonly progress: Progress;
  readonly file: string;
  readonly conversation: ConversationKey;
  readonly reply: boolean;
}

/**
 * Plays the messages one by one, each after the work caused by the previous one is finished. Returns how many were
 * already stored.
 */
async function play(cli: Cli, run: Play): Promise<number> {
  let known = 0;
  for await (const message of readMessages(run.file, cli.signal)) {
    if (cli.signal.aborted) break;
    const isNew = await say(run, message);
    if (isNew) await settle(cli, run.app);
    else known += 1;
    run.progress.step();
    if (isNew) await run.timeline.after(message.id);
  }
  return known;
}

async function say({ app, conversation, reply }: Play, message: FileMessage): Promise<boolean> {
  if (message.role === 'assistant') {
    const isNew = await storeMessage(app, conversation, message);
    app.bot.changed(conversation);
    return isNew;
  }
  const receipt = await app.bot.sink.message({
    conversation,
    externalId: message.id,
    author: authorOf(message),
    text: message.text,
    attachments: [],
    replyTo: null,
    mentions: [],
    addressesBot: reply,
    audience: await audienceOf(app, conversation),
    at: message.at ?? app.services.clock.now(),
  });
  return receipt.stored;
}

/** Waits for replies and due jobs. A failed job is retried later and delays nothing. */
async function settle(cli: Cli, app: App): Promise<void> {
  try {
    await untilStopped(cli, app.bot.settled());
    // The check for due maintenance runs one event loop turn after a message is stored.
    await yieldToEventLoop();
    await endsWithin(untilStopped(cli, app.services.queue.idle()), SETTLE_LIMIT_MS);
  } catch (error) {
    // What is owed is done after the next start.
    if (!cli.signal.aborted) throw error;
  }
}

const LINE_FEED = 10;

/** Used only by the progress bar; an unreadable file is reported when it is played. */
async function countLines(file: string): Promise<number> {
  let lines = 0;
  try {
    checkFile(file);
    for await (const chunk of createReadStream(file)) {
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1;
    }
  } catch {
    return 0;
  }
  return lines;
}
