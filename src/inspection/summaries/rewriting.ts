import type { CommandServices } from '../../commands/services.ts';
import { refusalOf, rewriteOf } from '../../compaction/job/rewrite-request.ts';
import type { SeqRange } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';

/** Whether a summary can be rewritten, or is being rewritten. */
export type Rewriting =
  /** `failure`: why the last attempt ended without a summary. */
  | { readonly kind: 'possible'; readonly failure: string | null }
  | { readonly kind: 'impossible'; readonly reason: string }
  /** `other` waits for the same conversation. `isTaken`: a worker has the conversation. */
  | { readonly kind: 'waiting'; readonly askedAt: number; readonly isTaken: boolean; readonly other: SeqRange | null }
  | { readonly kind: 'done'; readonly by: Summary };

export async function rewritingOf(
  { store, state, clock }: CommandServices,
  conversation: Conversation,
  summary: Summary,
): Promise<Rewriting> {
  const successor = summary.supersededBy === null ? null : await store.summaries.find(summary.supersededBy);
  if (successor?.level === summary.level) return { kind: 'done', by: successor };
  const reason = refusalOf(conversation, summary);
  if (reason !== null) return { kind: 'impossible', reason };
  const request = await rewriteOf(state, conversation.id);
  const isOwn = request?.summaryId === summary.id;
  if (request === null || request.failure !== null)
    return { kind: 'possible', failure: isOwn ? (request?.failure ?? null) : null };
  const { askedAt, fromSeq, toSeq } = request;
  const isTaken = (conversation.maintenanceUntil ?? 0) > clock.now();
  return { kind: 'waiting', askedAt, isTaken, other: isOwn ? null : { fromSeq, toSeq } };
}
