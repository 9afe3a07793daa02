import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { isCrowded } from './failures.ts';
import { createGate } from './gate.ts';

/**
 * While the server has no connection left for this process, its units share those that it has. They wait in order of
 * arrival.
 */
export interface Crowd {
  connect(): Promise<PoolClient>;
  /** A connection was returned to the pool. */
  freed(): void;
}

/** Units wait so long after the last success. Later ones try once. */
const PATIENCE_MS = 5_000;
/** Other programs may have returned theirs. */
const LOOK_EVERY_MS = 500;

export function createCrowd(connect: () => Promise<PoolClient>): Crowd {
  const line = createGate(1);
  let inLine = 0;
  let refusedSince: number | null = null;
  let wake = () => {};
  /** Null if the server has no connection left, unless that has lasted too long. */
  const attempt = async () => {
    try {
      const client = await connect();
      refusedSince = null;
      return client;
    } catch (error) {
      if (!isCrowded(error)) throw error;
      refusedSince ??= performance.now();
      if (performance.now() - refusedSince >= PATIENCE_MS) throw error;
      return null;
    }
  };
  const untilFreed = async () => {
    const freed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await Promise.race([freed, sleep(LOOK_EVERY_MS, undefined, { ref: false })]);
  };
  const waitInLine = async () => {
    const leave = await line.enter();
    try {
      for (;;) {
        const client = await attempt();
        if (client !== null) return client;
        await untilFreed();
      }
    } finally {
      leave();
    }
  };
  return {
    async connect() {
      const client = inLine > 0 ? null : await attempt();
      if (client !== null) return client;
      inLine += 1;
      return await waitInLine().finally(() => {
        inLine -= 1;
      });
    },
    freed: () => wake(),
  };
}
