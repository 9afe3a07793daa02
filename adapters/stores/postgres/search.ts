import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import type { MemoryReader, Search } from '../../../src/adapter-kit.ts';
import {
  bestOf,
  COUNTED_ROWS,
  createShapes,
  DEFAULT_STATES,
  type Hit,
  inverseFrequency,
  type Match,
  onShelf,
  type Parameter,
  prepare,
  queryWords,
  RANKED_ROWS,
  readableBy,
  type SqlEngine,
  type Statement,
  score,
  shelfOf,
  type Tables,
} from '../sql/index.ts';
import { createEntryReaders } from './entry-reader.ts';
import { rankEntries } from './entry-search.ts';

/** BM25 over what the reader may read; other rows do not affect a score. */
export function createSearch(engine: SqlEngine): Search {
  const open = createEntryReaders(engine.query);
  const memories = createShapes(
    ({ audience, sharePublic }: MemoryReader) => `${audience} ${sharePublic}`,
    (reader) => prepareMemories(engine.query, reader),
  );
  const summaries = prepareSummaries(engine.query);
  return {
    entries: (wanted) => engine.read((transaction) => rankEntries(() => open(transaction, wanted), wanted)),
    memories: ({ reader, text, states = DEFAULT_STATES, limit }) => {
      const { place, workspace, agentId } = reader;
      const shelves = [shelfOf(workspace), shelfOf('')];
      const own = { place, workspace, agentId, states };
      return rank(engine, {
        terms: queryWords(text).map((word) => shelves.map((shelf) => onShelf(shelf, word)).join(' | ')),
        limit,
        statements: (terms) => memories(reader)({ ...own, terms }),
      });
    },
    summaries: ({ conversationId, text, limit }) =>
      rank(engine, {
        terms: queryWords(text).map((word) => onShelf(conversationId, word)),
        limit,
        statements: (terms) => summaries({ conversationId, terms }),
      }),
  };
}

interface RankedRow<Id> extends Omit<Match<Id>, 'word'> {
  /** Counted from 1. */
  readonly place: number;
  /** How many there are, whatever they say. */
  readonly total: number;
}

interface Ranking<Id extends string> {
  readonly terms: readonly string[];
  readonly limit: number;
  statements(terms: readonly string[]): Statement<RankedRow<Id>>;
}

async function rank<Id extends string>(
  engine: SqlEngine,
  { terms, limit, statements }: Ranking<Id>,
): Promise<readonly Hit<Id>[]> {
  if (terms.length === 0 || limit <= 0) return [];
  const rows = await engine.read((transaction) => transaction.rows(statements(terms)));
  const byWord = Map.groupBy(rows, (row) => row.place - 1);
  const all = rows[0]?.total ?? 0;
  const weights = terms.map((_, word) => inverseFrequency(byWord.get(word)?.length ?? 0, all));
  const hits = score(
    rows.map((row) => ({ ...row, word: row.place - 1 })),
    weights,
  );
  return bestOf(hits, limit);
}

interface MemoryValues {
  readonly place: string;
  readonly workspace: string;
  readonly agentId: string;
  readonly states: readonly string[];
  readonly terms: readonly string[];
}

type MemoryRowId = Tables['memory']['id'];

function prepareMemories(query: Kysely<Tables>, { audience, sharePublic }: MemoryReader) {
  return prepare((p: Parameter<MemoryValues>) => {
    const reader = { place: p('place'), workspace: p('workspace'), agentId: p('agentId'), audience, sharePublic };
    const isOwn = sql<SqlBool>`${readableBy(reader)} and memory.state = any(${p('states')}::text[])`;
    return { compile: () => ranked<MemoryRowId>({ table: 'memory', isOwn, terms: p('terms') }).compile(query) };
  });
}

interface SummaryValues {
  readonly conversationId: number;
  readonly terms: readonly string[];
}

function prepareSummaries(query: Kysely<Tables>) {
  return prepare((p: Parameter<SummaryValues>) => {
    const isOwn = sql<SqlBool>`summary.conversation_id = ${p('conversationId')}`;
    const terms = p('terms');
    return { compile: () => ranked<Tables['summary']['id']>({ table: 'summary', isOwn, terms }).compile(query) };
  });
}

/**
 * The newest rows of each term that the reader may read. The rank with all weights at 1 is the word's frequency in a
 * row.
 */
function ranked<Id>(of: {
  readonly table: 'memory' | 'summary';
  readonly isOwn: Expression<SqlBool>;
  readonly terms: Expression<readonly string[]>;
}) {
  const table = sql.table(of.table);
  const index = sql.table(`${of.table}_index`);
  return sql<RankedRow<Id>>`
    with wanted as materialized (
      select place, term::tsquery as term from unnest(${of.terms}::text[]) with ordinality as given(term, place))
    select wanted.place, found.id, found.length,
      ts_rank_cd('{1,1,1,1}', found.words, wanted.term) as occurrences,
      (select count(*) from (select 1 from ${table} where ${of.isOwn} limit ${sql.lit(COUNTED_ROWS)}) as own) as total
    from wanted cross join lateral (
      select ${table}.id, ${index}.length, ${index}.words
      from ${index} join ${table} on ${table}.id = ${index}.id
      where ${index}.words @@ wanted.term and ${of.isOwn}
      order by ${table}.created_at desc limit ${sql.lit(RANKED_ROWS)}
    ) as found`;
}
