import type { HeldDecision } from '../../../ports/provenance-store.ts';
import type { CommandReply } from '../../../ports/reply.ts';
import { counted, excerpt, formatTime } from '../../../util/text/text.ts';
import { type Call, commandTo, pageOf, requesterOf, requiredOption, sameCommand } from '../../command.ts';
import { shownName } from '../../format-entry.ts';
import { makeReply, sentences, takePage } from '../../reply.ts';
import { remainsNote } from '../remains.ts';

/** Shows moderators the sentences that await a decision, oldest first. */
export async function held(call: Call): Promise<CommandReply> {
  const all = await call.services.memories.held(requesterOf(call));
  const { items, page } = takePage(all, pageOf(call), { command: sameCommand(call) });
  const [first] = items;
  if (first === undefined) return makeReply('Held back', { text: 'There are no sentences to decide about here.' });
  const cells = items.map(({ id, author, about, at, text }) => {
    return [id, shownName(author), about.name, formatTime(at), excerpt(text, 200)];
  });
  return makeReply('Held back', {
    text: `${counted(all.length, 'sentence waits', 'sentences wait')} for a decision, because the people they are about asked for them to be forgotten. Until then they stay hidden.`,
    rows: { columns: ['ID', 'WRITTEN BY', 'ABOUT', 'HELD SINCE', 'SENTENCE'], cells },
    page,
    actions: [
      { label: 'Restore the first', command: commandTo('memory release', { id: first.id }), style: 'plain' },
      { label: 'Delete the first', command: commandTo('memory strike', { id: first.id }), style: 'danger' },
    ],
  });
}

export function release(call: Call): Promise<CommandReply> {
  return decide(call, 'release');
}

export function strike(call: Call): Promise<CommandReply> {
  return decide(call, 'strike');
}

async function decide(call: Call, kind: HeldDecision['kind']): Promise<CommandReply> {
  const id = requiredOption(call, 'id').trim().toLowerCase();
  const { author, seq } = await call.services.memories.decideHeld(id, kind, requesterOf(call));
  const whose = `The sentence of ${shownName(author)} in message #${seq}`;
  const text =
    kind === 'release' ? `${whose} can be read again.` : sentences(`${whose} is deleted.`, await remainsNote(call));
  return makeReply(kind === 'release' ? 'Released' : 'Deleted', { text, tone: 'success' });
}
