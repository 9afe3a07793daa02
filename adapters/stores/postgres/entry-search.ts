import type { EntryHit, EntryQuery } from '../../../src/adapter-kit.ts';
import { onShelf, queryWords } from '../sql/index.ts';
import type { EntryReader, FoundRow, OpenReader, Term } from './entry-reader.ts';
import { type Hit, inverseFrequency, type Match, score } from './ranking.ts';
import { SHELF_ENTRIES, type ShelfSize } from './search-index.ts';

/** The best entries by their rare words. Only they are checked for common words, because each check costs a lookup. */
const MAX_HOPEFUL = 100;
interface Reach {
  readonly rows: number;
  /** Entries of the first step; its results determine the size of the next one. */
  readonly firstEntries: number;
}

/** Rows of one word that are ranked. A word with more rows is common: its newest rows count. */
const ALONE: Reach = { rows: 150, firstEntries: SHELF_ENTRIES.small / 2 };
/** Rows with a common word next to another one that are checked, however old. They are few among many entries. */
const TOGETHER: Reach = { rows: 500, firstEntries: SHELF_ENTRIES.large };
/** Growth limit from one step to the next. Reading the index takes less time than another step, a query of its own. */
const GROWTH = 64;
/** Each step covers this many times what will probably do, so that the estimate may be too low. */
const ALLOWANCE = 1.5;
/** Above this number of entries, large shelves are used. */
const MAX_SMALL_SHELVES = 8;

/**
 * BM25 within one conversation, in bounded time however long it is. Rare words decide: all their entries are ranked.
 * Common words count where a rare one occurs too, and among the newest entries.
 */
export async function rankEntries(open: () => ReturnType<OpenReader>, query: EntryQuery): Promise<readonly EntryHit[]> {
  const words = queryWords(query.text);
  if (words.length === 0 || query.limit <= 0) return [];
  const reader = await open();
  if (reader === null) return [];
  const found = await gather(reader, words.map(plain), ALONE);
  const weights = found.map(({ rows }) => (rows === 0 ? 0 : inverseFrequency(rows, reader.entries)));
  const matches = found.flatMap((word) => word.matches);
  const hopeful = best(score(matches, weights)).slice(0, Math.max(MAX_HOPEFUL, query.limit));
  const besides = await beside(reader, { words, found, hopeful: new Set(hopeful.map(({ id }) => id)) });
  return best(score([...matches, ...besides], weights))
    .slice(0, query.limit)
    .map(({ id, score: value }) => ({ seq: id, score: value }));
}

function best(hits: readonly Hit<number>[]): readonly Hit<number>[] {
  return hits.toSorted((a, b) => b.score - a.score || b.id - a.id);
}

interface Found {
  readonly matches: readonly Match<number>[];
  /** In the whole range: counted, or estimated if there are many. */
  readonly rows: number;
  readonly isCommon: boolean;
}

function plain(word: string): Term {
  return (shelf) => onShelf(shelf, word);
}

/** What is known about one word so far. */
interface Hunt {
  readonly word: number;
  readonly term: Term;
  readonly matches: Match<number>[];
  /** All entries with the word, including those that the query filters out, and the oldest of them. */
  rows: number;
  lowest: number;
  /** Entries before this one were not checked. */
  below: number;
}

/**
 * From the newest entry backwards, each step as far as will probably do, until the word has so many rows that it is
 * common, or all entries were checked.
 */
async function gather(reader: EntryReader, terms: readonly Term[], reach: Reach): Promise<readonly Found[]> {
  const { firstSeq, lastSeq } = reader;
  const hunts = terms.map(
    (term, word): Hunt => ({ word, term, matches: [], rows: 0, lowest: lastSeq, below: lastSeq + 1 }),
  );
  const isOpen = ({ rows, below }: Hunt) => rows < reach.rows && below > firstSeq;
  for (let open = hunts; open.length > 0; open = open.filter(isOpen)) {
    const wanted = open.map((hunt) => {
      const { word, term, below, rows } = hunt;
      const step = nextStep(reader, hunt, reach);
      hunt.below = step.fromSeq;
      return { word, term, ...step, toSeq: below - 1, limit: reach.rows - rows };
    });
    for (const row of await reader.matching(wanted)) take(hunts[row.word], row);
  }
  return hunts.map((hunt) => summed(reader, hunt, reach.rows));
}

