import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the server responds. A statement that waits for a lock takes long too, so only a probe can tell. */
export interface Pulse {
  /** Observes a statement. If it takes long and a probe gets no response either, all connections are ended. */
  follow<Result>(statement: Promise<Result>): Promise<Result>;
  /** Resolves at once while the server responds. Otherwise waits for it, until it has been silent for too long. */
  ready(): Promise<void>;
  close(): void;
}

export interface PulseOptions {
  /** Rejects if the server does not respond. */
  readonly probe: () => Promise<void>;
  /** Ends all connections, so that their statements fail. */
  readonly drop: () => void;
  readonly limits: PulseLimits;
}

export interface PulseLimits {
  /** A statement that takes longer causes a probe. */
  readonly suspectMs: number;
  /** Units wait so long for a server that has become silent. Later ones fail at once. */
  readonly patienceMs: number;
  /** Between two looks. */
  readonly pauseMs: number;
}

export const PULSE_LIMITS: PulseLimits = { suspectMs: 5_000, patienceMs: 5_000, pauseMs: 500 };

export function createPulse({ probe, drop, limits }: PulseOptions): Pulse {
  const { suspectMs, patienceMs, pauseMs } = limits;
  /** When each running statement was sent, in that order. */
  const sent = new Map<object, number>();
  let respondedAt = 0;
  let isClosed = false;
  let isWatching = false;
  let away: { readonly since: number; readonly back: Promise<void> } | null = null;
  const responds = () =>
    probe().then(
      () => true,
      () => false,
    );
  const wait = () => sleep(pauseMs, undefined, { ref: false });
  const untilBack = async () => {
    drop();
    while (!isClosed && !(await responds())) await wait();
    away = null;
  };
  const watch = async () => {
    if (isWatching) return;
    isWatching = true;
    for (; !isClosed && sent.size > 0; await wait()) {
      const [since = 0] = sent.values();
      if (performance.now() - Math.max(since, respondedAt) < suspectMs) continue;
      if (await responds()) respondedAt = performance.now();
      else {
        away = { since: performance.now(), back: untilBack() };
        await away.back;
      }
    }
    isWatching = false;
  };
  return {
    async follow(statement) {
      const key = {};
      sent.set(key, performance.now());
      void watch();
      try {
        return await statement;
      } finally {
        sent.delete(key);
      }
    },
    async ready() {
      if (away === null) return;
      const leftMs = Math.max(0, away.since + patienceMs - performance.now());
      const late = sleep(leftMs, 'late' as const, { ref: false });
      if ((await Promise.race([away.back, late])) === 'late') throw new Error('timeout exceeded: no response');
    },
    close() {
      isClosed = true;
    },
  };
}
