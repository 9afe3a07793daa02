import type { SummaryId } from '../../domain/message.ts';
import type { LossIndex, NewSummary, Summary } from '../../ports/summary-store.ts';
import { type Account, countSpecifics, lossIndexOf, mergeLosses } from '../../search/specifics/losses.ts';
import { readAccount } from '../../search/specifics/read-account.ts';
import type { Job } from './job.ts';

/** For a longer range, a condensed summary keeps the index of its parts instead of reading every message again. */
const MAX_READ_ENTRIES = 2000;

/** Which messages have specifics that a condensed summary or one of its parts leaves out. */
export async function condensedLoss(
  { services, claim }: Job,
  summary: Pick<NewSummary, 'text' | 'fromSeq' | 'toSeq'>,
  parts: readonly Summary[],
): Promise<{ readonly lost: LossIndex; readonly account: Account | null }> {
  const isLong = summary.toSeq - summary.fromSeq >= MAX_READ_ENTRIES;
  if (isLong) return { lost: mergeLosses(parts.map(({ lost }) => lost)), account: null };
  const account = await readAccount(services.store, { ...summary, conversationId: claim.conversationId });
  return { lost: lossIndexOf(account.lost), account };
}

/** Reports how much of the details a stored summary keeps. */
export function announceKept({ services, conversation }: Job, summaryId: SummaryId, account: Account): void {
  services.events.emit({
    kind: 'summary.written',
    conversation: conversation.key,
    summaryId,
    ...countSpecifics(account),
  });
}
