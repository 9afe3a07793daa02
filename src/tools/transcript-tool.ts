import { z } from 'zod';
import type { Services } from '../services.ts';
import { defineTool, type Tool } from './define.ts';
import { lineOf } from './entry-line.ts';

const MAX_TOKENS = 1500;
/** In a small window the messages that it finds must leave room for the talk. */
const MAX_SHARE = 0.15;
const MAX_MESSAGES = 12;
const MAX_LINE = 1000;

export function createTranscriptTool(services: Pick<Services, 'store' | 'search'>): Tool {
  return defineTool({
    name: 'transcript_search',
    description: 'Searches all messages of this conversation, summarised or not, and returns them verbatim.',
    input: z.object({
      query: z.string().min(1).describe('A question, or words that the messages probably contain'),
    }),
    async run({ query }, { conversationId, readUpto, windowTokens = Number.POSITIVE_INFINITY }) {
      const tokenBudget = Math.min(MAX_TOKENS, MAX_SHARE * windowTokens);
      const search = { conversationId, question: query, limit: MAX_MESSAGES + 1, tokenBudget };
      const { searchTranscript } = await import('../search/ranking/transcript-search.ts');
      const hits = await searchTranscript(services, search);
      // The question itself is not an answer.
      const found = hits.filter((hit) => hit.seq < readUpto).slice(0, MAX_MESSAGES);
      return { found: found.length, messages: found.map(({ entry }) => lineOf(entry, MAX_LINE)) };
    },
  });
}
