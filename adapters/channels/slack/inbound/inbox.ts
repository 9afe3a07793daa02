import { z } from 'zod';
import { describe, HOUR_MS, type JsonValue, type StateStore } from '../../../../src/adapter-kit.ts';
import { createRunning } from '../../shared/running.ts';
import type { BotServices } from '../services.ts';
import type { RawEvent } from './incoming.ts';

const NAMESPACE = 'slack.inbox';
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;

export interface Parked extends RawEvent {
  /** The same event has the same name. */
  readonly name: string;
}

/**
 * Events that were acknowledged before they could be stored, because data that they need from Slack is late. They
 * survive restarts.
 */
export interface Inbox {
  /** Resolves when the event is durable. If `begun`, its storing, fails, it is repeated until it succeeds. */
  park(event: Parked, begun: Promise<void>): Promise<void>;
  /**
   * Empties all events whose names have this prefix. A process that is storing one, maybe another one than this, removes
   * it after that.
   */
  forget(prefix: string): Promise<void>;
  /** Stores what an earlier run has left, in order of arrival. Resolves when that has begun. */
  recover(): Promise<void>;
  drained(): Promise<void>;
}

export type InboxOptions = Pick<BotServices, 'workspace' | 'state' | 'clock' | 'log' | 'signal'>;

const rowSchema = z.object({ at: z.number(), event: z.unknown(), isShared: z.boolean() });
/** In the place of an event whose message was deleted. */
const FORGOTTEN = null;
/** Longer than another process takes to store an event. If it has ended, nobody else removes the mark. */
const FORGOTTEN_MS = HOUR_MS;

export interface InboxWork {
  /** Stores an event of the inbox. */
  store(event: RawEvent): Promise<void>;
  /** The event was stored, and its message was deleted meanwhile. */
  forgotten(event: RawEvent): Promise<void>;
}

export function createInbox(options: InboxOptions, { store, forgotten }: InboxWork): Inbox {
  const { workspace, state, clock, log, signal } = options;
  const prefix = `${workspace.teamId}:`;
  const running = createRunning();
  let last = 0;
  const end = async (parked: Parked): Promise<void> => {
    const row = rowSchema.safeParse(await state.get(NAMESPACE, prefix + parked.name)).data;
    if (row?.event === FORGOTTEN) await forgotten(parked);
    await state.delete(NAMESPACE, prefix + parked.name);
  };
  /** If the process ends first, the next start finds the event. */
  const finish = async (parked: Parked, begun: Promise<void>): Promise<void> => {
    let work = begun;
    for (let failures = 0; ; failures += 1) {
      try {
        await work;
        return await end(parked);
      } catch (error) {
        if (signal.aborted) return;
        log.warn('A Slack event is waiting to be stored', { event: parked.name, failures, cause: describe(error) });
        await clock.sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), { signal }).catch(() => undefined);
        work = store(parked);
      }
    }
  };
  return {
    async park(parked, begun) {
      const { name, event, isShared } = parked;
      last = Math.max(last + 1, clock.now());
      const to = { at: last, event: z.json().parse(event), isShared };
      // One that comes again keeps its row, in which its message may have been forgotten.
      await state.swap(NAMESPACE, prefix + name, { from: undefined, to });
      void running.track(finish(parked, begun));
    },
    async forget(beginning) {
      const mark = { at: clock.now(), event: FORGOTTEN };
      for (const { name, isShared, value } of await parkedIn(state, prefix)) {
        if (!name.startsWith(beginning)) continue;
        // Nobody would remove the mark of an event that has been stored by now.
        await state.swap(NAMESPACE, prefix + name, { from: value, to: { ...mark, isShared } });
      }
    },
    async recover() {
      for (const { at, value: _, ...parked } of await parkedIn(state, prefix)) {
        const isLeft = parked.event === FORGOTTEN && Math.abs(clock.now() - at) < FORGOTTEN_MS;
        if (!isLeft) void running.track(finish(parked, store(parked)));
      }
    },
    drained: running.drained,
  };
}

interface KeptEvent extends Parked {
  readonly at: number;
  /** As stored. */
  readonly value: JsonValue;
}

async function parkedIn(state: StateStore, prefix: string): Promise<readonly KeptEvent[]> {
  const own = (await state.list(NAMESPACE)).flatMap(({ key, value }) => {
    const row = rowSchema.safeParse(value).data;
    return row !== undefined && key.startsWith(prefix) ? [{ ...row, name: key.slice(prefix.length), value }] : [];
  });
  return own.toSorted((one, other) => one.at - other.at);
}
