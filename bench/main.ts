import { cpus, release, totalmem, type } from 'node:os';
import { parseArgs } from 'node:util';
import { holds, type RowOptions, type RowResult, ratioOf } from './figure.ts';
import { formatPage, type Section } from './page.ts';

/**
 * Measures every figure of the benchmark and its baseline in one run: `npm run -s bench -- [ROW ...] [--quick]
 * [--json]`. The output is docs/benchmarks.md. A row that fails is reported at the end, and does not prevent the
 * others.
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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(ROWS, name));
if (unknown.length > 0) {
  console.error(`There is no row ${unknown.join(', ')}. Rows: ${Object.keys(ROWS).join(', ')}.`);
  process.exit(2);
}

const wanted = Object.entries(ROWS).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const sections: Section[] = [];
const failures = new Map<string, string>();
for (const [name, { title, load }] of wanted) {
  process.stderr.write(`${name} ...`);
  const startedAt = performance.now();
  try {
    const run = await load();
    sections.push({ name, title, ...(await run({ quick: values.quick })) });
  } catch (error) {
    failures.set(name, error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.stderr.write(' failed,');
  }
  process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${type()} ${release()}, Node ${process.version}`;
if (values.json) {
  const figures = sections.flatMap((section) =>
    section.figures.map((figure) => ({ row: section.name, ...figure, ratio: ratioOf(figure), holds: holds(figure) })),
  );
  console.log(JSON.stringify({ machine, quick: values.quick, figures }, null, 2));
} else {
  console.log(formatPage(sections, { machine, quick: values.quick, failed: [...failures.keys()] }));
}
for (const [name, failure] of failures) console.error(`\nFailed: ${name}: ${failure}`);
// Does not wait for what a failed row left running.
if (failures.size > 0) process.exit(1);
