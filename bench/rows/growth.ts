import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { createBot } from '../../src/bot/bot.ts';
import { defaultAgent } from '../../src/config/defaults.ts';
import type { Storage } from '../../src/services.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { findPostgres, startPostgres } from '../../test/support/postgres-server.ts';
import type { BulkConversation } from '../bulk.ts';
import { fillPostgres } from '../bulk-postgres.ts';
import { fillSqlite } from '../bulk-sqlite.ts';
import { withDirectory } from '../directory.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { providerOf, REPLY_MODEL, replyModel, SUMMARY_MODEL, summaryModel } from '../models.ts';
import { appendPast } from '../past.ts';
import { median } from '../samples.ts';
import { formatRows } from '../table.ts';
import { createWords } from '../words.ts';
import { conversationKey } from '../world.ts';

const WORDS = 12;
const WORKS = ['append', 'view', 'search'] as const;
const TITLES = { append: 'append', view: 'a view read and assembled', search: 'search' } as const;
const OF_ONE = 20;
const MEMORIES = 10;

/** Medians in milliseconds at one size. */
type Medians = Readonly<Record<(typeof WORKS)[number], number>>;

interface Place {
  readonly name: string;
  open(): Promise<Storage>;
  fill(conversations: readonly BulkConversation[]): Promise<void>;
}

interface Growth {
  readonly store: string;
  readonly of: (typeof GROWTHS)[number];
  readonly medians: readonly Medians[];
}

/** What grows, its size at each step, and the bar of a search at the last one. */
const GROWTHS = [
  {
    what: 'entries in one conversation',
    searchMs: 8,
    sizes: (quick: boolean) => (quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000]),
    names: () => ['long'],
    conversations: (size: number) => [bulk('long', { entries: size, isSummarised: true, memories: MEMORIES })],
  },
  {
    what: 'conversations',
    searchMs: null,
    sizes: (quick: boolean) => (quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]),
    names: (size: number) => numbers(size),
    conversations: (size: number) => numbers(size).map((name) => bulk(name, { entries: OF_ONE, memories: MEMORIES })),
  },
] as const;

/**
 * Append, view and search while a conversation grows, and while the number of conversations in a workspace grows. Flat
 * is ideal.
 */
export async function growth({ quick }: RowOptions): Promise<RowResult> {
  const rounds = quick ? 60 : 200;
  const grown: Growth[] = [];
  const notes = [noteOf(rounds)];
  const programs = await findPostgres();
  if (programs.kind === 'missing') notes.push(`Postgres was skipped: ${programs.reason}.`);
  for (const of of GROWTHS) {
    const measure = async (place: Place) => grown.push(await grow(place, { of, sizes: of.sizes(quick), rounds }));
    await withDirectory((directory) => measure(sqlite(directory)));
    if (programs.kind === 'missing') continue;
    await using server = await startPostgres(programs, { syncs: true });
    await measure(postgres(server.url));
  }
  return {
    figures: grown.flatMap((one) => WORKS.map((work) => figureOf(one, work, one.of.sizes(quick)))),
    notes,
    tables: GROWTHS.map((of) =>
      tableOf(
        grown.filter((one) => one.of === of),
        of.sizes(quick),
      ),
    ),
  };
}

function numbers(size: number): readonly string[] {
  return Array.from({ length: size }, (_, index) => `talk-${index}`);
}

let seeds = 0;

function bulk(name: string, rest: Omit<BulkConversation, 'name' | 'text'>): BulkConversation {
  seeds += 1;
  const words = createWords(seeds);
  return { name, text: () => words.text(WORDS), ...rest };
}

function sqlite(directory: string): Place {
  return {
    name: 'SQLite',
    open: () => createSqliteStorage({ directory }),
    fill: (conversations) => fillSqlite(directory, conversations),
  };
}

function postgres(url: string): Place {
  return {
    name: 'Postgres',
    open: () => createPostgresStorage({ url }),
    fill: (conversations) => fillPostgres(url, conversations),
  };
}

interface Growing {
  readonly of: (typeof GROWTHS)[number];
  readonly sizes: readonly number[];
  readonly rounds: number;
}

async function grow(place: Place, { of, sizes, rounds }: Growing): Promise<Growth> {
  const medians: Medians[] = [];
  for (const size of sizes) {
    await place.fill(of.conversations(size));
    const storage = await place.open();
    medians.push(await measure(storage, { names: of.names(size), rounds }));
    await storage.store.close();
  }
  return { store: place.name, of, medians };
}

async function measure(
  storage: Storage,
  { names, rounds }: { readonly names: readonly string[]; readonly rounds: number },
): Promise<Medians> {
  const { store, search } = storage;
  const bot = botOn(storage);
  const words = createWords(3);
  const pick = async () => {
    const found = await store.conversations.find(conversationKey(names[Math.floor(words.next() * names.length)] ?? ''));
    if (found === null) throw new Error('A conversation was not filled in');
    return found;
  };
  return {
    append: await medianOf(rounds, async () => {
      const { key, nextSeq } = await pick();
      const said = words.text(WORDS);
      return () => appendPast({ storage }, { conversation: key, from: nextSeq, count: 1, text: () => said });
    }),
    view: await medianOf(rounds, async () => {
      const found = await pick();
      return () => bot.commandServices.inspect(found);
    }),
    search: await medianOf(rounds, async () => {
      const { id: conversationId } = await pick();
      const text = words.text(5);
      return () => search.entries({ conversationId, text, limit: 20 });
    }),
  };
}

/** Only asked for its view of a conversation; never started. */
function botOn(storage: Storage) {
  return createBot({
    storage,
    queue: createLocalQueue({ log: silentLog }),
    models: providerOf(replyModel(), summaryModel(0)),
    agents: [defaultAgent({ model: REPLY_MODEL, compaction: { model: SUMMARY_MODEL } })],
  });
}

/** The first tenth is the warm-up. */
async function medianOf(rounds: number, prepare: () => Promise<() => Promise<unknown>>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds * 1.1; round += 1) {
    const work = await prepare();
    const startedAt = performance.now();
    await work();
    if (round >= rounds * 0.1) times.push(performance.now() - startedAt);
  }
  return median(times);
}

function figureOf({ store, of, medians }: Growth, work: (typeof WORKS)[number], sizes: readonly number[]): Figure {
  const [least, most] = [sizes[0] ?? 0, sizes.at(-1) ?? 0].map((size) => size.toLocaleString('en'));
  return {
    figure: `${store}: ${TITLES[work]} with ${most} ${of.what}, p50`,
    unit: 'ms',
    baseline: { of: `with ${least}`, value: medians[0]?.[work] ?? 0 },
    ours: medians.at(-1)?.[work] ?? 0,
    bar: work === 'search' && of.searchMs !== null ? { of: 'ours', is: 'below', value: of.searchMs } : null,
  };
}

function tableOf(grown: readonly Growth[], sizes: readonly number[]): string {
  const head = [`p50, by ${grown[0]?.of.what ?? ''}`, ...sizes.map((size) => size.toLocaleString('en'))];
  const rows = grown.flatMap(({ store, medians }) =>
    WORKS.map((work) => [`${store}: ${TITLES[work]}`, ...medians.map((one) => `${one[work].toFixed(2)} ms`)]),
  );
  return formatRows([head, ...rows]);
}

function noteOf(rounds: number): string {
  return `Medians of ${rounds}. The long conversation is summarised up to its newest 200 entries or so; the conversations of one workspace have ${OF_ONE} entries each; all have ${MEMORIES} memories. A view is read from the store, its memories are recalled, and it is measured, as before a reply. Every append is on the disk.`;
}
