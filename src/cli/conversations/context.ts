import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { thresholdLine, usageLine } from '../../commands/built-in/context.ts';
import { historyFields, sizeOf } from '../../commands/built-in/context-fields.ts';
import { type ContextHistory, historyOf, MAX_RUNS } from '../../context/history.ts';
import type { ContextReport } from '../../context/inspection.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import { pagesOf } from '../../util/async/conversation-pages.ts';
import { formatFields, formatTable } from '../../util/text/table.ts';
import { cleanText, formatNumber, formatTime } from '../../util/text/text.ts';
import { type Cli, globalsOf, widthOf, withApp, writeJson } from '../cli.ts';
import { addConversation } from '../options.ts';
import { askAll, asksAnything, refuseQuestions } from './context-ask.ts';

interface Options {
  readonly conversation?: ConversationKey;
  readonly detail?: string;
  readonly ask?: string;
  readonly askFile?: string;
  readonly json?: boolean;
}

export function addContext(program: Command, cli: Cli): void {
  const command = program
    .command('context')
    .description(
      'Show what the model sees of a conversation, part by part. Without --conversation, list the conversations.',
    );
  addConversation(command)
    .option('--detail <key>', 'print the text of one part')
    .option('--ask <text>', 'show what the model would see for this message; stores nothing')
    .option('--ask-file <file>', 'the same for each line of a file (- for standard input)')
    .option('--json', 'print one JSON object; for the list and for questions, one per line')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options, own: Command) => {
      if (options.conversation === undefined) refuseQuestions(options);
      await withApp(cli, globalsOf(own), async (app) => {
        if (options.conversation === undefined) return await listAll(cli, app, options.json ?? false);
        const conversation = await findConversation(app.services, options.conversation);
        if (asksAnything(options)) return await askAll(cli, app, { ...options, conversation });
        const report = await app.services.inspect(conversation);
        if (options.detail !== undefined) return printDetail(cli, report, options.detail);
        const history = historyOf(report, await app.services.store.journal.runs(conversation.id, MAX_RUNS));
        if (options.json) writeJson(cli, toJson(report, history));
        else printReport(cli, report, history);
      });
    });
}

const EXAMPLES = `
Examples:
  $ strata context
  $ strata context --conversation terminal:local:main
  $ strata context --conversation terminal:local:main --json
  $ strata context --conversation terminal:local:main --detail tail
  $ strata context --conversation terminal:local:main --ask 'When did I adopt the dog?'`;

async function listAll(cli: Cli, app: App, json: boolean): Promise<void> {
  const all: Conversation[] = [];
  for await (const conversation of pagesOf(app.services.store.conversations, { order: 'active' }))
    all.push(conversation);
  if (json) {
    for (const { key, nextSeq, audience, lastActivityAt } of all) {
      writeJson(cli, {
        conversation: key,
        entries: nextSeq - 1,
        audience,
        lastActivityAt: new Date(lastActivityAt).toISOString(),
      });
    }
  } else if (all.length === 0) cli.stderr.write('There are no conversations yet.\n');
  else {
    const cells = all.map(({ key, nextSeq, audience, lastActivityAt }) => [
      key,
      formatNumber(nextSeq - 1),
      audience,
      formatTime(lastActivityAt),
    ]);
    cli.stdout.write(`${formatTable(['CONVERSATION', 'MESSAGES', 'AUDIENCE', 'LAST'], cells, widthOf(cli))}\n`);
  }
}

function toJson(report: ContextReport, history: ContextHistory) {
  const { agentId, modelId, thresholds, lastInputTokens, focus, parts } = report;
  return {
    ...report.summary,
    agent: agentId,
    model: modelId,
    thresholds,
    lastInputTokens,
    focus,
    ...history,
    parts: parts.map(({ text: _text, ...part }) => part),
  };
}

function printReport(cli: Cli, report: ContextReport, history: ContextHistory): void {
  const { summary, measurement, thresholds, modelId, agentId, parts, focus } = report;
  const fields = [
    { name: 'Conversation', value: summary.conversation },
    { name: 'Model', value: `${modelId} (agent ${agentId})` },
    { name: 'Used', value: usageLine(measurement) },
    { name: 'Compacts', value: thresholdLine(measurement.window, thresholds) },
    { name: 'Messages', value: `${formatNumber(summary.entries)}, summarised up to #${summary.compactedUpto}` },
    ...historyFields(focus, history),
  ];
  const cells = parts.map((part) => {
    const { whole, budget, priority } = sizeOf(part, measurement);
    const isIn = part.included ? (part.truncated ? 'cut' : 'yes') : 'no';
    return [part.key, formatNumber(part.tokens), whole, budget, priority, isIn, part.source, part.reason];
  });
  cli.stdout.write(`${formatFields(fields, widthOf(cli))}\n\n${formatTable(PART_COLUMNS, cells, widthOf(cli))}\n`);
}

const PART_COLUMNS = ['PART', 'TOKENS', 'WHOLE', 'BUDGET', 'PRIORITY', 'IN', 'SOURCE', 'REASON'];

function printDetail(cli: Cli, report: ContextReport, key: string): void {
  const part = report.parts.find((candidate) => candidate.key === key);
  if (part === undefined) {
    const known = report.parts.map((candidate) => candidate.key).join(', ');
    throw new StrataError('USAGE', { problem: `The context has no part "${key}". Available: ${known}.` });
  }
  cli.stdout.write(`${cleanText(part.text)}\n`);
}
