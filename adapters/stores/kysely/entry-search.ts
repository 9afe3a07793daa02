import type { EntryHit, EntryQuery } from '../../../src/adapter-kit.ts';
import {
  FEW_ROWS,
  type Hit,
  inverseFrequency,
  type Match,
  onShelf,
  queryTerms,
  score,
  type Transaction,
} from '../sql/index.ts';
import type { SearchQuery } from './search-index.ts';

/** Rows of one word that are ranked: the newest. A word with more is common. */
const RANKED_ROWS = 1_000;
/** The best entries by what was found first; only they are checked for older occurrences of common words. */
const MAX_HOPEFUL = 100;

interface Found {
  readonly text: string;
  readonly rows: readonly Omit<Match<number>, 'word'>[];
  readonly weight: number;
}

/** BM25 within one conversation, in bounded time however long it is. */
export async function rankEntries(
  query: SearchQuery,
  transaction: Transaction,
  wanted: EntryQuery,
): Promise<readonly EntryHit[]> {
  const terms = queryTerms(wanted);
  if (terms.length === 0 || wanted.limit <= 0) return [];
  const entries = await countEntries(query, transaction, wanted);
  // The index of a conversation that is being deleted may still have rows.
  if (entries === 0) return [];
  const lookUp = async (text: string): Promise<Found> => {
    const rows = await transaction.rows(
      rowsOf(query, wanted, text).orderBy('seq', 'desc').limit(RANKED_ROWS).compile(),
    );
    return { text, rows, weight: inverseFrequency(estimatedRows(rows, wanted, entries), entries) };
  };
  const found: Found[] = [];
  for (const { stem } of terms) found.push(await lookUp(stem));
  const rare = terms.filter((_, word) => (found[word]?.rows.length ?? 0) < FEW_ROWS);
  const forms = new Set(rare.flatMap(({ beginnings }) => beginnings));
  // A word that hardly occurs is looked up by its other forms too.
  for (const form of forms.difference(new Set(found.map(({ text }) => text)))) found.push(await lookUp(form));
  const first = ranked(found, []).slice(0, Math.max(MAX_HOPEFUL, wanted.limit));
  const besides = await olderOf(found, first, (text, seqs) =>
    transaction.rows(rowsOf(query, wanted, text).where('seq', 'in', seqs).compile()),
  );
  return ranked(found, besides)
    .slice(0, wanted.limit)
    .map(({ id, score: value }) => ({ seq: id, score: value }));
}

async function countEntries(
  query: SearchQuery,
  transaction: Transaction,
  { conversationId, fromSeq = 1, toSeq = Number.MAX_SAFE_INTEGER }: EntryQuery,
): Promise<number> {
  const statement = query.selectFrom('conversation').select('next_seq').where('id', '=', conversationId).compile();
  const [row] = await transaction.rows(statement);
  return Math.max(0, Math.min(toSeq, (row?.next_seq ?? 1) - 1) - Math.max(fromSeq, 1) + 1);
}

/** The rows of a word that the query may find. */
function rowsOf(query: SearchQuery, { conversationId, fromSeq, toSeq, authorId, sinceAt }: EntryQuery, word: string) {
  const named = query
    .selectFrom('entry_word')
    .select(['seq as id', 'occurrences', 'length'])
    .where('conversation_id', '=', conversationId)
    .where('word', '=', onShelf(conversationId, word));
  const from = fromSeq === undefined ? named : named.where('seq', '>=', fromSeq);
  const range = toSeq === undefined ? from : from.where('seq', '<=', toSeq);
  if (authorId === undefined && sinceAt === undefined) return range;
  const own = query.selectFrom('entry').select('entry.seq').where('entry.conversation_id', '=', conversationId);
  const written = authorId === undefined ? own : own.where('entry.author_id', '=', authorId);
  return range.where('seq', 'in', sinceAt === undefined ? written : written.where('entry.at', '>=', sinceAt));
}

/** Extrapolates from the part that was read. */
function estimatedRows(rows: Found['rows'], { toSeq }: EntryQuery, entries: number): number {
  const [newest, oldest] = [rows[0]?.id, rows.at(-1)?.id];
  if (rows.length < RANKED_ROWS || newest === undefined || oldest === undefined) return rows.length;
  return Math.round((rows.length * entries) / (Math.min(toSeq ?? newest, newest) - oldest + 1));
}

/** What common words add to entries that another word has found. */
async function olderOf(
  found: readonly Found[],
  hopeful: readonly Hit<number>[],
  read: (text: string, seqs: readonly number[]) => Promise<Found['rows']>,
): Promise<readonly Match<number>[]> {
  const matches: Match<number>[] = [];
  for (const [word, { text, rows }] of found.entries()) {
    if (rows.length < RANKED_ROWS) continue;
    const known = new Set(rows.map(({ id }) => id));
    const seqs = hopeful.map(({ id }) => id).filter((seq) => !known.has(seq));
    if (seqs.length > 0) for (const row of await read(text, seqs)) matches.push({ ...row, word });
  }
  return matches;
}

/** Best first, newer ones first among equals. */
function ranked(found: readonly Found[], besides: readonly Match<number>[]): readonly Hit<number>[] {
  const matches = found.flatMap(({ rows }, word) => rows.map((row) => ({ ...row, word })));
  const weights = found.map(({ weight }) => weight);
  return score([...matches, ...besides], weights).sort((a, b) => b.score - a.score || b.id - a.id);
}
