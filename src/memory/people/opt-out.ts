import { z } from 'zod';
import { workspaceOf } from '../../domain/key.ts';
import type { Author, ConversationKey } from '../../domain/message.ts';
import type { StateStore } from '../../ports/journal.ts';
import { isEnglish } from '../../search/words/stop-words.ts';
import { fold, isUnspaced, tokensOf, wordsOf } from '../../search/words/words.ts';
import { memoize } from '../../util/async/memoize.ts';
import { isOrdinaryAmong } from './about-person.ts';
import { firstNameOf } from './first-names.ts';
import { monthsIn } from './months.ts';
import { inflectedNamesIn } from './name-forms.ts';
import { haveSameLook, isCommonName, type Looks, looksIn, looksOf } from './people.ts';
import { writtenNamesIn } from './written-names.ts';

const NAMESPACE = 'privacy.paused';
/** Version 0.1.0 stored no name; such a person is known by id only until they pause again. */
const pauseSchema = z
  .object({ since: z.number().default(0), name: z.string().default('') })
  .catch({ since: 0, name: '' });

/** The newest pauses of each person that have ended: what was said meanwhile may be read for memories much later. */
const ENDED = 'privacy.resumed';
const MAX_ENDED = 20;
const endedSchema = z.array(z.object({ since: z.number(), until: z.number(), name: z.string() })).catch([]);

/** People who asked that nothing be remembered about them. Applies in the whole workspace until they resume. */
export interface OptOut {
  isPaused(person: Person): Promise<boolean>;
  pause(person: Person & Pick<Author, 'name'>, now: number): Promise<void>;
  /** From now on. What was said during the pause stays unlearned. */
  resume(person: Person, now: number): Promise<void>;
  /**
   * Everybody in a workspace (`platform:workspace`) who paused learning. They are known by the name that they had then,
   * and by those that they have among the people who are present.
   */
  pausedIn(workspace: string, present: readonly Author[]): Promise<PausedPeople>;
  /** The bot has left the workspace. */
  purge(workspace: string): Promise<void>;
}

export interface Person {
  readonly conversation: ConversationKey;
  readonly authorId: string;
}

export interface Paused {
  holds(authorId: string | null): boolean;
  /** Whether a statement names one of them, as far as the word can be a name there. */
  isNamedIn(statement: NamingStatement): boolean;
}

export interface PausedPeople extends Paused {
  /** With those who have resumed, but had paused learning at one of these times. */
  orAt(times: readonly number[]): Paused;
}

/** A statement that may name somebody. */
export interface NamingStatement {
  readonly text: string;
  /** The name of whom it is about; null for nobody in particular. */
  readonly subjectName: string | null;
  /** The person whom it is about said it: in it, their name means them, whoever else took it. */
  readonly isOwn: boolean;
}

export function createOptOut(state: StateStore): OptOut {
  const keyOf = ({ conversation, authorId }: Person) => `${workspaceOf(conversation)}:${authorId}`;
  const ofWorkspace = async (namespace: string, workspace: string) =>
    (await state.list(namespace)).filter(({ key }) => key.startsWith(`${workspace}:`));
  return {
    isPaused: async (person) => (await state.get(NAMESPACE, keyOf(person))) !== undefined,
    async pause(person, now) {
      const running = await state.get(NAMESPACE, keyOf(person));
      const since = running === undefined ? now : pauseSchema.parse(running).since;
      await state.set(NAMESPACE, keyOf(person), { since, name: person.name });
    },
    async resume(person, now) {
      const key = keyOf(person);
      const running = await state.get(NAMESPACE, key);
      if (running === undefined) return;
      const { since, name } = pauseSchema.parse(running);
      // After the clock was set back, nobody knows when it began.
      const pause = { since: since > now ? 0 : since, until: now, name };
      const ended = [...endedSchema.parse(await state.get(ENDED, key)), pause];
      await state.set(ENDED, key, ended.slice(-MAX_ENDED));
      await state.delete(NAMESPACE, key);
    },
    async pausedIn(workspace, present) {
      const idOf = (key: string) => key.slice(workspace.length + 1);
      const running = (await ofWorkspace(NAMESPACE, workspace)).map(({ key, value }) => {
        return { ...pauseSchema.parse(value), id: idOf(key), until: Number.POSITIVE_INFINITY };
      });
      const ended = (await ofWorkspace(ENDED, workspace)).flatMap(({ key, value }) =>
        endedSchema.parse(value).map((pause) => ({ ...pause, id: idOf(key) })),
      );
      const named = memoize(pausedNameOf);
      const isDuring = (times: readonly number[]) => (pause: Pause) =>
        times.some((at) => pause.since <= at && at < pause.until);
      return {
        ...pausedAmong(running, { present, named }),
        orAt: (times) => pausedAmong([...running, ...ended.filter(isDuring(times))], { present, named }),
      };
    },
    async purge(workspace) {
      for (const namespace of [NAMESPACE, ENDED]) {
        for (const { key } of await ofWorkspace(namespace, workspace)) await state.delete(namespace, key);
      }
    },
  };
}

