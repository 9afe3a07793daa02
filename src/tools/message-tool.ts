import { z } from 'zod';
import { imagesOf } from '../context/view/opened.ts';
import { StrataError } from '../domain/errors.ts';
import { MESSAGE_OPEN } from '../domain/lookups.ts';
import { type Entry, textOf } from '../domain/message.ts';
import type { Services } from '../services.ts';
import { visibleText } from '../util/text/foreign-text.ts';
import { headBytes } from '../util/text/utf8.ts';
import { defineTool, type Tool } from './define.ts';
import { originOf } from './entry-line.ts';
import { sizesFor } from './result-sizes.ts';

const MAX_CHARACTERS = 6000;
/** For the fields around the text, and for characters that JSON escapes. */
const FIELDS_SHARE = 0.5;

export function createMessageTool(services: Pick<Services, 'store' | 'agents'>): Tool {
  return defineTool({
    name: MESSAGE_OPEN,
    description: 'Opens one message of this conversation: its whole text, and its images.',
    input: z.object({
      message: z.int().min(1).describe('Its number, from its label'),
      from: z.int().min(0).default(0).describe('First character'),
    }),
    async run({ message, from }, context) {
      const entry = await entryAt(services, context, message);
      const text = visibleText(textOf(entry.parts));
      const room = Math.floor(sizesFor(services, context).blobBytes * FIELDS_SHARE);
      const page = headBytes(text.slice(from, from + MAX_CHARACTERS), room);
      const next = from + page.length;
      const images = imagesOf(entry);
      const shown = images.length > 0 && context.onImages !== undefined;
      if (shown) context.onImages?.(images);
      const rest = next < text.length && page !== '' ? { nextCharacter: next } : {};
      const pictures =
        images.length === 0 ? {} : { images: shown ? `${images.length}, shown below` : 'not readable by this model' };
      return { ...originOf(entry), text: page, ...rest, ...pictures };
    },
  });
}

interface Place {
  readonly conversationId: number;
  readonly readUpto: number;
}

async function entryAt(
  { store }: Pick<Services, 'store'>,
  { conversationId, readUpto }: Place,
  seq: number,
): Promise<Entry> {
  const range = { fromSeq: seq, toSeq: Math.min(seq, readUpto), limit: 1 };
  const [entry] = await store.transcript.read(conversationId, range);
  const isShown = entry !== undefined && entry.role !== 'notice' && entry.redactedAt === null;
  if (!isShown) throw new StrataError('NOT_FOUND', { what: 'message', id: `#${seq}` });
  return entry;
}
