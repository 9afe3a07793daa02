import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const DATA = fileURLToPath(new URL('../../shared/data', import.meta.url));

const messageSchema = z.object({
  author: z.string(),
  text: z.string(),
  role: z.enum(['user', 'assistant']).optional(),
  at: z.coerce.date().optional(),
});

/** A person's message and the answer to it. */
export interface Exchange {
  readonly said: string;
  readonly answer: string;
  /** Time since the previous message of the person; 0 if it is not recorded. */
  readonly pauseMs: number;
}

/** The recorded conversations of a folder as conversations with a bot; null if the evaluation data is missing. */
export function readTalks(folder: string): readonly (readonly Exchange[])[] | null {
  const path = join(DATA, folder);
  if (!existsSync(path)) return null;
  const files = readdirSync(path).filter((name) => name.endsWith('.messages.jsonl'));
  return files.sort().map((name) => exchangesOf(readFileSync(join(path, name), 'utf8')));
}

/** If no roles are recorded, the first speaker is the person and everyone else the bot. */
function exchangesOf(jsonl: string): readonly Exchange[] {
  const lines = jsonl.split('\n').filter((line) => line.trim() !== '');
  const messages = lines.map((line) => messageSchema.parse(JSON.parse(line)));
  const person = messages[0]?.author;
  const exchanges: { said: string; answer: string; pauseMs: number }[] = [];
  let saidAt: number | null = null;
  for (const { author, text, role, at } of messages) {
    const isPerson = role === undefined ? author === person : role === 'user';
    const last = exchanges.at(-1);
    if (isPerson || last === undefined) {
      const pauseMs = at === undefined || saidAt === null ? 0 : at.getTime() - saidAt;
      exchanges.push({ said: text, answer: '', pauseMs });
      saidAt = at?.getTime() ?? null;
    } else last.answer += `${last.answer === '' ? '' : '\n'}${text}`;
  }
  return exchanges;
}
