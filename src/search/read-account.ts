import { type Entry, textOf } from '../domain/message.ts';
import type { Store } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';
import { type Account, accountFor, type Source } from './losses.ts';

const PAGE = 200;

/** What a summary carries and loses of its messages as they are now, whatever its level. Deleted ones have nothing. */
export async function readAccount(
  { transcript }: Pick<Store, 'transcript'>,
  { conversationId, text, fromSeq, toSeq }: Pick<Summary, 'conversationId' | 'text' | 'fromSeq' | 'toSeq'>,
): Promise<Account> {
  const pages: Account[] = [];
  for (let from = fromSeq; from <= toSeq; from += PAGE) {
    const range = { fromSeq: from, toSeq: Math.min(toSeq, from + PAGE - 1), limit: PAGE };
    pages.push(accountFor(text, (await transcript.read(conversationId, range)).flatMap(sourceOf)));
  }
  return { carried: pages.flatMap(({ carried }) => carried), lost: pages.flatMap(({ lost }) => lost) };
}

/** What people and the bot said, if it is not deleted. */
export function sourceOf({
  seq,
  role,
  redactedAt,
  parts,
}: Pick<Entry, 'seq' | 'role' | 'redactedAt' | 'parts'>): readonly Source[] {
  const isSaid = (role === 'user' || role === 'assistant') && redactedAt === null;
  return isSaid ? [{ seq, text: textOf(parts) }] : [];
}
