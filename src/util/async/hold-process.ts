import { HOUR_MS } from '../time/time.ts';

/** Long, because each timer wakes the process. */
const ALIVE_MS = HOUR_MS;

/** Keeps the process alive until the returned function is called. */
export function holdProcess(): () => void {
  const timer = setInterval(() => undefined, ALIVE_MS);
  return () => clearInterval(timer);
}
