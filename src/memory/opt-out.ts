import { workspaceOf } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { StateStore } from '../ports/journal.ts';

const NAMESPACE = 'privacy.paused';

/** Who asked that nothing be remembered of them. Holds in the whole workspace of the platform, until they resume. */
export interface Learning {
  isPaused(person: Person): Promise<boolean>;
  pause(person: Person, now: number): Promise<void>;
  resume(person: Person): Promise<void>;
  /** The bot has left the workspace. */
  purge(workspace: string): Promise<void>;
}

export interface Person {
  readonly conversation: ConversationKey;
  readonly authorId: string;
}

export function createOptOut(state: StateStore): Learning {
  const keyOf = ({ conversation, authorId }: Person) => `${workspaceOf(conversation)}:${authorId}`;
  return {
    isPaused: async (person) => (await state.get(NAMESPACE, keyOf(person))) !== undefined,
    pause: (person, now) => state.set(NAMESPACE, keyOf(person), { since: now }),
    resume: (person) => state.delete(NAMESPACE, keyOf(person)),
    async purge(workspace) {
      for (const { key } of await state.list(NAMESPACE)) {
        if (key.startsWith(`${workspace}:`)) await state.delete(NAMESPACE, key);
      }
    },
  };
}
