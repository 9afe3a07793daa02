import type { Expression, SqlBool } from 'kysely';
import type { MemoryQuery, Search, SummaryQuery } from '../../../src/adapter-kit.ts';
import {
  bestOf,
  COUNTED_ROWS,
  DEFAULT_STATES,
  type Hit,
  inverseFrequency,
  type Match,
  onShelf,
  queryWords,
  RANKED_ROWS,
  readableBy,
  type SqlEngine,
  type Statement,
  score,
  shelfOf,
  type Transaction,
} from '../sql/index.ts';
import { rankEntries } from './entry-search.ts';
import type { SearchQuery, SearchTables } from './search-index.ts';

/** BM25 over what the reader may read; other rows do not affect a score. */
export function createSearch(engine: SqlEngine): Search {
  const query = engine.query.withTables<SearchTables>();
  return {
    entries: (wanted) => engine.read((transaction) => rankEntries(query, transaction, wanted)),
    memories: (wanted) => engine.read((transaction) => rank(transaction, memoriesOf(query, wanted))),
    summaries: (wanted) => engine.read((transaction) => rank(transaction, summariesOf(query, wanted))),
  };
}

interface Ranking<Id extends string> {
  readonly words: readonly string[];
  readonly limit: number;
  /** Rows that the reader may read, whatever they say. */
  readonly count: Statement<{ readonly rows: number }>;
  matching(word: string): Statement<Omit<Match<Id>, 'word'>>;
}

async function rank<Id extends string>(
  transaction: Transaction,
  { words, limit, count, matching }: Ranking<Id>,
): Promise<readonly Hit<Id>[]> {
  if (words.length === 0 || limit <= 0) return [];
  const [all = { rows: 0 }] = await transaction.rows(count);
  const matches: Match<Id>[] = [];
  const weights: number[] = [];
  for (const [word, text] of words.entries()) {
    const rows = await transaction.rows(matching(text));
    weights.push(inverseFrequency(rows.length, all.rows));
    for (const row of rows) matches.push({ ...row, word });
  }
  return bestOf(score(matches, weights), limit);
}

function memoriesOf(query: SearchQuery, { reader, text, limit, states = DEFAULT_STATES }: MemoryQuery) {
  const shelves = [...new Set([shelfOf(reader.workspace), shelfOf('')])];
  const own: Expression<SqlBool> = readableBy(reader);
  const readable = query.selectFrom('memory').where(own).where('memory.state', 'in', states);
  return {
    words: queryWords(text),
    limit,
    count: query
      .selectFrom(readable.select('memory.id').limit(COUNTED_ROWS).as('readable'))
      .select((select) => select.fn.countAll<number>().as('rows'))
      .compile(),
    matching: (word: string) =>
      readable
        .innerJoin('memory_word as found', 'found.id', 'memory.id')
        .where(
          'found.word',
          'in',
          shelves.map((shelf) => onShelf(shelf, word)),
        )
        .select(['memory.id', 'found.occurrences', 'found.length'])
        .orderBy('memory.created_at', 'desc')
        .limit(RANKED_ROWS)
        .compile(),
  };
}

function summariesOf(query: SearchQuery, { conversationId, text, limit }: SummaryQuery) {
  const own = query.selectFrom('summary').where('summary.conversation_id', '=', conversationId);
  return {
    words: queryWords(text),
    limit,
    count: query
      .selectFrom(own.select('summary.id').limit(COUNTED_ROWS).as('own'))
      .select((select) => select.fn.countAll<number>().as('rows'))
      .compile(),
    matching: (word: string) =>
      own
        .innerJoin('summary_word as found', 'found.id', 'summary.id')
        .where('found.word', '=', onShelf(conversationId, word))
        .select(['summary.id', 'found.occurrences', 'found.length'])
        .orderBy('summary.created_at', 'desc')
        .limit(RANKED_ROWS)
        .compile(),
  };
}
