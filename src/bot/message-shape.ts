import { z } from 'zod';
import { StrataError } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import { AUDIENCES, type InboundMessage } from '../domain/message.ts';

const author = z.object({ id: z.string(), name: z.string(), kind: z.enum(['person', 'bot']) });
const schema = z.object({
  conversation: z.string().refine(isKey, 'expected a key that makeKey has made'),
  externalId: z.string(),
  author,
  audience: z.enum(AUDIENCES),
  text: z.string(),
  attachments: z.array(z.unknown()),
  replyTo: z.string().nullable(),
  mentions: z.array(author),
  addressesBot: z.boolean(),
  at: z.number(),
});

/** What the compiler tells channels in TypeScript. Throws `MESSAGE_INVALID`. */
export function checkMessage(message: InboundMessage): void {
  const issues = schema.safeParse(message).error?.issues ?? [];
  if (issues.length === 0) return;
  const problem = issues.map(({ path, message: fault }) => `${path.join('.')}: ${fault}`).join('; ');
  throw new StrataError('MESSAGE_INVALID', { problem });
}

function isKey(text: string): boolean {
  try {
    return parseKey(text).key === text;
  } catch {
    return false;
  }
}
