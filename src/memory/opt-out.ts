import { z } from 'zod';
import { workspaceOf } from '../domain/key.ts';
import type { Author, ConversationKey } from '../domain/message.ts';
import type { StateStore } from '../ports/journal.ts';
import { isStopWord } from '../search/stop-words.ts';
import { fold, wordsOf } from '../search/words.ts';
import { mentionsName } from './people.ts';

const NAMESPACE = 'privacy.paused';
/** Version 0.1.0 stored no name; such a person is known by id only until they pause again. */
const pauseSchema = z.object({ name: z.string().default('') }).catch({ name: '' });

/** People who asked that nothing be remembered about them. Applies in the whole workspace until they resume. */
export interface OptOut {
  isPaused(person: Person): Promise<boolean>;
  pause(person: Person & Pick<Author, 'name'>, now: number): Promise<void>;
  resume(person: Person): Promise<void>;
  /** Everybody in a workspace (`platform:workspace`) who paused learning. */
  pausedIn(workspace: string): Promise<Paused>;
  /** The bot has left the workspace. */
  purge(workspace: string): Promise<void>;
}

export interface Person {
  readonly conversation: ConversationKey;
  readonly authorId: string;
}

export interface Paused {
  holds(authorId: string | null): boolean;
  /** Whether a text names one of them. A name that is a common word counts only in its own case. */
  isNamedIn(text: string): boolean;
}

export function createOptOut(state: StateStore): OptOut {
  const keyOf = ({ conversation, authorId }: Person) => `${workspaceOf(conversation)}:${authorId}`;
  const ofWorkspace = async (workspace: string) =>
    (await state.list(NAMESPACE)).filter(({ key }) => key.startsWith(`${workspace}:`));
  return {
    isPaused: async (person) => (await state.get(NAMESPACE, keyOf(person))) !== undefined,
    pause: (person, now) => state.set(NAMESPACE, keyOf(person), { since: now, name: person.name }),
    resume: (person) => state.delete(NAMESPACE, keyOf(person)),
    async pausedIn(workspace) {
      const found = await ofWorkspace(workspace);
      const ids = new Set(found.map(({ key }) => key.slice(workspace.length + 1)));
      const names = found.map(({ value }) => pauseSchema.parse(value).name).filter((name) => name !== '');
      return {
        holds: (authorId) => authorId !== null && ids.has(authorId),
        isNamedIn: (text) => names.some((name) => isNamed(name, text)),
      };
    },
    async purge(workspace) {
      for (const { key } of await ofWorkspace(workspace)) await state.delete(NAMESPACE, key);
    },
  };
}

function isNamed(name: string, text: string): boolean {
  const wanted = wordsOf(name);
  if (wanted.length === 0) return false;
  const isCommon = wanted.length === 1 && isStopWord(fold(name));
  if (isCommon) return text.split(/[^\p{L}\p{N}\p{M}]/u).includes(name);
  return mentionsName(text, name) || (isUnspaced(name) && fold(text).includes(fold(name)));
}

function isUnspaced(name: string): boolean {
  return name.length > 1 && /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]+$/u.test(name);
}
