import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { shownAuthor, shownText } from '../../commands/format-entry.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import type { ConversationKey } from '../../domain/message.ts';
import { searchTranscript } from '../../search/ranking/transcript-search.ts';
import { cleanText, excerpt } from '../../util/text/text.ts';
import { type Cli, globalsOf, withApp, writeJson } from '../cli.ts';
import { questionsIn } from '../input-lines.ts';
import { readCount, requireConversation } from '../options.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly limit: number;
  readonly tokens?: number;
  readonly json?: boolean;
}

export function addRecall(program: Command, cli: Cli): void {
  const command = program
    .command('recall')
    .description('Read questions from standard input, one per line, and print the messages that answer each best.');
  requireConversation(command)
    .option('--limit <count>', 'maximum number of messages per question', readCount, 10)
    .option('--tokens <count>', 'maximum tokens of messages per question', readCount)
    .option('--json', 'print one JSON object per line: question, results')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const conversation = await findConversation(app.services, options.conversation);
        for await (const question of questionsIn(cli.stdin, cli.signal)) {
          if (cli.signal.aborted) return;
          await answer(cli, app, { ...options, conversationId: conversation.id, question });
        }
      });
    });
}

const EXAMPLES = `
Example:
  $ echo 'What does Ada drink?' | strata recall --conversation terminal:local:main --limit 5 --json`;

async function answer(
  cli: Cli,
  app: App,
  query: Options & { readonly conversationId: number; readonly question: string },
): Promise<void> {
  const { conversationId, question, limit, tokens } = query;
  const budget = tokens === undefined ? {} : { tokenBudget: tokens };
  const hits = await searchTranscript(app.services, { conversationId, question, limit, ...budget });
  if (query.json) {
    const results = hits.map((hit) => ({ id: hit.id, seq: hit.seq, score: hit.score, tokens: hit.tokens }));
    return writeJson(cli, { question, results });
  }
  cli.stdout.write(`${cleanText(question)}\n`);
  for (const { seq, entry } of hits) {
    cli.stdout.write(`  #${seq}  ${cleanText(shownAuthor(entry))}: ${excerpt(cleanText(shownText(entry)), 120)}\n`);
  }
}
