import { type Clock, describe, isStoreAway, type Log } from '../../../../src/adapter-kit.ts';
import { createRunning } from '../../shared/running.ts';
import { hasWaitedTooLong, MAX_WAITING_CHARACTERS } from '../../shared/waiting.ts';
import type { SlackSettings } from '../settings.ts';
import { type Incoming, nameOf } from './incoming.ts';
import type { Take } from './take.ts';

/** Somebody waits for an answer when the store is back. */
const MAX_PAUSE_MS = 5_000;
const FIRST_PAUSE_MS = 500;
/** Slack still repeats the newest, so these leave. */
const TOO_MANY = 'Too many Slack events wait for the store, so this one is lost unless Slack repeats it in time';

/**
 * Events that the store could not take because it is away. Slack sends them again for some minutes only, and a disk may
 * stay full for a night.
 */
export interface Unstored {
  /** Takes the event, which arrived at a time, again until it is stored, in order of arrival. */
  keep(incoming: Incoming, since: number): void;
  drained(): Promise<void>;
}

export interface UnstoredOptions {
  readonly settings: Pick<SlackSettings, 'catch_up'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export function createUnstored(options: UnstoredOptions, take: Take): Unstored {
  const { clock, log, signal } = options;
  const running = createRunning();
  const waiting = new Map<string, Waiting>();
  let characters = 0;
  const pause = (failures: number) =>
    clock.sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), { signal }).catch(() => undefined);
  const isTaken = async (name: string, { incoming, since }: Waiting): Promise<boolean> => {
    try {
      await take(hasWaitedTooLong(options, since) ? past(incoming) : incoming);
    } catch (error) {
      if (isStoreAway(error)) return false;
      log.error('A Slack event was not stored', { event: name, cause: describe(error) });
    }
    return true;
  };
  const takeAll = async (): Promise<void> => {
    await pause(0);
    for (const [name, one] of waiting) {
      for (let failures = 1; !signal.aborted && !(await isTaken(name, one)); failures += 1) await pause(failures);
      if (signal.aborted) return;
      waiting.delete(name);
      characters -= one.characters;
    }
  };
  return {
    keep(incoming, since) {
      const name = nameOf(incoming);
      if (waiting.has(name)) return;
      const one = { incoming, since, characters: JSON.stringify(incoming).length };
      if (hasText(incoming) && characters + one.characters > MAX_WAITING_CHARACTERS)
        return log.error(TOO_MANY, { event: name });
      waiting.set(name, one);
      characters += one.characters;
      if (waiting.size === 1) running.track(takeAll()).catch(() => undefined);
    },
    drained: running.drained,
  };
}

interface Waiting {
  readonly incoming: Incoming;
  readonly since: number;
  readonly characters: number;
}

/** Deletions and changes of a channel are small, and what they end must not outlast them. */
function hasText({ kind }: Incoming): boolean {
  return kind === 'message' || kind === 'edit';
}

function past(incoming: Incoming): Incoming {
  return incoming.kind === 'message' ? { ...incoming, later: { note: null, root: null, isPast: true } } : incoming;
}
