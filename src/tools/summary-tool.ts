import { z } from 'zod';
import { StrataError } from '../domain/errors.ts';
import type { JsonValue, SummaryId } from '../domain/message.ts';
import type { Summary } from '../ports/summary-store.ts';
import type { Services } from '../services.ts';
import { defineTool, type Tool } from './define.ts';
import { lineOf } from './entry-line.ts';

const LINES = 40;
const MAX_LINE = 600;
const MAX_PAGE_BYTES = 6000;

export function createSummaryTool({ store }: Pick<Services, 'store'>): Tool {
  return defineTool({
    name: 'summary_open',
    description: 'Opens a summary: returns the summaries or messages it was made from.',
    input: z.object({
      id: z.string().min(1),
      fromMessage: z.int().min(1).optional().describe('Continue here'),
    }),
    async run({ id, fromMessage }, { conversationId }) {
      const summary = await store.summaries.find(id as SummaryId);
      if (summary === null) throw new StrataError('NOT_FOUND', { what: 'summary', id });
      if (summary.conversationId !== conversationId) {
        throw new StrataError('ACCESS_DENIED', {
          what: `The summary ${id}`,
          reason: 'it belongs to another conversation',
        });
      }
      if (summary.level > 0) {
        const parts = await store.summaries.children(summary.id);
        return { ...headOf(summary), madeFrom: parts.map((part) => ({ ...headOf(part), text: part.text })) };
      }
      return { ...headOf(summary), ...(await messagesOf(store, summary, fromMessage ?? summary.fromSeq)) };
    },
  });
}

function headOf({ id, level, kind, fromSeq, toSeq }: Summary) {
  return { id, level, kind, fromMessage: fromSeq, toMessage: toSeq };
}

async function messagesOf(store: Services['store'], { conversationId, fromSeq, toSeq }: Summary, from: number) {
  const range = { fromSeq: Math.max(from, fromSeq), toSeq, limit: LINES };
  const entries = (await store.transcript.read(conversationId, range)).filter((entry) => entry.role !== 'notice');
  const messages: JsonValue[] = [];
  let size = 0;
  for (const entry of entries) {
    const line = lineOf(entry, MAX_LINE);
    size += Buffer.byteLength(JSON.stringify(line));
    if (size > MAX_PAGE_BYTES && messages.length > 0) return { messages, nextMessage: entry.seq };
    messages.push(line);
  }
  const last = entries.at(-1)?.seq ?? toSeq;
  return { messages, nextMessage: last < toSeq ? last + 1 : null };
}
