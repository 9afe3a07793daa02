import type { Kysely } from 'kysely';
import type { EntryQuery } from '../../../src/adapter-kit.ts';
import { type IndexedEntry, type Parameter, prepare, type Tables, type Transaction } from '../sql/index.ts';
import type { GroupCommit } from './group-commit.ts';
import { entryNumber, prepareIndex, SEQS_OF_A_CONVERSATION, type SearchTables } from './search-index.ts';
import { indexText } from './words.ts';

/** Words of entries that have lost or changed their text, until the index has lost them too. */
export interface Removals {
  /** Records them in the transaction that changes the text. */
  leave(transaction: Transaction, entry: IndexedEntry): Promise<void>;
  /** Removes some of them from the index, in a transaction of its own. */
  some(range: NumberRange): Promise<{ readonly count: number; readonly isMore: boolean }>;
}

/** Of one transaction. The index removes the words when it ends, in about 2 µs per character. */
const MAX_ROWS = 64;
const MAX_CHARACTERS = 4_000;

export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

export const EVERYTHING: NumberRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

export function numbersOf({
  conversationId,
  fromSeq = 0,
  toSeq = SEQS_OF_A_CONVERSATION - 1,
}: EntryQuery): NumberRange {
  const last = Math.min(toSeq, SEQS_OF_A_CONVERSATION - 1);
  return { from: entryNumber(conversationId, fromSeq), to: entryNumber(conversationId, last) };
}

export function createRemovals(query: Kysely<Tables>, group: Pick<GroupCommit, 'writeLazily'>): Removals {
  const statements = prepareStatements(query);
  return {
    async leave(transaction, { conversationId, seq, text }) {
      const words = indexText(conversationId, text);
      await transaction.run(statements.leave({ number: entryNumber(conversationId, seq), words }));
    },
    some: (range) => group.writeLazily((transaction) => removeSome(transaction, statements, range)),
  };
}

async function removeSome(
  transaction: Transaction,
  statements: ReturnType<typeof prepareStatements>,
  range: NumberRange,
) {
  const rows = await transaction.rows(statements.leaving({ ...range, limit: MAX_ROWS }));
  let count = 0;
  let characters = 0;
  for (const row of rows) {
    if (characters > MAX_CHARACTERS) break;
    await transaction.run(statements.remove(row));
    await transaction.run(statements.left(row));
    count += 1;
    characters += row.words.length;
  }
  return { count, isMore: count === MAX_ROWS || count < rows.length };
}

function prepareStatements(query: Kysely<Tables>) {
  const tables = query.withTables<SearchTables>();
  return {
    leave: prepare((p: Parameter<SearchTables['entry_removal']>) =>
      tables.insertInto('entry_removal').values({ number: p('number'), words: p('words') }),
    ),
    leaving: prepare((p: Parameter<NumberRange & { limit: number }>) =>
      tables
        .selectFrom('entry_removal')
        .selectAll()
        .where('number', '>=', p('from'))
        .where('number', '<=', p('to'))
        .limit(p('limit')),
    ),
    left: prepare((p: Parameter<{ number: number }>) =>
      tables.deleteFrom('entry_removal').where('number', '=', p('number')),
    ),
    remove: prepareIndex(query, 'entry_index').remove,
  };
}
