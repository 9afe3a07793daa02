import { type Part, sentencePrints } from '../../../../src/adapter-kit.ts';
import type { Transaction } from '../query/engine.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, EntryRow } from '../schema/tables.ts';

/** Replaces a deleted sentence in a text. */
export const STRUCK = '(removed)';

/** Maximum number of values in one statement, because a database takes only so many. */
const LOOKED_UP_AT_ONCE = 500;

interface Striking {
  readonly row: Pick<ConversationRow, 'id' | 'place'>;
  readonly seq: number;
  readonly text: string;
  readonly now: number;
}

/** Keeps fingerprints of a deleted sentence, so that an edit of its message cannot bring it back. */
export async function noteStruck({ engine }: Shared, transaction: Transaction, striking: Striking): Promise<void> {
  const { row, seq, text, now } = striking;
  for (const { print } of sentencePrints(text, messageIdOf(row, seq))) {
    const insertion = engine.query.insertInto('tombstone').values({ place: row.place, fingerprint: print, at: now });
    await transaction.run(insertion.onConflict((conflict) => conflict.doNothing()).compile());
  }
}

interface Editing {
  readonly row: Pick<ConversationRow, 'id' | 'place'>;
  readonly entry: EntryRow;
  readonly parts: readonly Part[];
}

/** The new text of an edited message, without the sentences that were deleted from it. */
export async function withoutStruck(
  { engine }: Shared,
  transaction: Transaction,
  { row, entry, parts }: Editing,
): Promise<readonly Part[]> {
  if (!entry.parts.includes(STRUCK)) return parts;
  const messageId = messageIdOf(row, entry.seq);
  const written = parts.flatMap((part) => (part.kind === 'text' ? sentencePrints(part.text, messageId) : []));
  const struck = new Set<string>();
  for (let from = 0; from < written.length; from += LOOKED_UP_AT_ONCE) {
    const prints = written.slice(from, from + LOOKED_UP_AT_ONCE).map(({ print }) => print);
    const known = engine.query.selectFrom('tombstone').select('fingerprint').where('place', '=', row.place);
    for (const { fingerprint } of await transaction.rows(known.where('fingerprint', 'in', prints).compile()))
      struck.add(fingerprint);
  }
  const gone = new Set(written.filter(({ print }) => struck.has(print)).map(({ text }) => text));
  return [...gone].reduce((left, sentence) => replaceIn(left, sentence, STRUCK), parts);
}

function messageIdOf({ id }: Pick<ConversationRow, 'id'>, seq: number): string {
  return `${id}#${seq}`;
}

export function replaceIn(parts: readonly Part[], from: string, to: string): readonly Part[] {
  return parts.map((part) => (part.kind === 'text' ? { ...part, text: part.text.split(from).join(to) } : part));
}
