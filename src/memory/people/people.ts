import type { Author } from '../../domain/message.ts';
import type { Store } from '../../ports/store.ts';
import { latin, latinCapitals, undecorated } from '../../search/words/lookalikes.ts';
import { isStopWord } from '../../search/words/stop-words.ts';
import { wordsOf } from '../../search/words/words.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { memoize } from '../../util/async/memoize.ts';
import { createRecentMap } from '../../util/recent-map.ts';

/** Number of messages back in which somebody still counts as present. */
const MAX_CONVERSATIONS = 20;
const MAX_ENTRIES = 200;

/** People who spoke or were mentioned recently in a place, each once for each of their names. */
export async function peopleAt(store: Store, place: string): Promise<readonly Author[]> {
  const people: Author[] = [];
  const latest = { order: 'heard', scope: { place }, limit: MAX_CONVERSATIONS, after: null } as const;
  for (const { id, nextSeq } of await store.conversations.list(latest)) {
    await yieldToEventLoop();
    const range = { fromSeq: Math.max(1, nextSeq - MAX_ENTRIES), toSeq: nextSeq, limit: MAX_ENTRIES };
    for (const { role, author, mentions } of await store.transcript.read(id, range)) {
      if (role === 'user' && author !== null) people.push(author);
      people.push(...mentions);
    }
  }
  return withoutRepetitions(people);
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
  const isIn = looksIn(text);
  return (name) => name.length > 1 && isIn(looksOf(name));
}

/**
 * The same for the people of a place. Anybody may take the name "is", so one of common words counts only where it is
 * written with its capitals.
 */
export function membersIn(text: string): (name: string) => boolean {
  const isIn = namesIn(text);
  const words = ` ${writtenWords(text).join(' ')} `;
  return (name) => isIn(name) && (!isCommonName(name) || isWritten(name, words));
}

/** Whether a name consists of words such as "is" and "the". */
export function isCommonName(name: string): boolean {
  return wordsOf(name).every(isStopWord);
}

function isWritten(name: string, words: string): boolean {
  return /^\p{Lu}/u.test(name) && words.includes(` ${writtenWords(name).join(' ')} `);
}

function writtenWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Whether a text contains names by their looks. */
export function looksIn(text: string): (looks: Looks) => boolean {
  const said = looksOf(text).map((words) => ` ${words} `);
  return (looks) =>
    looks.some((words, at) => {
      const whole = said[at] ?? '';
      return whole.includes(` ${words} `) || whole.includes(` ${words}s `);
    });
}

/** Whether two names look the same. A name without letters and digits looks only like itself. */
export function isSameName(one: string, other: string): boolean {
  return haveSameLook(looksOf(one), looksOf(other));
}

/** The same for names by their looks. */
export function haveSameLook(one: Looks, other: Looks): boolean {
  return one.some((look, at) => look === other[at]);
}

/** Of a name: its plain words by its letters and by the look of its capitals, or its signs if it has no words. */
export type Looks = readonly [string, string];

/** The people of a place are compared with each of its statements. */
const KEPT_NAMES = 5000;
const MAX_KEPT_LENGTH = 100;
const keptLooks = memoize(readLooks, createRecentMap<string, { value: Looks }>(KEPT_NAMES));

/** Equal, in at least one of the two, for names that look the same. */
export function looksOf(name: string): Looks {
  return name.length > MAX_KEPT_LENGTH ? readLooks(name) : keptLooks(name);
}

function readLooks(text: string): Looks {
  const letters = undecorated(text);
  const capitals = latinCapitals(letters);
  const words = plainWordsOf(letters) || text.trim();
  return [words, capitals === letters ? words : plainWordsOf(capitals) || text.trim()];
}

function plainWordsOf(text: string): string {
  return wordsOf(text)
    .map((word) => latin(undecorated(word)))
    .join(' ');
}
