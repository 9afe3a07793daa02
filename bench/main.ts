import { cpus, release, totalmem, type } from 'node:os';
import { parseArgs } from 'node:util';
import { holds, type RowOptions, type RowResult, ratioOf } from './figure.ts';
import { formatTable } from './table.ts';

/** Every figure of the benchmark beside its baseline in one run: `npm run bench -- [ROW ...] [--quick] [--json]`. */

type Row = (options: RowOptions) => Promise<RowResult>;

/** Loaded when its turn comes: one row's tools are not to weigh on another's figures. */
const ROWS: Readonly<Record<string, () => Promise<Row>>> = {
  latency: async () => (await import('./rows/latency.ts')).latency,
  losses: async () => (await import('./rows/losses.ts')).losses,
  turn: async () => (await import('./rows/turn.ts')).turn,
  throughput: async () => (await import('./rows/throughput.ts')).throughput,
  memory: async () => (await import('./rows/memory.ts')).memory,
  start: async () => (await import('./rows/start.ts')).start,
  search: async () => (await import('./rows/search.ts')).search,
  recall: async () => (await import('./rows/recall.ts')).recall,
  tokens: async () => (await import('./rows/tokens.ts')).tokens,
  postgres: async () => (await import('./rows/postgres.ts')).postgres,
  kick: async () => (await import('./rows/kick.ts')).kick,
  resume: async () => (await import('./rows/resume.ts')).resume,
  workers: async () => (await import('./rows/workers.ts')).workers,
  growth: async () => (await import('./rows/growth.ts')).growth,
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
const results: (RowResult & { readonly name: string; readonly seconds: number })[] = [];
for (const [name, load] of wanted) {
  process.stderr.write(`${name} ...`);
  const run = await load();
  const startedAt = performance.now();
  const result = await run({ quick: values.quick });
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(` ${seconds.toFixed(1)} s\n`);
  results.push({ name, seconds, ...result });
}

const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${type()} ${release()}, Node ${process.version}`;
if (values.json) {
  const figures = results.flatMap((result) =>
    result.figures.map((figure) => ({ row: result.name, ...figure, ratio: ratioOf(figure), holds: holds(figure) })),
  );
  console.log(JSON.stringify({ machine, quick: values.quick, figures }, null, 2));
} else {
  console.log(`${machine}${values.quick ? ' (quick)' : ''}\n`);
  console.log(formatTable(results.flatMap((result) => result.figures)));
  for (const { tables = [] } of results) for (const table of tables) console.log(`\n${table}`);
  for (const { name, notes } of results) for (const note of notes) console.log(`\n${name}: ${note}`);
}
