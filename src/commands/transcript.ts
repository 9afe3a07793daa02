import type { Entry } from '../domain/message.ts';
import type { CommandReply } from '../ports/reply.ts';
import { searchTranscript } from '../search/transcript-search.ts';
import { excerpt, formatTime } from '../util/text.ts';
import { type Call, type Command, nothingYet, pageOf, requiredOption, sameCommand } from './command.ts';
import { sayOf, whoSaid } from './format-entry.ts';
import { makeReply, takePage } from './reply.ts';
import { pageOption, textOption } from './spec.ts';

const MAX_HITS = 40;

export const transcript: Command = {
  spec: {
    name: 'transcript',
    description: 'Search everything that was said here, summarised or not',
    actions: [
      {
        name: 'search',
        description: 'Messages that match, the best first',
        options: [textOption('query', 'What to look for', { required: true, rest: true }), pageOption],
        access: 'member',
        irreversible: false,
      },
    ],
    otherwise: 'search',
  },
  run: { search },
};

async function search(call: Call): Promise<CommandReply> {
  const { parts, conversation } = call;
  if (conversation === null) return nothingYet('Transcript');
  const question = requiredOption(call, 'query');
  const hits = await searchTranscript(parts, { conversationId: conversation.id, question, limit: MAX_HITS });
  if (hits.length === 0) {
    return makeReply('Transcript', { text: `Nothing that was said here matches "${excerpt(question, 80)}".` });
  }
  const { items, page } = takePage(hits, pageOf(call), { command: sameCommand(call) });
  return makeReply('Transcript', {
    text: `${hits.length} ${hits.length === 1 ? 'message matches' : 'messages match'} "${excerpt(question, 80)}".`,
    rows: { columns: ['#', 'WHEN', 'WHO', 'WHAT'], cells: items.map(({ entry }) => rowOf(entry)) },
    page,
  });
}

function rowOf(entry: Entry): readonly string[] {
  return [`#${entry.seq}`, formatTime(entry.at), whoSaid(entry), excerpt(sayOf(entry), 160)];
}
