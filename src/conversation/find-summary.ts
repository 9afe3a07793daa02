import { StrataError } from '../domain/errors.ts';
import type { SummaryId } from '../domain/message.ts';
import type { Conversation, Store } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';

/** The summary of a conversation that somebody names. Throws `NOT_FOUND`, also for one of another conversation. */
export async function findSummary(
  { store }: { readonly store: Pick<Store, 'summaries'> },
  { id: conversationId }: Conversation,
  id: string,
): Promise<Summary> {
  const summary = await store.summaries.find(id as SummaryId);
  if (summary?.conversationId !== conversationId) throw new StrataError('NOT_FOUND', { what: 'summary', id });
  return summary;
}
