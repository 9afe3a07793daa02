import { describe, type Log } from '../../../src/adapter-kit.ts';

/**
 * Reports a failure as one sentence when it begins, and once a minute while it lasts, because a broken connection fails
 * often.
 */
export interface Trouble {
  current(): string | null;
  met(sentence: string): void;
  over(): void;
}

export interface TroubleOptions {
  readonly name: string;
  readonly log: Log;
  readonly onTrouble: (message: string) => void;
  readonly now: () => number;
}

const EVERY_MS = 60_000;
/** A failure that returns within this time counts as the same one. */
const FLAPPING_MS = 10_000;

export function createTrouble({ name, log, onTrouble, now }: TroubleOptions): Trouble {
  let current: string | null = null;
  let toldAt = -Infinity;
  return {
    current: () => current,
    met(sentence) {
      current = sentence;
      if (now() - toldAt < EVERY_MS) return;
      toldAt = now();
      onTrouble(sentence);
    },
    over() {
      if (current === null) return;
      log.info(`queue.${name}.over`, { trouble: current });
      current = null;
      toldAt = Math.min(toldAt, now() - EVERY_MS + FLAPPING_MS);
    },
  };
}

/** PgBouncer and others of its kind. */
export const POOLED = 'a connection pooler is in between, and the queue needs the server itself';

/** The server is a node of a cluster, and the keys of the queue are elsewhere. */
export const ELSEWHERE = 'it is a node of a Redis Cluster, and the queue is on another node';

/** In words, where the error has none. */
export function reasonOf(error: unknown): string {
  const reason = describe(error);
  if (reason.startsWith('unsupported startup parameter')) return POOLED;
  const [, node] = /^MOVED \d+ (\S+)/.exec(reason) ?? [];
  if (node !== undefined) return `${ELSEWHERE}: ${node}`;
  if (isConsequence(error)) return 'it is not connected';
  return reason.startsWith('NOAUTH') ? 'it requires a password' : reason.replace(IN_SCRIPT, '');
}

/** What Redis adds to the errors of commands in a script. */
const IN_SCRIPT = /\.? script: [0-9a-f]{40}, on @user_script:\d+\.?$/;

/** There is no connection. Why, another error has said or will say. */
export function isConsequence(error: unknown): boolean {
  return /^(Stream isn't writeable|Connection is closed)/.test(describe(error));
}
