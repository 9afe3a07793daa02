import { type Entry, textOf } from '../../domain/message.ts';
import type { Store } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { type Account, createAccounting, type Source } from './losses.ts';

const PAGE = 200;
/** Characters of messages that are looked at in one go. A summary may cover very many. */
const SLICE = 20_000;

/** What a summary carries and loses of its messages as they are now, whatever its level. Deleted ones have nothing. */
export async function readAccount(
  { transcript }: Pick<Store, 'transcript'>,
  { conversationId, text, fromSeq, toSeq }: Pick<Summary, 'conversationId' | 'text' | 'fromSeq' | 'toSeq'>,
): Promise<Account> {
  const account = createAccounting(text);
  const parts: Account[] = [];
  for (let from = fromSeq; from <= toSeq; from += PAGE) {
    const range = { fromSeq: from, toSeq: Math.min(toSeq, from + PAGE - 1), limit: PAGE };
    parts.push(await inSlices(account, (await transcript.read(conversationId, range)).flatMap(sourceOf)));
  }
  return joined(parts);
}

/** As `accountFor`; the bot gets a turn every now and then. */
export async function accountInSlices(summary: string, sources: readonly Source[]): Promise<Account> {
  return await inSlices(createAccounting(summary), sources);
}

async function inSlices(account: ReturnType<typeof createAccounting>, sources: readonly Source[]): Promise<Account> {
  const parts: Account[] = [];
  let from = 0;
  let characters = 0;
  for (const [index, { text }] of sources.entries()) {
    characters += text.length;
    if (characters < SLICE && index < sources.length - 1) continue;
    parts.push(account(sources.slice(from, index + 1)));
    from = index + 1;
    characters = 0;
    await waitForOwnTurn();
  }
  return joined(parts);
}

function joined(parts: readonly Account[]): Account {
  return { carried: parts.flatMap(({ carried }) => carried), lost: parts.flatMap(({ lost }) => lost) };
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
