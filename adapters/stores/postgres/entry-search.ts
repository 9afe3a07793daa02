import type { EntryHit, EntryQuery } from '../../../src/adapter-kit.ts';
import {
  FEW_ROWS,
  type Hit,
  inverseFrequency,
  type Match,
  onShelf,
  type QueryWord,
  queryTerms,
  score,
} from '../sql/index.ts';
import type { EntryReader, FoundRow, OpenReader, Term, WantedRows } from './entry-reader.ts';

/** The best entries by their rare words. Only they are checked for common words, because each check costs a lookup. */
const MAX_HOPEFUL = 100;

type Reach = Pick<WantedRows, 'rows' | 'smallShelves' | 'counts'>;

/** Rows of one word that are ranked. A word with more rows is common. */
const ALONE: Reach = { rows: 150, smallShelves: 8, counts: true };
/** Rows with a common word next to another one that are checked, however old. They are few among many entries. */
const TOGETHER: Reach = { rows: 500, smallShelves: 0, counts: false };

/**
 * BM25 within one conversation, in bounded time however long it is. Rare words decide: all their entries are ranked.
 * Common words count where a rare one occurs too, and among the newest entries.
 */
export async function rankEntries(open: () => ReturnType<OpenReader>, query: EntryQuery): Promise<readonly EntryHit[]> {
  const terms = queryTerms(query);
  if (terms.length === 0 || query.limit <= 0) return [];
  const reader = await open();
  if (reader === null) return [];
  const { words, found } = await lookUp(reader, terms);
  const weights = found.map(({ rows }) => (rows === 0 ? 0 : inverseFrequency(rows, reader.entries)));
  const matches = found.flatMap((word) => word.matches);
  const hopeful = best(score(matches, weights)).slice(0, Math.max(MAX_HOPEFUL, query.limit));
  const besides = await beside(reader, { words, found, hopeful: new Set(hopeful.map(({ id }) => id)) });
  return best(score([...matches, ...besides], weights))
    .slice(0, query.limit)
    .map(({ id, score: value }) => ({ seq: id, score: value }));
}

/** The words of the query. A word that hardly occurs is looked up by its other forms too. */
async function lookUp(reader: EntryReader, terms: readonly QueryWord[]): Promise<Omit<Gathered, 'hopeful'>> {
  const stems = terms.map(({ stem }) => stem);
  const found = await gather(reader, stems.map(plain), ALONE);
  const rare = terms.filter((_, word) => (found[word]?.rows ?? 0) < FEW_ROWS);
  const forms = [...new Set(rare.flatMap(({ beginnings }) => beginnings)).difference(new Set(stems))];
  if (forms.length === 0) return { words: stems, found };
  const others = await gather(reader, forms.map(plain), ALONE);
  const moved = others.map((word) => ({
    ...word,
    matches: word.matches.map((match) => ({ ...match, word: match.word + stems.length })),
  }));
  return { words: [...stems, ...forms], found: [...found, ...moved] };
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

/** The newest rows of each term, until the word has so many that it is common. */
async function gather(reader: EntryReader, terms: readonly Term[], reach: Reach): Promise<readonly Found[]> {
  const found = await reader.matching(terms.map((term, word) => ({ word, term, ...reach })));
  const byWord = Map.groupBy(found, ({ word }) => word);
  return terms.map((_, word) => summed(reader, byWord.get(word) ?? [], reach.rows));
}

/** Extrapolates from the part that was seen. */
function summed({ lastSeq, entries }: EntryReader, found: readonly FoundRow[], limit: number): Found {
  const matches = found.filter(({ isWanted }) => isWanted);
  if (found.length < limit) return { matches, rows: found.length, isCommon: false };
  const lowest = Math.min(...found.map(({ id }) => id));
  return { matches, rows: Math.round((found.length * entries) / (lastSeq - lowest + 1)), isCommon: true };
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
    matches.flatMap((match) => [others[index] ?? 0, least].map((word) => ({ ...match, word }))),
  );
  return unknownOf(added, found);
}

/** Each entry and word once, without those found already. */
function unknownOf(added: readonly Match<number>[], found: readonly Found[]): Match<number>[] {
  const known = found.map(({ matches }) => new Set(matches.map(({ id }) => id)));
  return added.filter(({ id, word }) => known[word]?.has(id) === false && known[word].add(id) !== undefined);
}