/** Of one person, with the name that they had then. */
interface Pause {
  readonly id: string;
  readonly name: string;
  readonly since: number;
  readonly until: number;
}

function pausedAmong(
  pauses: readonly Pause[],
  { present, named }: { readonly present: readonly Author[]; readonly named: typeof pausedNameOf },
): Paused {
  const ids = new Set(pauses.map(({ id }) => id));
  const now = present.filter(({ id }) => ids.has(id));
  const names = new Set([...pauses, ...now].map(({ name }) => name).filter((name) => wordsOf(name).length > 0));
  const compared = [...names].map(named);
  return {
    holds: (authorId) => authorId !== null && ids.has(authorId),
    isNamedIn: (statement) => compared.some(namesOf(statement)),
  };
}

/** What is compared with each statement, read once for all of them. */
interface PausedName {
  readonly name: string;
  readonly looks: Looks;
  readonly firstLooks: Looks | null;
  readonly isCommon: boolean;
  /** Folded, if words of its script have no spaces between them. */
  readonly unspaced: string | null;
}

function pausedNameOf(name: string): PausedName {
  const first = firstNameOf(name);
  return {
    name,
    looks: looksOf(name),
    firstLooks: first === null ? null : looksOf(first),
    isCommon: isCommonName(name),
    unspaced: name.length > 1 && Array.from(name).every(isUnspaced) ? fold(name) : null,
  };
}

/** For one statement and many names: whether a name is in it. */
function namesOf({ text, subjectName, isOwn }: NamingStatement): (name: PausedName) => boolean {
  const subject = subjectName ?? '';
  const subjectLooks = looksOf(subject);
  const isInSubject = looksIn(subject);
  const isSaid = looksIn(withoutPredicates(text, subject));
  const isOrdinary = ordinaryIn(text);
  const folded = fold(text);
  const isInflected = inflectedNamesIn(text);
  const isMonth = monthsIn(text);
  const written = writtenNamesIn(text, subject);
  // "Our Ada": English writes no other word with a capital inside a sentence.
  const isCalledSo = isEnglish(tokensOf(text)) ? written.isCapitalised : () => false;
  return ({ name, looks, firstLooks, isCommon: isWord, unspaced }) => {
    const isWhole = haveSameLook(looks, subjectLooks);
    if (isOwn && isWhole) return false;
    if (!isOwn && firstLooks !== null && haveSameLook(firstLooks, subjectLooks)) return true;
    if (isWord) return subject === name || (written.isCapitalised(name) && !isMonth(name));
    if (isInSubject(looks) || (unspaced !== null && folded.includes(unspaced))) return true;
    const isNamed = (isSaid(looks) && !written.isOnlySmall(name)) || isInflected(name);
    return isNamed && (!isOrdinary(looks) || isCalledSo(name)) && !isMonth(name);
  };
}

/** Anybody may take the name "Budget", and "our budget" means nobody. */
function ordinaryIn(text: string): (name: Looks) => boolean {
  const said = looksOf(text).map((words) => words.split(' '));
  return (looks) => looks.some((name, at) => isOrdinaryAmong(said[at] ?? [], name));
}

const PRONOUNS = new Set(['i', 'we', 'you', 'he', 'she', 'they', 'ich', 'wir', 'du', 'er', 'sie', 'je', 'nous', 'yo']);

/** After the subject of a sentence comes what it does, and no name: "Bob likes". */
function withoutPredicates(text: string, subject: string): string {
  const words = wordsOf(text);
  const subjectWords = wordsOf(subject);
  const isSubject = (end: number) =>
    PRONOUNS.has(words[end] ?? '') ||
    (subjectWords.length > 0 && subjectWords.every((word, at) => words[end - subjectWords.length + 1 + at] === word));
  return words.filter((_, at) => at === 0 || !isSubject(at - 1)).join(' ');
}
