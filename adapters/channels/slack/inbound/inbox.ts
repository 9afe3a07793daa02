import { z } from 'zod';
import type { Clock, StateStore } from '../../../../src/adapter-kit.ts';
import type { RawEvent } from './incoming.ts';

const NAMESPACE = 'slack.inbox';

export interface Parked extends RawEvent {
  readonly name: string;
}

/**
 * Events that were acknowledged before they could be stored, because data that they need from Slack is late. They
 * survive restarts.
 */
export interface Inbox {
  /** Resolves when the event is durable. The same event has the same name. */
  put(event: Parked): Promise<void>;
  remove(name: string): Promise<void>;
  /** Removes all events whose names have this prefix. */
  forget(prefix: string): Promise<void>;
  /** Events left by an earlier run, in order of arrival. */
  list(): Promise<readonly Parked[]>;
}

const rowSchema = z.object({ at: z.number(), event: z.unknown(), isShared: z.boolean() });

export function createInbox(state: StateStore, clock: Clock, teamId: string): Inbox {
  const keyOf = (name: string) => `${teamId}:${name}`;
  /** Those of this process. */
  const names = new Set<string>();
  let last = 0;
  const remove = async (name: string): Promise<void> => {
    await state.delete(NAMESPACE, keyOf(name));
    names.delete(name);
  };
  return {
    async put({ name, event, isShared }) {
      last = Math.max(last + 1, clock.now());
      names.add(name);
      await state.set(NAMESPACE, keyOf(name), { at: last, event: z.json().parse(event), isShared });
    },
    remove,
    async forget(prefix) {
      for (const name of names) if (name.startsWith(prefix)) await remove(name);
    },
    async list() {
      const rows = await state.list(NAMESPACE);
      const own = rows.flatMap(({ key, value }) => {
        const row = rowSchema.safeParse(value).data;
        return row !== undefined && key.startsWith(keyOf('')) ? [{ ...row, name: key.slice(keyOf('').length) }] : [];
      });
      return own.toSorted((one, other) => one.at - other.at);
    },
  };
}
