import type { CommandReply } from '../../ports/reply.ts';
import type { TranscriptHit } from '../../search/ranking/transcript-search.ts';
import { counted, excerpt, formatTime } from '../../util/text/text.ts';
import { type Call, type Command, nothingYet, pageOf, requiredOption, sameCommand } from '../command.ts';
import { shownAuthor, shownText } from '../format-entry.ts';
import { makeReply, takePage } from '../reply.ts';
import { action, pageOption, textOption } from '../spec.ts';

/** More than anybody pages through. */
const MAX_HITS = 40;
/** More matches than a search returns. */
const ALL = 1000;

export const transcript: Command = {
  spec: {
    name: 'transcript',
    description: 'Search all messages of this conversation, summarised or not',
    actions: [
      action('search', 'List the matching messages, the best first', {
        options: [textOption('query', 'What to look for', { required: true, rest: true }), pageOption],
      }),
    ],
    otherwise: 'search',
  },
  run: { search },
};

async function search(call: Call): Promise<CommandReply> {
  const { services, conversation } = call;
  if (conversation === null) return nothingYet('Transcript');
  const question = requiredOption(call, 'query');
  const { searchTranscript } = await import('../../search/ranking/transcript-search.ts');
  const hits = await searchTranscript(services, { conversationId: conversation.id, question, limit: ALL });
  if (hits.length === 0) {
    return makeReply('Transcript', { text: `No message here matches "${excerpt(question, 80)}".` });
  }
  const count = hits.filter(({ isMatch }) => isMatch).length;
  const hasOthers = hits.slice(0, MAX_HITS).some(({ isMatch }) => !isMatch);
  const { items, page } = takePage(hits.slice(0, MAX_HITS), pageOf(call), { command: sameCommand(call) });
  return makeReply('Transcript', {
    text: `${counted(count, 'message matches', 'messages match')} "${excerpt(question, 80)}".${hasOthers ? BESIDE : ''}`,
    rows: { columns: ['#', 'WHEN', 'WHO', 'WHAT'], cells: items.map(rowOf) },
    page,
  });
}

const BESIDE = ' Rows with … are neighbours of a match.';

function rowOf({ entry, isMatch }: TranscriptHit): readonly string[] {
  return [
    `${isMatch ? '' : '… '}#${entry.seq}`,
    formatTime(entry.at),
    shownAuthor(entry),
    excerpt(shownText(entry), 160),
  ];
}
