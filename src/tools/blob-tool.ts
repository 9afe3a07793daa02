import { z } from 'zod';
import { StrataError } from '../domain/errors.ts';
import type { BlobId } from '../domain/message.ts';
import type { Services } from '../services.ts';
import { defineTool, type Tool } from './define.ts';
import { headOf, MAX_BYTES } from './offload.ts';

const MAX_CHARACTERS = 6000;
/** With its first line, a page stays below the size at which results are stored as blobs. */
const MAX_TEXT_BYTES = MAX_BYTES - 200;

export function createBlobTool({ store }: Pick<Services, 'store'>): Tool {
  return defineTool({
    name: 'blob_read',
    description: 'Reads more of a tool result that was too long to show in full.',
    input: z.object({
      id: z.string().min(1),
      from: z.int().min(0).default(0).describe('First character'),
    }),
    async run({ id, from }, { conversationId }) {
      const found = await store.blobs.read(id as BlobId, { conversationId, from, length: MAX_CHARACTERS });
      if (found === null) throw new StrataError('BLOB_EXPIRED', { id });
      const text = headOf(found.text, MAX_TEXT_BYTES);
      const next = from + text.length;
      const more = next < found.totalLength && text !== '' ? `; go on from ${next}` : '; this is the end';
      return `[characters ${from} to ${next} of ${found.totalLength}${more}]\n${text}`;
    },
  });
}
