import type { ExportReach } from '../../../memory/export.ts';
import type { CommandReply } from '../../../ports/reply.ts';
import { counted } from '../../../util/text/text.ts';
import { type Call, mentionedIn, optionOf, requesterOf } from '../../command.ts';
import { makeReply, sentences } from '../../reply.ts';

const REACH: Readonly<Record<ExportReach, string>> = {
  place: 'from this place',
  open: 'from this place and from public ones; ask in a direct message for those from everywhere',
  everywhere: 'from everywhere',
};

/** Members export data about themselves; moderators can name another person. */
export async function exportPerson(call: Call): Promise<CommandReply> {
  const { author } = call.invocation;
  const person = mentionedIn(call, 'person');
  const personId = person?.id ?? optionOf(call, 'person') ?? author.id;
  const copy = await call.services.memories.exportFor(personId, requesterOf(call));
  const day = copy.at.slice(0, 10);
  const whom = personId === author.id ? 'you' : (person?.name ?? personId);
  return makeReply('Export', {
    text: sentences(
      `${counted(copy.memories.length, 'memory', 'memories')} about ${whom} and ${counted(copy.messages.length, 'message', 'messages')} by ${whom}, ${REACH[copy.reach]}.`,
      withheldInCopy(copy.withheld.length),
    ),
    file: { name: `strata-export-${day}.json`, text: `${JSON.stringify(copy, null, 2)}\n` },
  });
}

function withheldInCopy(count: number): string {
  if (count === 0) return '';
  const which = count === 1 ? 'one more memory' : `${count} more memories`;
  return `The copy lists ${which} stored elsewhere, without the text, which you can't read from here.`;
}
