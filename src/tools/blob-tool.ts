import { z } from 'zod';
import { StrataError } from '../domain/errors.ts';
import type { BlobId } from '../domain/message.ts';
import type { BlobRange } from '../ports/blob-store.ts';
import type { Services } from '../services.ts';
import { headBytes } from '../util/text/utf8.ts';
import { defineTool, type Tool, type ToolContext } from './define.ts';
import { sizesFor } from './result-sizes.ts';

const MAX_CHARACTERS = 6000;
/** For the first line, so that a page stays below the size at which results are stored as blobs. */
const LINE_BYTES = 200;

export function createBlobTool(services: Pick<Services, 'store' | 'agents'>): Tool {
  return defineTool({
    name: 'blob_read',
    description: 'Reads more of a tool result that was too long to show in full.',
    input: z.object({
      id: z.string().min(1),
      from: z.int().min(0).default(0).describe('First character'),
    }),
    async run({ id, from }, context) {
      const found = await read(services, context, { id: id as BlobId, from });
      if (found === null) throw new StrataError('BLOB_EXPIRED', { id });
      const text = headBytes(found.text, sizesFor(services, context).blobBytes - LINE_BYTES);
      const next = from + text.length;
      const more = next < found.totalLength && text !== '' ? `; go on from ${next}` : '; this is the end';
      return `[characters ${from} to ${next} of ${found.totalLength}${more}]\n${text}`;
    },
  });
}

/** A child reads its own results, and those of the conversation that it works for. */
async function read(
  { store }: Pick<Services, 'store'>,
  { conversationId, storedIn, blobs }: Pick<ToolContext, 'conversationId' | 'storedIn' | 'blobs'>,
  { id, from }: { readonly id: BlobId; readonly from: number },
): Promise<BlobRange | null> {
  const range = { from, length: MAX_CHARACTERS };
  const text = blobs?.find(id) ?? null;
  if (text !== null) return { text: text.slice(from, from + MAX_CHARACTERS), totalLength: text.length };
  const own = storedIn === undefined ? null : await store.blobs.read(id, { conversationId: storedIn, ...range });
  return own ?? (await store.blobs.read(id, { conversationId, ...range }));
}
