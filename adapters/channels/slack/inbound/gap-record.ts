import { z } from 'zod';
import { describe } from '../../../../src/adapter-kit.ts';
import type { BotServices } from '../services.ts';

const HEARD = 'slack.heard';
const GAP = 'slack.gap';
/** Interval at which the process records that it has received everything so far. */
const BEAT_MS = 10_000;

/** Clocks of gateways may differ by this much. A time further ahead is from before the clock was set back, so unknown. */
const MAX_AHEAD_S = 300;

/** A time in which events may have been missed. */
export interface Gap {
  /** When it began, in seconds; null if unknown. */
  readonly since: number | null;
  /** All of it has been read. It stays open if more was missed since. */
  close(): Promise<void>;
}

/** Until when everything was received, and since when events may have been missed. Survives restarts. */
export interface GapRecord {
  /** Connected. Returns what may have been missed, with what is still to be read. */
  begin(): Promise<Gap>;
  /** Events since then (in seconds) may have been missed. Resolves when that is stored. */
  missed(since: number): Promise<void>;
  /** No connection is open. */
  lost(): void;
  drained(): Promise<void>;
}

export function createGapRecord(
  services: Pick<BotServices, 'state' | 'workspace' | 'clock' | 'log' | 'signal'>,
): GapRecord {
  const { state, workspace, clock, log, signal } = services;
  const { teamId } = workspace;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<unknown> = Promise.resolve();
  const inOrder = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const own = writing.then(work);
    writing = own.catch(() => undefined);
    return own;
  };
  const pastOf = (value: unknown): number | null => {
    const seconds = secondsOf(value);
    return seconds === null || seconds > clock.now() / 1000 + MAX_AHEAD_S ? null : seconds;
  };
  const beat = (): void => {
    const now = clock.now() / 1000;
    inOrder(() => state.set(HEARD, teamId, now)).catch((error: unknown) =>
      log.debug('The time of the last event was not stored', { cause: describe(error) }),
    );
  };
  let gaps = 0;
  const closeGap = (gap: number) =>
    inOrder(async () => {
      if (gap === gaps) await state.delete(GAP, teamId);
    });
  const lost = (): void => {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    beat();
  };
  signal.addEventListener('abort', lost, { once: true });
  return {
    begin() {
      gaps += 1;
      const gap = gaps;
      return inOrder(async () => {
        const since = pastOf(await state.get(GAP, teamId)) ?? pastOf(await state.get(HEARD, teamId));
        // Before the first record, so that a process that dies while reading leaves its gap to the next one.
        if (since !== null) await state.set(GAP, teamId, since);
        if (timer === null && !signal.aborted) {
          timer = setInterval(beat, BEAT_MS).unref();
          beat();
        }
        return { since, close: () => closeGap(gap) };
      });
    },
    missed(since) {
      gaps += 1;
      return inOrder(async () => {
        const before = secondsOf(await state.get(GAP, teamId)) ?? since;
        await state.set(GAP, teamId, Math.min(before, since));
      });
    },
    lost,
    async drained() {
      await writing;
    },
  };
}

function secondsOf(value: unknown): number | null {
  return z.number().safeParse(value).data ?? null;
}
