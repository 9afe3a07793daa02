import type { Author } from '../domain/message.ts';
import type { Store } from '../ports/store.ts';
import { wordsOf } from '../search/words.ts';

/** Number of messages back in which somebody still counts as present. */
const MAX_CONVERSATIONS = 20;
const MAX_ENTRIES = 200;

/** People who spoke or were mentioned recently in a place, each once. */
export async function peopleAt(store: Store, place: string): Promise<readonly Author[]> {
  const people = new Map<string, Author>();
  const latest = { order: 'heard', scope: { place }, limit: MAX_CONVERSATIONS, after: null } as const;
  for (const { id, nextSeq } of await store.conversations.list(latest)) {
    const range = { fromSeq: Math.max(1, nextSeq - MAX_ENTRIES), toSeq: nextSeq, limit: MAX_ENTRIES };
    for (const { role, author, mentions } of await store.transcript.read(id, range)) {
      const named = role === 'user' && author !== null ? [author, ...mentions] : mentions;
      for (const person of named) people.set(person.id, person);
    }
  }
  return [...people.values()];
}

/** Whether a text contains the name as separate words. */
export function mentionsName(text: string, name: string): boolean {
  const words = wordsOf(name);
  return name.length > 1 && words.length > 0 && ` ${wordsOf(text).join(' ')} `.includes(` ${words.join(' ')} `);
}
