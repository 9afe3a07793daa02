/** Long, because each timer wakes the process. */
const ALIVE_MS = 3_600_000;

/** Keeps the process alive until the returned function is called. */
export function holdProcess(): () => void {
  const timer = setInterval(() => undefined, ALIVE_MS);
  return () => clearInterval(timer);
}
