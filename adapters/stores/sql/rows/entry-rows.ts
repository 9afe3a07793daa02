import type { SelectQueryBuilder, Updateable } from 'kysely';
import { additionsIn, type Part, textOfEverything } from '../../../../src/adapter-kit.ts';
import {
  first,
  type Parameter,
  prepare,
  type SqlEngine,
  type Statement,
  type Transaction,
  together,
} from '../query/engine.ts';
import { readAdditions, readParts, writeAdditions, writeJson } from '../query/json.ts';
import type { EntryRow, ReadEntryRow, Tables } from '../schema/tables.ts';
import { searchableText } from './domain-objects.ts';

/** Transcript rows as units read and write them, with their search index. */
export interface EntryRows {
  insert(transaction: Transaction, entry: NewEntry): Promise<void>;
  /** The rows that exist, in ascending order. */
  pick(transaction: Transaction, conversationId: number, seqs: readonly number[]): Promise<readonly EntryRow[]>;
  /** The same rows, without the columns that only changes need. */
  read(transaction: Transaction, conversationId: number, seqs: readonly number[]): Promise<readonly ReadEntryRow[]>;
  /** A person's message, or the entry behind a post of the bot. */
  byExternalId(transaction: Transaction, conversationId: number, externalId: string): Promise<EntryRow | null>;
  /** The first of the range, ascending. */
  oldest(transaction: Transaction, range: EntryRange): Promise<readonly EntryRow[]>;
  /** The last of the range, ascending. */
  newest(transaction: Transaction, range: EntryRange): Promise<readonly EntryRow[]>;
  rewrite(transaction: Transaction, row: EntryRow, change: Rewrite): Promise<void>;
}

type NewEntryRow = Omit<EntryRow, 'edited_at' | 'redacted_at' | 'changed_revision' | 'added'>;

/** A row whose parts are not serialised yet. */
export type NewEntry = Omit<NewEntryRow, 'parts'> & { readonly parts: readonly Part[] };

export interface EntryRange extends SeqWindow {
  /** Only entries of this person. */
  readonly authorId?: string;
}

interface SeqWindow {
  readonly conversationId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly limit: number;
}

type Rewrite = Updateable<Tables['entry']> & { readonly parts: string };

export function createEntryRows(engine: SqlEngine): EntryRows {
  const { query } = engine;
  const statements = prepareStatements(engine);
  return {
    async insert(transaction, entry) {
      const { conversation_id: conversationId, seq, role, parts } = entry;
      const text = searchableText(role, parts);
      const row = { ...entry, parts: writeJson(parts) };
      await together([
        transaction.run(statements.insert(row)),
        engine.index.added(transaction, { conversationId, seq, text }),
      ]);
    },
    pick: createPick(statements.at, statements.among),
    read: createPick(statements.at, statements.readAmong),
    async byExternalId(transaction, conversationId, externalId) {
      const own = await first(transaction, statements.byExternalId({ conversationId, externalId }));
      return own ?? first(transaction, statements.posted({ conversationId, externalId }));
    },
    oldest: (transaction, { authorId, ...range }) =>
      transaction.rows(authorId === undefined ? statements.oldest(range) : statements.saidBy({ ...range, authorId })),
    newest: async (transaction, range) => (await transaction.rows(statements.newest(range))).toReversed(),
    async rewrite(transaction, row, change) {
      const { conversation_id: conversationId, seq } = row;
      const added = change.added === undefined ? additionsLeft(row, change.parts) : change.added;
      const update = query
        .updateTable('entry')
        .set({ ...change, added })
        .where('conversation_id', '=', conversationId);
      await transaction.run(update.where('seq', '=', seq).compile());
      const before = indexed(row);
      const after = indexed({ role: row.role, parts: change.parts });
      if (before !== after) await engine.index.rewritten(transaction, { conversationId, seq, before, after });
    },
  };
}

/** What edits added and the new parts still say. */
function additionsLeft({ added }: EntryRow, parts: string): string | null {
  if (added === null) return null;
  return writeAdditions(additionsIn(textOfEverything({ parts: readParts(parts) }), readAdditions(added)));
}

/** The indexed text of the row. */
export function indexed(row: Pick<EntryRow, 'role' | 'parts'>): string {
  return searchableText(row.role, readParts(row.parts));
}

/** Entries of one statement. A list of changing length would be another statement each time. */
const PICKED = 64;

