import { type Kysely, type SqlBool, sql } from 'kysely';
import type {
  MemoryHit,
  MemoryQuery,
  MemoryReader,
  MemoryState,
  Search,
  SummaryHit,
  SummaryQuery,
} from '../../../src/adapter-kit.ts';
import {
  bestOf,
  COUNTED_ROWS,
  createShapes,
  DEFAULT_STATES,
  type Hit,
  inverseFrequency,
  named,
  type Parameter,
  placeholders,
  prepare,
  queryWords,
  readableBy,
  SATURATION,
  type SqlEngine,
  type Statement,
  shelfOf,
  type Tables,
  type Transaction,
} from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { rankEntries } from './entry-search.ts';
import { createFewTexts, FEW_MEMORIES, type FewTexts, type MemoryText, weighTexts } from './few-memories.ts';
import type { LateIndex } from './late-index.ts';
import type { IndexName, SearchTables } from './search-index.ts';
import { indexTerm } from './words.ts';

/** BM25 over what the reader may read; other rows do not affect a score. */
export function createSearch({
  engine,
  connection,
  lateIndex,
}: {
  readonly engine: SqlEngine;
  readonly connection: Connection;
  readonly lateIndex: Pick<LateIndex, 'covers' | 'flush'>;
}): Search {
  const query = engine.query.withTables<SearchTables>();
  const memories = createShapes(
    ({ reader, states = DEFAULT_STATES }: MemoryQuery) => `${reader.audience} ${reader.sharePublic} ${states.length}`,
    ({ reader, states = DEFAULT_STATES }) => prepareMemories(query, reader, states.length),
  );
  const fewTexts = createFewTexts();
  const summaries = prepareSummaries(query);
  return {
    async entries(wanted) {
      const rankIndexed = async () => (lateIndex.covers(wanted) ? null : rankEntries(connection, wanted));
      const hits = await engine.read(rankIndexed);
      if (hits !== null) return hits;
      await lateIndex.flush(wanted);
      return engine.read(async () => rankEntries(connection, wanted));
    },
    memories: (wanted) => searchMemories({ engine, statements: memories(wanted), fewTexts }, wanted),
    summaries: (wanted) => searchSummaries(engine, summaries, wanted),
  };
}

type SearchQuery = Kysely<Tables & SearchTables>;

interface ScoredRow<Id> {
  readonly id: Id;
  readonly score: number;
  /** The row's score with infinitely many occurrences of the word, to divide out the index's own word weight. */
  readonly perfect: number;
}

interface Ranking<Id> {
  readonly words: readonly string[];
  readonly count: Statement<{ readonly rows: number }>;
  matching(word: string): Statement<ScoredRow<Id>>;
}

async function rank<Id>(transaction: Transaction, ranking: Ranking<Id>): Promise<readonly Hit<Id>[]> {
  const { words, count, matching } = ranking;
  const [all] = await transaction.rows(count);
  if (all === undefined || all.rows === 0) return [];
  const scores = new Map<Id, number>();
  for (const word of words) {
    const rows = await transaction.rows(matching(word));
    const weight = inverseFrequency(rows.length, all.rows) * (1 + SATURATION);
    for (const { id, score, perfect } of rows) scores.set(id, (scores.get(id) ?? 0) + (weight * score) / perfect);
  }
  return [...scores].map(([id, score]) => ({ id, score }));
}

type MemoryStatements = ReturnType<typeof prepareMemories>;

interface MemorySearch {
  readonly engine: SqlEngine;
  readonly statements: MemoryStatements;
  readonly fewTexts: FewTexts;
}

