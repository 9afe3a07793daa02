import { type Command, Option } from 'commander';
import { findConversation } from '../../conversation/find-conversation.ts';
import { causeText, formatCost, hitRateOf, sumOf } from '../../costs/format.ts';
import type { ConversationKey } from '../../domain/message.ts';
import {
  type CacheLossTotal,
  type Journal,
  SPENDING_KEYS,
  type Spending,
  type SpendingKey,
  type Spent,
} from '../../ports/journal.ts';
import type { Storage } from '../../services.ts';
import { formatTable } from '../../util/text/table.ts';
import { cleanText, formatNumber, formatPercent } from '../../util/text/text.ts';
import { DAY_MS } from '../../util/time/time.ts';
import { type Cli, globalsOf, widthOf, writeJson } from '../cli.ts';
import { addConversation, readCount } from '../options.ts';

interface Options {
  readonly by: SpendingKey;
  readonly days?: number;
  readonly conversation?: ConversationKey;
  readonly limit: number;
  readonly json?: boolean;
}

const MAX_ROWS = 1000;

export function addCost(program: Command, cli: Cli): void {
  const command = program
    .command('cost')
    .description('Show what the model calls cost: replies, summaries and memories.');
  addConversation(command)
    .addOption(new Option('--by <key>', 'what to group by').choices(SPENDING_KEYS).default('day'))
    .option('--days <n>', 'only the last n days (UTC), including today', readCount)
    .option('--limit <n>', 'maximum number of rows to print; the total counts all of them', readCount, 50)
    .option('--json', 'one JSON object with "rows", "total" and "cache"')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options, own: Command) => {
      const storage = await cli.openStorage({ ...globalsOf(own), create: false });
      try {
        const report = await readCosts(storage, options);
        if (options.json) writeJson(cli, report);
        else print(cli, report);
      } finally {
        await storage.store.close();
      }
    });
}

interface CostReport {
  readonly by: SpendingKey;
  readonly currency: 'USD';
  readonly rows: readonly Spending[];
  readonly total: Spent;
  /** Models without a known price. */
  readonly unpricedModels: readonly string[];
  /** The prefix cache of replies. */
  readonly cache: { readonly hitRate: number | null; readonly losses: readonly CacheLossTotal[] };
}

async function readCosts(storage: Storage, options: Options): Promise<CostReport> {
  const { store } = storage;
  const { conversation: key } = options;
  const conversationId = key === undefined ? null : (await findConversation(storage, key)).id;
  const since = options.days === undefined ? null : Date.now() - (options.days - 1) * DAY_MS;
  const sums = (by: SpendingKey, limit: number): ReturnType<Journal['spending']> =>
    store.journal.spending({ by, since, conversationId, limit });
  const models = await sums('model', MAX_ROWS);
  const replies = sumOf((await sums('purpose', MAX_ROWS)).filter(({ key }) => key === 'reply'));
  return {
    by: options.by,
    currency: 'USD',
    rows: await sums(options.by, options.limit),
    total: sumOf(models),
    unpricedModels: models.flatMap(({ key, unpricedCalls }) => (key !== null && unpricedCalls > 0 ? [key] : [])),
    cache: { hitRate: hitRateOf(replies), losses: await store.journal.cache.losses({ since, conversationId }) },
  };
}

function print(cli: Cli, { by, rows, total, unpricedModels, cache }: CostReport): void {
  if (total.calls === 0) {
    cli.stderr.write('No model has been called yet.\n');
    return;
  }
  const columns = [by.toUpperCase(), 'CALLS', 'INPUT', 'CACHED', 'OUTPUT', 'REASONING', 'COST'];
  const cells = rows.map((row) => toCells(row.key ?? NAMELESS[by], row));
  cli.stdout.write(`${formatTable(columns, [...cells, toCells('total', total)], widthOf(cli))}\n`);
  printCache(cli, cache);
  if (unpricedModels.length > 0) cli.stderr.write(`${unpricedNote(unpricedModels)}\n`);
}

function printCache(cli: Cli, { hitRate, losses }: CostReport['cache']): void {
  const rate = hitRate === null ? 'not reported by the provider' : `${formatPercent(hitRate)} of the input`;
  cli.stdout.write(`\nPrefix cache of replies: ${rate}\n`);
  if (losses.length === 0) return;
  const cells = losses.map((row) => [causeText(row.cause), formatNumber(row.losses), formatNumber(row.tokens)]);
  cli.stdout.write(`${formatTable(['LOST BECAUSE', 'TIMES', 'TOKENS'], cells, widthOf(cli))}\n`);
}

/** The label of a row without a name. */
const NAMELESS: Readonly<Record<SpendingKey, string>> = {
  day: '-',
  agent: '(not recorded)',
  conversation: '-',
  person: '(nobody: background work)',
  purpose: '-',
  model: '-',
};

function toCells(name: string, spent: Spent): readonly string[] {
  const { calls, inputTokens, cacheReadTokens, outputTokens, reasoningTokens } = spent;
  const counts = [calls, inputTokens, cacheReadTokens, outputTokens, reasoningTokens].map(formatNumber);
  return [cleanText(name), ...counts, formatCost(spent)];
}

function unpricedNote(models: readonly string[]): string {
  const [first = ''] = models;
  return `No price is known for some calls of ${models.map(cleanText).join(', ')}. For calls from now on, set it in config.toml: [prices."${cleanText(first)}"]`;
}

const EXAMPLES = `
Examples:
  $ strata cost --days 30
  $ strata cost --by purpose --conversation terminal:local:main
  $ strata cost --by person --json`;