function take(hunt: Hunt | undefined, row: FoundRow): void {
  if (hunt === undefined) return;
  hunt.rows += 1;
  hunt.lowest = Math.min(hunt.lowest, row.id);
  if (row.isWanted) hunt.matches.push(row);
}

/** Pure: the number of entries that probably contain the missing rows, and not many more than seen before. */
function nextStep({ firstSeq, lastSeq }: EntryReader, { rows, below }: Hunt, reach: Reach) {
  const seen = lastSeq + 1 - below;
  const likely = ((reach.rows - rows) * seen) / (rows + 1);
  const missing = seen === 0 ? reach.firstEntries : Math.min(ALLOWANCE * likely, GROWTH * seen);
  const size: ShelfSize = missing > MAX_SMALL_SHELVES * SHELF_ENTRIES.small ? 'large' : 'small';
  const oldest = Math.max(below - missing, firstSeq);
  return { size, fromSeq: Math.floor(oldest / SHELF_ENTRIES[size]) * SHELF_ENTRIES[size] };
}

/** Extrapolates from the part that was seen. */
function summed({ lastSeq, entries }: EntryReader, { matches, rows, lowest }: Hunt, limit: number): Found {
  if (rows < limit) return { matches, rows, isCommon: false };
  return { matches, rows: Math.round((rows * entries) / (lastSeq - lowest + 1)), isCommon: true };
}

/** What common words add to entries that another word has found: to all with a rare word, or otherwise to some. */
async function beside(reader: EntryReader, query: Gathered): Promise<readonly Match<number>[]> {
  const { words, found, hopeful } = query;
  const common = words.flatMap((_, word) => (found[word]?.isCommon ? [word] : []));
  const rare = found.filter(({ isCommon }) => !isCommon).flatMap(({ matches }) => matches.map(({ id }) => id));
  if (rare.length === 0) return await besideLeast(reader, query, common);
  return await besideRare(reader, query, { common, rare: rare.filter((seq) => hopeful.has(seq)) });
}

interface Gathered {
  readonly words: readonly string[];
  readonly found: readonly Found[];
  readonly hopeful: ReadonlySet<number>;
}

function besideRare(
  reader: EntryReader,
  { words, found }: Gathered,
  { common, rare }: { readonly common: readonly number[]; readonly rare: readonly number[] },
): Promise<readonly Match<number>[]> {
  const seqs = new Set(rare);
  const wanted = common.map((word) => {
    const known = new Set(found[word]?.matches.map(({ id }) => id));
    return { word, text: words[word] ?? '', seqs: [...seqs.difference(known)] };
  });
  return reader.having(wanted);
}

/** No word is rare: the newest entries with the least common word and another one. */
async function besideLeast(
  reader: EntryReader,
  { words, found }: Gathered,
  common: readonly number[],
): Promise<Match<number>[]> {
  const [least = 0, ...others] = common.toSorted((a, b) => (found[a]?.rows ?? 0) - (found[b]?.rows ?? 0));
  const named = (word: number) => words[word] ?? '';
  const terms = others.map(
    (word): Term =>
      (shelf) =>
        `${onShelf(shelf, named(least))} & ${onShelf(shelf, named(word))}`,
  );
  const both = await gather(reader, terms, TOGETHER);
  const added = both.flatMap(({ matches }, index) =>
    matches.flatMap((match) => [others[index] ?? 0, least].map((word) => ({ ...match, word, occurrences: 1 }))),
  );
  return unknownOf(added, found);
}

/** Each entry and word once, without those found already. */
function unknownOf(added: readonly Match<number>[], found: readonly Found[]): Match<number>[] {
  const known = new Set(found.flatMap(({ matches }) => matches.map(({ id, word }) => `${word} ${id}`)));
  return added.filter(({ id, word }) => {
    const key = `${word} ${id}`;
    return known.has(key) ? false : known.add(key) !== undefined;
  });
}
