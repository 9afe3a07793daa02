import { z } from 'zod';
import { findPostgres, startPostgres } from '../test/support/postgres-server.ts';
import { fillPostgres } from './bulk-postgres.ts';
import { fillSqlite } from './bulk-sqlite.ts';
import { runChild } from './child.ts';
import { withDirectory } from './directory.ts';
import type { Figure } from './figure.ts';
import { median } from './samples.ts';
import { createWords } from './words.ts';

const CHILD = new URL('children/start.process.ts', import.meta.url);
const ROUNDS = 3;
const WORDS = 12;

const reportSchema = z.object({
  readyMs: z.number(),
  cursors: z.number(),
  lookedMs: z.number(),
  mostBytes: z.number(),
});
type Report = z.infer<typeof reportSchema>;

/** The bars for a start that finds this many conversations. */
interface Size {
  readonly conversations: number;
  readonly readyMs: number;
  readonly megabytes: number;
}

const SIZES: readonly Size[] = [
  { conversations: 100_000, readyMs: 1_000, megabytes: 200 },
  { conversations: 1_000_000, readyMs: 3_000, megabytes: 250 },
];
const QUICK_SIZES: readonly Size[] = [{ conversations: 10_000, readyMs: 1_000, megabytes: 200 }];

/** Starts of a bot that finds many recently active conversations. */
export async function measureFullStarts(quick: boolean): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const programs = await findPostgres();
  for (const size of quick ? QUICK_SIZES : SIZES) {
    await withDirectory(async (directory) => {
      await fillSqlite(directory, conversations(size));
      figures.push(...figuresOf('SQLite', size, await measure('sqlite', directory)));
    });
    if (programs.kind === 'missing') continue;
    await using server = await startPostgres(programs, { syncs: true });
    await fillPostgres(server.url, conversations(size));
    figures.push(...figuresOf('Postgres', size, await measure('postgres', server.url)));
  }
  return figures;
}

function conversations(size: Size) {
  const words = createWords(7);
  const text = () => words.text(WORDS);
  return Array.from({ length: size.conversations }, (_, index) => ({ name: `talk-${index}`, entries: 1, text }));
}

async function measure(kind: 'sqlite' | 'postgres', place: string): Promise<readonly Report[]> {
  const reports: Report[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const report = await runChild({ file: CHILD, args: [kind, place], report: reportSchema });
    // The first run fills Node's compile cache, like the first start of a bot.
    if (round > 0) reports.push(report);
  }
  return reports;
}

function figuresOf(store: string, size: Size, reports: readonly Report[]): readonly Figure[] {
  const found = `${store}: start that finds ${size.conversations.toLocaleString('en')} conversations`;
  const of = (name: keyof Report) => median(reports.map((report) => report[name]));
  return [
    {
      figure: `${found}, to ready`,
      unit: 'ms',
      baseline: null,
      ours: of('readyMs'),
      bar: { of: 'ours', is: 'below', value: size.readyMs },
    },
    { figure: `${found}, until each has been looked at`, unit: 'ms', baseline: null, ours: of('lookedMs'), bar: null },
    {
      figure: `${found}, peak memory`,
      unit: 'MB',
      baseline: null,
      ours: of('mostBytes') / 1e6,
      bar: { of: 'ours', is: 'below', value: size.megabytes },
    },
  ];
}
