import { randomFillSync } from 'node:crypto';
import type { Clock, Random } from '../../ports/clock.ts';

/** The clock of this machine. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    sleep,
  };
}

/** Node's timers end at once when they are set for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Rejects with the signal's own reason: creating an error for every aborted sleep would cost more than the sleep. */
function sleep(ms: number, { signal }: { readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const wake = () => {
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(ms, MAX_TIMER_MS));
    timer.unref();
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Crockford's alphabet, without letters that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_LENGTH = 10;
const CHANCE_LENGTH = 16;

/** Ids and random numbers of this machine. */
export function createSystemRandom(clock: Pick<Clock, 'now'>): Random {
  const bytes = new Uint8Array(CHANCE_LENGTH);
  return {
    id: () => encodeTime(clock.now()) + encodeChance(randomFillSync(bytes)),
    next: () => Math.random(),
  };
}

function encodeTime(ms: number): string {
  let rest = ms;
  let text = '';
  for (let index = 0; index < TIME_LENGTH; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeChance(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET.charAt(byte % 32)).join('');
}
