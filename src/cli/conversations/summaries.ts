import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { findSummary } from '../../conversation/find-summary.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { keptShare, lostOnce } from '../../search/specifics/losses.ts';
import { readAccount } from '../../search/specifics/read-account.ts';
import { formatTable } from '../../util/text/table.ts';
import { cleanText, excerpt, formatNumber } from '../../util/text/text.ts';
import { type Cli, globalsOf, widthOf, withApp, writeJson } from '../cli.ts';
import { runCommand } from '../invoke.ts';
import { requireConversation } from '../options.ts';
import { entryJson } from './transcript.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly json?: boolean;
}

export function addSummaries(program: Command, cli: Cli): void {
  const group = program
    .command('summaries')
    .description('Show the summaries of a conversation, or have one rewritten.')
    .addHelpText('after', EXAMPLES);
  requireConversation(
    group.command('list', { isDefault: true }).description('List the summaries that the model sees, oldest first.'),
  )
    .option('--json', 'print a JSON array with the full texts')
    .action((options: Options, own: Command) => list(cli, own, options));
  requireConversation(group.command('show <id>').description('Show the full text of a summary.'))
    .option('--json', 'print a JSON object')
    .action((id: string, options: Options, own: Command) => one(cli, own, { ...options, action: 'show', id }));
  const open = group
    .command('open <id> [lost]')
    .description('Show what a summary was made from; with "lost", the details that it leaves out.')
    .option('--json', 'print a JSON object with the summaries in "parts", or with the "messages" or what is "lost"');
  requireConversation(open).action((id: string, lost: string | undefined, options: Options) => {
    if (lost === undefined) return one(cli, open, { ...options, action: 'open', id });
    if (lost !== 'lost') throw new StrataError('USAGE', { problem: `Expected "lost" after the id, not "${lost}".` });
    return printLost(cli, open, { ...options, id });
  });
  const rewrite = group
    .command('rewrite <id> [wish...]')
    .description('Rewrite a summary from its sources, with an optional emphasis. A running bot does the work.');
  requireConversation(rewrite).action((id: string, wish: readonly string[], { conversation }: Options) =>
    runCommand(cli, rewrite, { conversation, path: ['summaries', 'rewrite'], options: { id, wish: wish.join(' ') } }),
  );
}

async function list(cli: Cli, own: Command, options: Options): Promise<void> {
  await withApp(cli, globalsOf(own), async (app) => {
    const conversation = await findConversation(app.services, options.conversation);
    const stack = await app.services.store.summaries.live(conversation.id);
    if (options.json) return writeJson(cli, stack.map(toJson));
    if (stack.length === 0) cli.stderr.write('There are no summaries yet.\n');
    else
      cli.stdout.write(
        `${formatTable(['ID', 'KIND', 'LEVEL', 'COVERS', 'TOKENS', 'TEXT'], stack.map(toRow), widthOf(cli))}\n`,
      );
  });
}

interface Asked extends Options {
  readonly action: 'show' | 'open';
  readonly id: string;
}

async function one(cli: Cli, own: Command, { conversation, action, id, json }: Asked): Promise<void> {
  if (!json) return await runCommand(cli, own, { conversation, path: ['summaries', action], options: { id } });
  await withApp(cli, globalsOf(own), async (app) => {
    const { summaries, transcript } = app.services.store;
    const summary = await summaryOf(app, { conversation, id });
    if (action === 'show') return writeJson(cli, toJson(summary));
    if (summary.level > 0)
      return writeJson(cli, { ...toJson(summary), parts: (await summaries.children(summary.id)).map(toJson) });
    const { conversationId, fromSeq, toSeq } = summary;
    const entries = await transcript.read(conversationId, { fromSeq, toSeq, limit: toSeq - fromSeq + 1 });
    writeJson(cli, { ...toJson(summary), messages: entries.map(entryJson) });
  });
}

async function printLost(
  cli: Cli,
  own: Command,
  { conversation, id, json }: Options & { readonly id: string },
): Promise<void> {
  if (!json)
    return await runCommand(cli, own, { conversation, path: ['summaries', 'open'], options: { id, what: 'lost' } });
  await withApp(cli, globalsOf(own), async (app) => {
    const summary = await summaryOf(app, { conversation, id });
    const account = await readAccount(app.services.store, summary);
    const lost = lostOnce(account.lost).map(({ kind, text, seqs }) => ({ kind, text, messages: seqs }));
    writeJson(cli, { ...toJson(summary), keptShare: keptShare(account), lost });
  });
}

async function summaryOf(
  { services }: App,
  { conversation, id }: Pick<Asked, 'conversation' | 'id'>,
): Promise<Summary> {
  return await findSummary(services, await findConversation(services, conversation), id);
}

const EXAMPLES = `
Examples:
  $ strata summaries --conversation terminal:local:main
  $ strata summaries open 0199c0de --conversation terminal:local:main lost
  $ strata summaries rewrite 0199c0de --conversation terminal:local:main 'the prices'`;

function toJson(summary: Summary) {
  const { id, kind, level, fromSeq, toSeq, tokens, text, model, promptHash, stale } = summary;
  return {
    id,
    kind,
    level,
    fromSeq,
    toSeq,
    tokens,
    text,
    model,
    promptHash,
    stale,
    createdAt: new Date(summary.createdAt).toISOString(),
  };
}

function toRow(summary: Summary): readonly string[] {
  const covers = `#${summary.fromSeq}–#${summary.toSeq}`;
  const text = excerpt(cleanText(summary.text), 80);
  return [summary.id, summary.kind, String(summary.level), covers, `~${formatNumber(summary.tokens)}`, text];
}
