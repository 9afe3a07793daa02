import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { estimateText } from '../src/context/measure/tokens.ts';
import { makeKey } from '../src/domain/key.ts';
import type { Conversation } from '../src/ports/store.ts';
import type { Storage } from '../src/services.ts';

/** Recorded conversations with questions whose evidence is known. */
export const RECORDED = fileURLToPath(new URL('../../shared/data', import.meta.url));

const messageSchema = z.object({
  id: z.string(),
  author: z.string(),
  text: z.string(),
  at: z.string().optional(),
  role: z.enum(['user', 'assistant']).optional(),
});
const questionSchema = z.object({
  question: z.string(),
  evidence: z.array(z.string()),
  category: z.union([z.string(), z.number()]).transform(String),
});

export type RecordedMessage = z.infer<typeof messageSchema>;
export type RecordedQuestion = z.infer<typeof questionSchema>;

export interface Recorded {
  readonly name: string;
  readonly messages: readonly RecordedMessage[];
  readonly questions: readonly RecordedQuestion[];
}

/** The conversations of a folder; null if it is missing. */
export function readRecorded(folder: string, data: string = RECORDED): readonly Recorded[] | null {
  const path = join(data, folder);
  if (!existsSync(path)) return null;
  const names = readdirSync(path)
    .filter((name) => name.endsWith('.messages.jsonl'))
    .map((name) => name.replace('.messages.jsonl', ''))
    .sort();
  return names.map((name) => ({
    name,
    messages: readJsonl(join(path, `${name}.messages.jsonl`), messageSchema),
    questions: readJsonl(join(path, `${name}.questions.jsonl`), questionSchema),
  }));
}

function readJsonl<Value>(path: string, schema: z.ZodType<Value>): readonly Value[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

/** Appends the messages to a conversation of their own, named after them. */
export async function storeRecorded(
  { store }: Pick<Storage, 'store'>,
  { workspace, name, messages }: { readonly workspace: string } & Pick<Recorded, 'name' | 'messages'>,
): Promise<Conversation> {
  const key = makeKey({ platform: 'bench', workspace, channel: name });
  let at = Date.UTC(2024, 0, 1);
  const appends = messages.map((message) => {
    at = message.at === undefined ? at + 60_000 : Date.parse(message.at);
    const role = message.role ?? 'user';
    return store.transcript.append({
      conversation: key,
      audience: 'private',
      message: {
        externalId: message.id,
        role,
        author: role === 'user' ? { id: message.author, name: message.author, kind: 'person' } : null,
        parts: [{ kind: 'text', text: message.text }],
        replyTo: null,
        mentions: [],
        tokens: estimateText(message.text),
        at,
      },
      wantsReply: false,
      claimLeaseMs: null,
      idleExtractMs: 60_000,
      now: at,
    });
  });
  await Promise.all(appends);
  const conversation = await store.conversations.find(key);
  if (conversation === null) throw new Error(`${name} has no messages`);
  return conversation;
}
