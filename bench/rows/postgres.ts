import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import type { Storage } from '../../src/services.ts';
import { findPostgres, startPostgres } from '../../test/support/postgres-server.ts';
import type { BulkConversation } from '../bulk.ts';
import { fillPostgres } from '../bulk-postgres.ts';
import { fillSqlite } from '../bulk-sqlite.ts';
import { withDirectory } from '../directory.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { appendPast } from '../past.ts';
import { median, percentile } from '../samples.ts';
import { createWords } from '../words.ts';
import { conversationKey } from '../world.ts';

const SMALL = 5_000;
const WORDS = 12;
const ROOMS = 50;

/** The store on a local Postgres compared with the embedded one, both durable: the cost of a server. */
export async function postgres({ quick }: RowOptions): Promise<RowResult> {
  const programs = await findPostgres();
  if (programs.kind === 'missing') return { figures: [], notes: [`Not measured: ${programs.reason}.`] };
  await using server = await startPostgres(programs, { syncs: true });
  return await withDirectory(async (directory) => {
    const total = quick ? 20_000 : 200_000;
    await fillSqlite(directory, conversationsOf(total));
    await fillPostgres(server.url, conversationsOf(total));
    const embedded = await createSqliteStorage({ directory });
    const served = await createPostgresStorage({ url: server.url });
    const rounds = quick ? 100 : 500;
    const baseline = await measure(embedded, rounds);
    const ours = await measure(served, rounds);
    await embedded.store.close();
    await served.store.close();
    return { figures: figuresOf({ baseline, ours, total }), notes: [noteOf(total)] };
  });
}

function conversationsOf(total: number): readonly BulkConversation[] {
  return [
    { name: 'large', entries: total - SMALL },
    { name: 'small', entries: SMALL },
  ].map(({ name, entries }) => {
    const words = createWords(entries);
    return { name, entries, text: () => words.text(WORDS) };
  });
}

interface Measured {
  readonly append: readonly number[];
  readonly appendsASecond: number;
  readonly view: readonly number[];
  readonly small: readonly number[];
  readonly large: readonly number[];
}

async function measure(storage: Storage, rounds: number): Promise<Measured> {
  const words = createWords(5);
  const text = () => words.text(WORDS);
  const append = (name: string, seq: number) =>
    appendPast({ storage }, { conversation: conversationKey(name), from: seq, count: 1, text });
  const appends = await timed(rounds, (round) => append('alone', round + 1));
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: rounds * 2 }, (_, index) => append(`room-${index % ROOMS}`, index)));
  const appendsASecond = (rounds * 2 * 1000) / (performance.now() - startedAt);
  const alone = await idOf(storage, 'alone');
  return {
    append: appends,
    appendsASecond,
    view: await timed(rounds, () => storage.store.transcript.context(alone, { maxEntries: 200 })),
    small: await searches(storage, { name: 'small', rounds }),
    large: await searches(storage, { name: 'large', rounds }),
  };
}

async function searches(storage: Storage, of: { readonly name: string; readonly rounds: number }) {
  const conversationId = await idOf(storage, of.name);
  const words = createWords(7);
  return await timed(of.rounds, () => storage.search.entries({ conversationId, text: words.text(5), limit: 20 }));
}

async function timed(rounds: number, work: (round: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    await work(round);
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function idOf({ store }: Storage, name: string): Promise<number> {
  return (await store.conversations.find(conversationKey(name)))?.id ?? 0;
}

function figuresOf(of: {
  readonly baseline: Measured;
  readonly ours: Measured;
  readonly total: number;
}): readonly Figure[] {
  const { baseline, ours, total } = of;
  const row = (figure: string, value: (measured: Measured) => number, barMs: number | null): Figure => ({
    figure: `Postgres: ${figure}`,
    unit: 'ms',
    baseline: { of: 'SQLite', value: value(baseline) },
    ours: value(ours),
    bar: barMs === null ? null : { of: 'ours', is: 'below', value: barMs },
  });
  const many = total.toLocaleString('en');
  return [
    row('append, p50', ({ append }) => median(append), 5),
    row('append, p99', ({ append }) => percentile(append, 99), null),
    {
      figure: `Postgres: appends to ${ROOMS} conversations at once`,
      unit: 'a second',
      baseline: { of: 'SQLite', value: baseline.appendsASecond },
      ours: ours.appendsASecond,
      bar: null,
    },
    row('a view of 200 entries, p50', ({ view }) => median(view), 10),
    row(`search in one conversation among ${many} entries, p50`, ({ small }) => median(small), 10),
    row('search in one that holds nearly all of them, p50', ({ large }) => median(large), 20),
    row('the same, p99', ({ large }) => percentile(large, 99), null),
  ];
}

function noteOf(total: number): string {
  return `A server on this machine that waits for the disk with every commit. Questions of five words over ${SMALL.toLocaleString('en')} of ${total.toLocaleString('en')} entries in one conversation, and over the others in another.`;
}
