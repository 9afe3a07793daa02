import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { blockRow, changeRow, fieldsOf, groupMessages } from '../../commands/built-in/why.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import { diffRequests } from '../../requests/diff.ts';
import { type ExplainedReply, exactnessText, explainReply, newestReply } from '../../requests/explain.ts';
import { formatFields, formatTable } from '../../util/text/table.ts';
import { cleanText } from '../../util/text/text.ts';
import { type Cli, globalsOf, widthOf, withApp, writeJson } from '../cli.ts';
import { readCount, requireConversation } from '../options.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly reply?: number;
  readonly detail?: string;
  readonly changes?: boolean;
  readonly request?: boolean;
  readonly json?: boolean;
}

export function addWhy(program: Command, cli: Cli): void {
  const command = program
    .command('why')
    .description(
      'Show what the model saw before it wrote a reply, part by part. Parts that were deleted or changed since are marked.',
    );
  requireConversation(command)
    .option('--reply <seq>', 'number of the reply or of the message it answers (default: the newest reply)', readCount)
    .option('--detail <key>', 'print the text of one part')
    .option('--changes', 'show how the request differs from the one before it')
    .option('--request', 'print the request itself as JSON: system, messages, tools and settings')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const conversation = await findConversation(app.services, options.conversation);
        const explained = await explain(app, conversation, options.reply ?? (await newest(app, conversation)));
        if (options.detail !== undefined) return printDetail(cli, explained, options.detail);
        if (options.request) return writeJson(cli, explained.request);
        if (options.changes)
          return await printChanges(cli, { app, conversation, explained, json: options.json ?? false });
        if (options.json) return writeJson(cli, toJson(explained));
        const cells = groupMessages(explained.blocks).map(blockRow);
        const table = formatTable(['PART', 'TOKENS', 'SOURCE', 'REASON'], cells, widthOf(cli));
        cli.stdout.write(
          `#${explained.seq}: ${exactnessText(explained)}\n${formatFields(fieldsOf(explained), widthOf(cli))}\n\n${table}\n`,
        );
      });
    });
}

const EXAMPLES = `
Examples:
  $ strata why --conversation terminal:local:main
  $ strata why --conversation terminal:local:main --reply 42 --changes
  $ strata why --conversation terminal:local:main --reply 42 --detail summary:01J9Z...
  $ strata why --conversation terminal:local:main --reply 42 --request`;

async function explain({ services }: App, conversation: Conversation, seq: number): Promise<ExplainedReply> {
  return await explainReply(services, { conversation, seq, reader: null });
}

async function newest({ services }: App, conversation: Conversation): Promise<number> {
  const seq = await newestReply(services, { conversation, toSeq: conversation.nextSeq });
  if (seq === null) throw new StrataError('NOT_FOUND', { what: 'record of a reply', id: conversation.key });
  return seq;
}

function toJson({ request: _request, agentId, modelId, windowTokens, exactness, at, ...rest }: ExplainedReply) {
  return {
    ...rest,
    at: new Date(at).toISOString(),
    agent: agentId,
    model: modelId,
    window: windowTokens,
    exact: exactness === 'exact',
    exactness,
    alteredByPlugin: exactness === 'altered',
  };
}

function printDetail(cli: Cli, { blocks }: ExplainedReply, key: string): void {
  const block = blocks.find((candidate) => candidate.key === key);
  if (block === undefined) {
    const known = groupMessages(blocks).map((candidate) => candidate.key);
    throw new StrataError('USAGE', { problem: `The request has no part "${key}". Available: ${known.join(', ')}.` });
  }
  cli.stdout.write(`${cleanText(block.text)}\n`);
}

interface Comparison {
  readonly app: App;
  readonly conversation: Conversation;
  readonly explained: ExplainedReply;
  readonly json: boolean;
}

async function printChanges(cli: Cli, { app, conversation, explained, json }: Comparison): Promise<void> {
  const { previousSeq, seq } = explained;
  const before = previousSeq === null ? null : await explain(app, conversation, previousSeq);
  const diff = diffRequests(before?.blocks ?? [], explained.blocks);
  if (json) return writeJson(cli, { seq, previousSeq, ...diff });
  const than = previousSeq === null ? 'nothing, as this is the first request' : `the request for #${previousSeq}`;
  const table = formatTable(['CHANGE', 'PART', 'TOKENS', 'TEXT'], diff.changes.map(changeRow), widthOf(cli));
  cli.stdout.write(`#${seq} compared with ${than}: ${diff.keptBlocks} parts unchanged.\n\n${table}\n`);
}
