import { type Command, InvalidArgumentError, Option } from 'commander';
import type { App } from '../../app/app.ts';
import { isBuiltInEngine } from '../../config/known.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Forecast } from '../../forecast/forecast.ts';
import { forecastFor, readRecording } from '../../forecast/open.ts';
import { FORECAST_ROWS } from '../../forecast/rows.ts';
import { FORECAST_SETTINGS, withSettings } from '../../forecast/settings.ts';
import { formatFields, formatTable } from '../../util/text/table.ts';
import { type Cli, globalsOf, widthOf, withApp, writeJson } from '../cli.ts';
import { requireConversation } from '../options.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly try: readonly string[];
  readonly json?: boolean;
}

const MAX_COLUMNS = 8;

export function addWhatIf(program: Command, cli: Cli): void {
  const command = program
    .command('what-if')
    .description(
      'Forecast a stored conversation under other settings, without a model call: compactions, tokens, cost and the size of the view.',
    );
  requireConversation(command)
    .addOption(
      new Option('--try <settings>', 'KEY=VALUE,KEY=VALUE: one column beside the current settings; repeatable')
        .argParser(collected)
        .default([], 'none'),
    )
    .option('--json', 'one JSON object per column')
    .addHelpText('after', HELP)
    .action(async (options: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const columns = await columnsOf(app, options);
        if (options.json) for (const { settings, forecast } of columns) writeJson(cli, { settings, ...forecast });
        else print(cli, columns);
      });
    });
}

function collected(text: string, before: readonly string[]): readonly string[] {
  if (before.length >= MAX_COLUMNS) throw new InvalidArgumentError(`Expected at most ${MAX_COLUMNS}.`);
  return [...before, text];
}

interface Column {
  /** As given; null for the current settings. */
  readonly settings: string | null;
  readonly forecast: Forecast;
}

async function columnsOf({ services }: App, options: Options): Promise<readonly Column[]> {
  const conversation = await findConversation(services, options.conversation);
  const configured = services.agents.agentFor(conversation.key);
  const tried = options.try.map((settings) => ({ settings, agent: withSettings(configured, settings) }));
  const isKnown = isBuiltInEngine(configured.engine);
  if (!isKnown && tried.length === 0) throw new StrataError('USAGE', { problem: unknownEngine(configured.engine) });
  const now = isKnown ? [{ settings: null, agent: configured }] : [];
  const profile = await services.profile(conversation);
  const recording = await readRecording(services, conversation, configured);
  const columns: Column[] = [];
  for (const { settings, agent } of [...now, ...tried]) {
    columns.push({ settings, forecast: await forecastFor(services, { recording, agent, profile }) });
  }
  return columns;
}

function unknownEngine(engine: string): string {
  return `The engine "${engine}" has no forecast. Try a built-in one: --try engine=stacked.`;
}

function print(cli: Cli, columns: readonly Column[]): void {
  const heads = columns.map(({ settings }) => settings ?? 'NOW');
  const cells = FORECAST_ROWS.map(({ name, textOf: of }) => [name, ...columns.map(({ forecast }) => of(forecast))]);
  const charts = columns.map(({ forecast }, index) => ({ name: heads[index] ?? '', value: chartOf(forecast) }));
  cli.stdout.write(
    `${formatTable(['', ...heads], cells, widthOf(cli))}\n\n${CHART_TITLE}\n${formatFields(charts, widthOf(cli))}\n`,
  );
}

const CHART_TITLE = 'View over time, as a share of the window';
const BARS = '▁▂▃▄▅▆▇█';

function chartOf({ view, windowTokens }: Forecast): string {
  const bars = view.map(({ usedTokens }) => BARS[Math.floor((usedTokens / windowTokens) * BARS.length)]);
  return bars.map((bar) => bar ?? BARS.at(-1)).join('');
}

const HELP = `
The forecast starts at the last reset. Summaries are as long as the stored ones. Memories extracted while nobody writes are left out.
Settings: ${FORECAST_SETTINGS.join(', ')}.

Examples:
  $ strata what-if --conversation terminal:local:main
  $ strata what-if --conversation terminal:local:main --try context_window=16000 --try engine=sliding
  $ strata what-if --conversation terminal:local:main --try compaction.background_threshold=0.6,compaction.stack_share=0.2 --json`;