async function searchMemories(
  { engine, statements, fewTexts }: MemorySearch,
  { reader, text, limit, states = DEFAULT_STATES }: MemoryQuery,
): Promise<readonly MemoryHit[]> {
  const words = queryWords(text);
  if (words.length === 0 || limit <= 0) return [];
  const weigh = (few: readonly MemoryText[]) => bestOf(weighTexts(fewTexts(few), words), limit);
  const isOfActive = states.length === 1 && states[0] === 'active';
  const known = isOfActive ? engine.knownMemories(reader) : null;
  if (known !== null) return weigh(known);
  const { place, workspace, agentId } = reader;
  const own = { place, workspace, agentId, ...named('state', states) };
  return engine.read(async (transaction) => {
    const active = isOfActive ? await engine.activeMemories(transaction, reader) : null;
    const few = active ?? (await transaction.rows(statements.texts(own)));
    if (few.length <= FEW_MEMORIES) return weigh(few);
    const shelves = [shelfOf(workspace), shelfOf('')];
    const matching = (word: string) => {
      const match = shelves.map((shelf) => indexTerm(shelf, word)).join(' OR ');
      return statements.matching({ ...own, match });
    };
    return bestOf(await rank(transaction, { words, count: statements.count(own), matching }), limit);
  });
}

interface MemoryValues {
  readonly place: string;
  readonly workspace: string;
  readonly agentId: string;
  readonly [state: `state.${number}`]: MemoryState;
}

function prepareMemories(query: SearchQuery, { audience, sharePublic }: MemoryReader, stateCount: number) {
  const readable = (p: Parameter<MemoryValues>) =>
    query
      .selectFrom('memory')
      .where(readableBy({ place: p('place'), workspace: p('workspace'), agentId: p('agentId'), audience, sharePublic }))
      .where('memory.state', 'in', placeholders(p, 'state', stateCount));
  return {
    /** One more than a few, to detect that there are more. */
    texts: prepare((p: Parameter<MemoryValues>) =>
      readable(p)
        .select(['memory.id', 'memory.text'])
        .limit(sql.lit(FEW_MEMORIES + 1)),
    ),
    count: prepare((p: Parameter<MemoryValues>) =>
      query
        .selectFrom(readable(p).select('memory.id').limit(COUNTED_ROWS).as('readable'))
        .select((select) => select.fn.countAll<number>().as('rows')),
    ),
    matching: prepare((p: Parameter<MemoryValues & { readonly match: string }>) =>
      readable(p)
        .innerJoin('search_key', 'search_key.id', 'memory.id')
        .innerJoin('memory_index', 'memory_index.rowid', 'search_key.number')
        .select(['memory.id', ...scoresOf('memory_index')])
        .where(sql<SqlBool>`memory_index match ${p('match')}`),
    ),
  };
}

async function searchSummaries(
  engine: SqlEngine,
  statements: ReturnType<typeof prepareSummaries>,
  { conversationId, text, limit }: SummaryQuery,
): Promise<readonly SummaryHit[]> {
  const words = queryWords(text);
  if (words.length === 0 || limit <= 0) return [];
  const count = statements.count({ conversationId });
  const matching = (word: string) => statements.matching({ conversationId, match: indexTerm(conversationId, word) });
  return engine.read(async (transaction) => bestOf(await rank(transaction, { words, count, matching }), limit));
}

interface SummaryValues {
  readonly conversationId: number;
}

function prepareSummaries(query: SearchQuery) {
  const own = (p: Parameter<SummaryValues>) =>
    query.selectFrom('summary').where('summary.conversation_id', '=', p('conversationId'));
  return {
    count: prepare((p: Parameter<SummaryValues>) =>
      query
        .selectFrom(own(p).select('summary.id').limit(COUNTED_ROWS).as('own'))
        .select((select) => select.fn.countAll<number>().as('rows')),
    ),
    matching: prepare((p: Parameter<SummaryValues & { readonly match: string }>) =>
      own(p)
        .innerJoin('search_key', 'search_key.id', 'summary.id')
        .innerJoin('summary_index', 'summary_index.rowid', 'search_key.number')
        .select(['summary.id', ...scoresOf('summary_index')])
        .where(sql<SqlBool>`summary_index match ${p('match')}`),
    ),
  };
}

function scoresOf(index: IndexName) {
  const table = sql.table(index);
  return [
    sql<number>`-bm25(${table})`.as('score'),
    // With an infinite weight, the index returns only the word's own factor.
    sql<number>`-bm25(${table}, 1e15)`.as('perfect'),
  ] as const;
}
