import type { CommandReply } from '../../ports/reply.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { keptShare, lostOnce } from '../../search/specifics/losses.ts';
import { readAccount } from '../../search/specifics/read-account.ts';
import { excerpt, formatPercent } from '../../util/text/text.ts';
import { type Call, pageOf, sameCommand } from '../command.ts';
import { makeReply, takePage } from '../reply.ts';

const MAX_SEQS = 5;

/** The details of its messages that a summary leaves out, with the messages that have them. */
export async function showLost(call: Call, summary: Summary): Promise<CommandReply> {
  const account = await readAccount(call.services.store, summary);
  const lost = lostOnce(account.lost);
  const title = `What summary ${summary.id} leaves out`;
  if (lost.length === 0)
    return makeReply(title, { text: 'Nothing: it has every name, number, link, date and promise.' });
  const { items, page } = takePage(lost, pageOf(call), { command: sameCommand(call) });
  return makeReply(title, {
    text: `It keeps ${formatPercent(keptShare(account))} of the details of #${summary.fromSeq}–#${summary.toSeq}. The rest can still be found in these messages.`,
    rows: {
      columns: ['KIND', 'DETAIL', 'MESSAGES'],
      cells: items.map(({ kind, text, seqs }) => [kind, excerpt(text, 100), seqsLine(seqs)]),
    },
    page,
  });
}

function seqsLine(seqs: readonly number[]): string {
  const shown = seqs.slice(0, MAX_SEQS).map((seq) => `#${seq}`);
  return seqs.length > MAX_SEQS ? `${shown.join(', ')} and ${seqs.length - MAX_SEQS} more` : shown.join(', ');
}