/** One row has a statement of its own. */
function createPick<One extends Row, Row>(
  at: (entry: { readonly conversationId: number; readonly seq: number }) => Statement<One>,
  among: (values: readonly number[]) => Statement<Row>,
) {
  return async (transaction: Transaction, conversationId: number, seqs: readonly number[]): Promise<readonly Row[]> => {
    const [seq, ...others] = new Set(seqs);
    if (seq === undefined) return [];
    if (others.length === 0) return await transaction.rows(at({ conversationId, seq }));
    const pages = pagesOf([seq, ...others]).map((page) => transaction.rows(among([conversationId, ...page])));
    return (await together(pages)).flat();
  };
}

/** Ascending, with as many seqs as the statement has; the last one fills the rest. */
function pagesOf(seqs: readonly number[]): readonly (readonly number[])[] {
  const ascending = seqs.toSorted((a, b) => a - b);
  const last = ascending.at(-1) ?? 0;
  return Array.from({ length: Math.ceil(ascending.length / PICKED) }, (_, page) => {
    const own = ascending.slice(page * PICKED, (page + 1) * PICKED);
    return own.length === PICKED ? own : [...own, ...new Array<number>(PICKED - own.length).fill(last)];
  });
}

const READ_COLUMNS = [
  ...(['seq', 'external_id', 'role', 'turn', 'author_id', 'author_name', 'author_kind', 'parts'] as const),
  ...(['reply_to', 'mentions', 'tokens', 'at', 'edited_at', 'redacted_at', 'wants_reply'] as const),
] satisfies (keyof ReadEntryRow)[];
/** Places of the seqs among the values. The conversation comes first. */
const SEQ_PLACES = Array.from({ length: PICKED }, (_, index) => index + 1);

function prepareStatements({ query }: SqlEngine) {
  const all = query.selectFrom('entry').selectAll('entry');
  const among = <Row>(select: SelectQueryBuilder<Tables, 'entry', Row>) =>
    prepare((p: Parameter<readonly number[]>) =>
      select
        .where('conversation_id', '=', p(0))
        .where(
          'seq',
          'in',
          SEQ_PLACES.map((place) => p(place)),
        )
        .orderBy('seq'),
    );
  const within = (p: Parameter<SeqWindow>) =>
    all
      .where('conversation_id', '=', p('conversationId'))
      .where('seq', '>=', p('fromSeq'))
      .where('seq', '<=', p('toSeq'))
      .limit(p('limit'));
  return {
    insert: prepareInsert(query),
    at: prepare((p: Parameter<{ conversationId: number; seq: number }>) =>
      all.where('conversation_id', '=', p('conversationId')).where('seq', '=', p('seq')),
    ),
    among: among(all),
    readAmong: among(query.selectFrom('entry').select(READ_COLUMNS)),
    byExternalId: prepare((p: Parameter<ExternalId>) =>
      all.where('conversation_id', '=', p('conversationId')).where('external_id', '=', p('externalId')),
    ),
    posted: prepare((p: Parameter<ExternalId>) =>
      all
        .innerJoin('outbox', (join) =>
          join
            .onRef('outbox.conversation_id', '=', 'entry.conversation_id')
            .onRef('outbox.entry_seq', '=', 'entry.seq'),
        )
        .where('outbox.conversation_id', '=', p('conversationId'))
        .where('outbox.platform_message_id', '=', p('externalId')),
    ),
    oldest: prepare((p: Parameter<SeqWindow>) => within(p).orderBy('seq')),
    saidBy: prepare((p: Parameter<SeqWindow & { authorId: string }>) =>
      within(p).where('author_id', '=', p('authorId')).orderBy('seq'),
    ),
    newest: prepare((p: Parameter<SeqWindow>) => within(p).orderBy('seq', 'desc')),
  };
}

function prepareInsert(query: SqlEngine['query']) {
  return prepare((p: Parameter<NewEntryRow>) =>
    query.insertInto('entry').values({
      conversation_id: p('conversation_id'),
      seq: p('seq'),
      external_id: p('external_id'),
      role: p('role'),
      turn: p('turn'),
      author_id: p('author_id'),
      author_name: p('author_name'),
      author_kind: p('author_kind'),
      parts: p('parts'),
      reply_to: p('reply_to'),
      mentions: p('mentions'),
      tokens: p('tokens'),
      at: p('at'),
      request: p('request'),
      wants_reply: p('wants_reply'),
    }),
  );
}

interface ExternalId {
  readonly conversationId: number;
  readonly externalId: string;
}
