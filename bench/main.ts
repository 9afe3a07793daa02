import { cpus, release, totalmem, type } from 'node:os';
import { Argument, Command } from 'commander';
import { z } from 'zod';
import { holds, type RowOptions, type RowResult, ratioOf } from './figure.ts';
import { formatPage, type Section } from './page.ts';

/**
 * Measures every figure of the benchmark and its baseline in one run. A row that fails is reported at the end, and does
 * not prevent the others. `npm run bench -- --help` lists the rows.
 */

type Row = (options: RowOptions) => Promise<RowResult>;

interface RowEntry {
  readonly title: string;
  /** Loaded when its turn comes, so that one row's tools do not affect another's figures. */
  readonly load: () => Promise<Row>;
}

const ROWS: Readonly<Record<string, RowEntry>> = {
  latency: { title: 'Replies beside a summary', load: async () => (await import('./rows/latency.ts')).latency },
  losses: { title: 'Replies lost', load: async () => (await import('./rows/losses.ts')).losses },
  turn: { title: 'A turn', load: async () => (await import('./rows/turn.ts')).turn },
  throughput: { title: 'Turns a second', load: async () => (await import('./rows/throughput.ts')).throughput },
  memory: { title: 'Memory', load: async () => (await import('./rows/memory.ts')).memory },
  start: { title: 'Start', load: async () => (await import('./rows/start.ts')).start },
  search: { title: 'Search', load: async () => (await import('./rows/search.ts')).search },
  recall: { title: 'What is found again', load: async () => (await import('./rows/recall.ts')).recall },
  asked: { title: 'What is in view when asked', load: async () => (await import('./rows/asked.ts')).asked },
  planted: { title: 'What survives summaries', load: async () => (await import('./rows/planted.ts')).planted },
  settle: { title: 'A view at rest', load: async () => (await import('./rows/settle.ts')).settled },
  cache: { title: 'The prefix cache', load: async () => (await import('./rows/cache.ts')).cache },
  tokens: { title: 'Estimates of tokens', load: async () => (await import('./rows/tokens.ts')).tokens },
  postgres: { title: 'Postgres', load: async () => (await import('./rows/postgres.ts')).postgres },
  kick: { title: 'A kick', load: async () => (await import('./rows/kick.ts')).kick },
  resume: { title: 'Killed workers', load: async () => (await import('./rows/resume.ts')).resume },
  workers: { title: 'Several workers', load: async () => (await import('./rows/workers.ts')).workers },
  inspector: { title: 'The inspector', load: async () => (await import('./rows/inspector.ts')).inspector },
  growth: { title: 'Growth', load: async () => (await import('./rows/growth.ts')).growth },
};

const command = new Command('npm run -s bench --')
  .description('Measures figures and their baselines, and prints them as the page docs/benchmarks.md.')
  .addArgument(new Argument('[rows...]', 'what to measure; without it, everything').choices(Object.keys(ROWS)))
  .option('--quick', 'fewer rounds; the bars apply to whole runs', false)
  .option('--json', 'print the figures as JSON', false)
  .parse();
const { quick, json } = z.object({ quick: z.boolean(), json: z.boolean() }).parse(command.opts());
const wanted = Object.entries(ROWS).filter(([name]) => command.args.length === 0 || command.args.includes(name));
const sections: Section[] = [];
const failures = new Map<string, string>();
for (const [name, { title, load }] of wanted) {
  process.stderr.write(`${name} ...`);
  const startedAt = performance.now();
  try {
    const run = await load();
    sections.push({ name, title, ...(await run({ quick })) });
  } catch (error) {
    failures.set(name, error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.stderr.write(' failed,');
  }
  process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${type()} ${release()}, Node ${process.version}`;
if (json) {
  const figures = sections.flatMap((section) =>
    section.figures.map((figure) => ({ row: section.name, ...figure, ratio: ratioOf(figure), holds: holds(figure) })),
  );
  console.log(JSON.stringify({ machine, quick, figures }, null, 2));
} else {
  console.log(formatPage(sections, { machine, quick, failed: [...failures.keys()] }));
}
for (const [name, failure] of failures) console.error(`\nFailed: ${name}: ${failure}`);
// Does not wait for what a failed row left running.
if (failures.size > 0) process.exit(1);
