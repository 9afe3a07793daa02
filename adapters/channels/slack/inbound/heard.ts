import { z } from 'zod';
import { describe } from '../../../../src/adapter-kit.ts';
import type { CatchUpContext } from './catch-up-context.ts';

const HEARD = 'slack.heard';
const GAP = 'slack.gap';
/** Interval at which the process records that it has received everything so far. */
const BEAT_MS = 10_000;

/** Until when everything was received, and since when events may have been missed. Survives restarts. */
export interface Heard {
  /** Connected. Returns since when (in seconds) events may have been missed; null if unknown. */
  begin(): Promise<number | null>;
  /** Events since then (in seconds) may have been missed. Resolves when that is stored. */
  missed(since: number): Promise<void>;
  /** No connection is open. */
  lost(): void;
  /** Everything missed up to now has been read. */
  close(): Promise<void>;
  drained(): Promise<void>;
}

export function createHeard(parts: Pick<CatchUpContext, 'state' | 'workspace' | 'clock' | 'log' | 'signal'>): Heard {
  const { state, workspace, clock, log, signal } = parts;
  const { teamId } = workspace;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const beat = (): void => {
    const now = clock.now() / 1000;
    writing = writing
      .then(() => state.set(HEARD, teamId, now))
      .catch((error: unknown) => log.debug('The time of the last event was not stored', { cause: describe(error) }));
  };
  const lost = (): void => {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    beat();
  };
  signal.addEventListener('abort', lost, { once: true });
  return {
    async begin() {
      await writing;
      const since = secondsOf(await state.get(GAP, teamId)) ?? secondsOf(await state.get(HEARD, teamId));
      // Before the first record, so that a process that dies while reading leaves its gap to the next one.
      if (since !== null) await state.set(GAP, teamId, since);
      if (timer === null && !signal.aborted) {
        timer = setInterval(beat, BEAT_MS).unref();
        beat();
      }
      return since;
    },
    async missed(since) {
      const before = secondsOf(await state.get(GAP, teamId)) ?? since;
      await state.set(GAP, teamId, Math.min(before, since));
    },
    lost,
    close: () => state.delete(GAP, teamId),
    drained: () => writing,
  };
}

function secondsOf(value: unknown): number | null {
  return z.number().safeParse(value).data ?? null;
}
