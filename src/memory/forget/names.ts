import type { Entry } from '../../domain/message.ts';
import { fold, wordsOf } from '../../search/words/words.ts';
import type { Services } from '../../services.ts';
import { memoize } from '../../util/async/memoize.ts';
import { holdsName, isNamed, isOnlyAbout, isOrdinaryAmong, speaksOfSpeaker } from '../people/about-person.ts';
import type { Area } from './forget-area.ts';
import { writtenWords } from './vocabulary.ts';

/** A sentence of somebody else that may be about the person. */
export interface Candidate {
  readonly entry: Entry;
  readonly text: string;
  readonly about: { readonly id: string; readonly name: string };
}

/** What people are called in a place. */
export interface Names {
  /** Whether the sentence is about the person and nobody else, by the names in use when it was written. */
  areOnlyAbout(candidate: Candidate): Promise<boolean>;
}

/** Number of messages before and after a sentence in which to look for the people it may mean. */
const LOOK_AROUND = 200;

/** `spoken`: all messages that are compared, with those of the area. */
export function createNames(
  store: Services['store'],
  { area, spoken }: { readonly area: Area; readonly spoken: readonly Entry[] },
): Names {
  const { id } = area.conversation;
  const pages = new Map<number, Promise<readonly Entry[]>>();
  const pageAt = (number: number) => {
    const fromSeq = number * LOOK_AROUND + 1;
    const page =
      pages.get(number) ?? store.transcript.read(id, { fromSeq, toSeq: fromSeq + LOOK_AROUND - 1, limit: LOOK_AROUND });
    pages.set(number, page);
    return page;
  };
  const around = async ({ seq }: Entry) => {
    const [from, to] = [Math.max(1, seq - LOOK_AROUND), seq + LOOK_AROUND];
    const found: Entry[] = [];
    for (let number = pageOf(from); number <= pageOf(to); number += 1) found.push(...(await pageAt(number)));
    return found.filter((entry) => entry.seq >= from && entry.seq <= to);
  };
  const talkAbout = talkAmong(spoken);
  const windowsAbout = memoize((personId: string) =>
    memoize(async (entry: Entry) => talkIn(personId, await around(entry)), new WeakMap()),
  );
  const decide = async (candidate: Candidate): Promise<boolean> => {
    const words = wordsOf(candidate.text);
    if (speaksOfSpeaker(words)) return false;
    const talk = talkAbout(candidate.about.id);
    const window = await windowsAbout(candidate.about.id)(candidate.entry);
    const used = usedBefore(candidate.entry, { talk, window, area });
    const mentioned = mentionedIn(candidate);
    if (![...used, ...mentioned].some((name) => isNamed(words, wordsOf(name)))) return false;
    const names = [...used].filter((name) => !isOrdinary(name, { talk, window }));
    const others = [...talk.otherNames.union(window.otherNames)];
    return isOnlyAbout(candidate.text, { names: [...names, ...mentioned], others });
  };
  // Many statements may share words with the same sentence.
  const decided = new Map<string, Promise<boolean>>();
  return {
    areOnlyAbout(candidate) {
      const name = JSON.stringify([candidate.about.id, candidate.entry.seq, candidate.text]);
      const answer = decided.get(name) ?? decide(candidate);
      decided.set(name, answer);
      return answer;
    },
  };
}

function pageOf(seq: number): number {
  return Math.floor((seq - 1) / LOOK_AROUND);
}

/** Messages as seen from one person. */
interface Talk {
  readonly own: readonly Entry[];
  readonly others: readonly Entry[];
  readonly otherNames: ReadonlySet<string>;
  /** Whether somebody else uses the name as a word of the language. */
  isOrdinary(name: string): boolean;
  /** When somebody else first wrote the name; infinite if nobody did. */
  firstHeldAt(name: string): number;
}

/** Once for all conversations of a request: a place may have hundreds of threads. */
const talkAmong = memoize(
  (spoken: readonly Entry[]) => memoize((personId: string) => talkIn(personId, spoken)),
  new WeakMap(),
);

function talkIn(personId: string, entries: readonly Entry[]): Talk {
  const own = entries.filter(({ author }) => author?.id === personId);
  const others = entries.filter(({ role, author }) => role === 'user' && author !== null && author.id !== personId);
  const people = entries.flatMap(({ author, mentions }) => [...(author === null ? [] : [author]), ...mentions]);
  return {
    own,
    others,
    otherNames: new Set(people.filter(({ id }) => id !== personId).map(({ name }) => name)),
    isOrdinary: memoize((name: string) => others.some((entry) => isOrdinaryAmong(writtenWords(entry), name))),
    firstHeldAt: memoize((name: string) =>
      others.reduce(
        (first, entry) => (entry.at < first && holdsName(writtenWords(entry), name) ? entry.at : first),
        Infinity,
      ),
    ),
  };
}

interface Heard {
  readonly talk: Talk;
  readonly window: Talk;
}

/**
 * The names that the person used there before the message. Otherwise somebody could claim others' sentences by taking a
 * name afterwards.
 */
function usedBefore({ seq, at }: Entry, { talk, window, area }: Heard & { readonly area: Area }): ReadonlySet<string> {
  const isEarlier = (entry: Entry) => (area.entries.get(entry.seq) === entry ? entry.seq < seq : entry.at <= at);
  const earlier = [...talk.own.filter(isEarlier), ...window.own.filter((entry) => entry.seq < seq)];
  return new Set(earlier.flatMap(({ author }) => (author === null ? [] : [author.name])));
}

function mentionedIn({ entry, about }: Candidate): readonly string[] {
  return entry.mentions.filter(({ id }) => id === about.id).map(({ name }) => name);
}

/** Others use it as a word of the language, or had used it before the person took it in the place of another name. */
function isOrdinary(name: string, { talk, window }: Heard): boolean {
  if (talk.isOrdinary(name) || window.isOrdinary(name)) return true;
  const own = [...talk.own, ...window.own];
  const takenAt = own.reduce(
    (first, { author, at }) => (author?.name === name ? Math.min(first, at) : first),
    Infinity,
  );
  const isTaken = own.some(({ author, at }) => at < takenAt && author !== null && isOtherName(author.name, name));
  return isTaken && Math.min(talk.firstHeldAt(name), window.firstHeldAt(name)) < takenAt;
}

/** "Ada" for "ada_l" is the same name. */
function isOtherName(before: string, now: string): boolean {
  const [one, other] = [fold(before), fold(now)];
  return !one.includes(other) && !other.includes(one);
}
