import type { Author } from '../domain/message.ts';
import type { Store } from '../ports/store.ts';
import { latin, latinCapitals, undecorated } from '../search/lookalikes.ts';
import { wordsOf } from '../search/words.ts';
import { yieldToEventLoop } from '../util/event-loop.ts';

/** Number of messages back in which somebody still counts as present. */
const MAX_CONVERSATIONS = 20;
const MAX_ENTRIES = 200;

/** People who spoke or were mentioned recently in a place, each once. */
export async function peopleAt(store: Store, place: string): Promise<readonly Author[]> {
  const people = new Map<string, Author>();
  const latest = { order: 'heard', scope: { place }, limit: MAX_CONVERSATIONS, after: null } as const;
  for (const { id, nextSeq } of await store.conversations.list(latest)) {
    await yieldToEventLoop();
    const range = { fromSeq: Math.max(1, nextSeq - MAX_ENTRIES), toSeq: nextSeq, limit: MAX_ENTRIES };
    for (const { role, author, mentions } of await store.transcript.read(id, range)) {
      const named = role === 'user' && author !== null ? [author, ...mentions] : mentions;
      for (const person of named) people.set(person.id, person);
    }
  }
  return [...people.values()];
}

/** Each person once for each of their names. */
export function withoutRepetitions(people: readonly Author[]): readonly Author[] {
  return [...new Map(people.map((person) => [`${person.id} ${person.name}`, person])).values()];
}

/** Whether a text contains the name as separate words, also with a possessive "s", without accents or in lookalikes. */
export function mentionsName(text: string, name: string): boolean {
  return namesIn(text)(name);
}

/** The same for one text and many names. */
export function namesIn(text: string): (name: string) => boolean {
  const said = readingsOf(text).map((words) => ` ${words} `);
  return (name) => {
    if (name.length < 2) return false;
    return readingsOf(name).some((words, at) => {
      const whole = said[at] ?? '';
      return words !== '' && (whole.includes(` ${words} `) || whole.includes(` ${words}s `));
    });
  };
}

/** Whether two names look the same. A name without letters and digits looks only like itself. */
export function isSameName(one: string, other: string): boolean {
  const others = readingsOf(other);
  return readingsOf(one).some((words, at) => (words === '' ? one.trim() === other.trim() : words === others[at]));
}

/** Equal for names that look the same, by at least one of them. */
export function looksOf(name: string): readonly string[] {
  return readingsOf(name).map((words) => words || name.trim());
}

/** The plain words of a text, by its letters and by the look of its capitals. */
function readingsOf(text: string): readonly [string, string] {
  const letters = undecorated(text);
  const capitals = latinCapitals(letters);
  const words = plainWordsOf(letters);
  return [words, capitals === letters ? words : plainWordsOf(capitals)];
}

function plainWordsOf(text: string): string {
  return wordsOf(text)
    .map((word) => latin(undecorated(word)))
    .join(' ');
}
