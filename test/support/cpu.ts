/** How long the work below takes on the machine for which limits of CPU time are written. */
const USUAL_MS = 2;
const TEXT = 'The quick “brown” fox; größer than 12 lazy dogs, 日本 and so on. '.repeat(600);
const RUNS = 5;

/**
 * How many times slower than usual this thread computes just now, at least 1: the machine may be slow, and others share
 * its cores and caches.
 */
export function slowdown(): number {
  const times = Array.from({ length: RUNS }, () => cpuMsOf(work)).sort((one, other) => one - other);
  return Math.max(1, (times[Math.floor(RUNS / 2)] ?? 0) / USUAL_MS);
}

/** The CPU time of this thread, so that other threads do not count. */
export function cpuMsOf(run: () => unknown): number {
  const before = threadCpuMs();
  run();
  return threadCpuMs() - before;
}

/** The CPU time that this thread has taken so far. */
export function threadCpuMs(): number {
  // Linux adds to the time of a running thread at each tick, so it may be 4 ms old; asking for that of the process adds
  // what is missing. The parts of user and system are sampled at ticks as well: for short times, only the sum is exact.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function work(): number {
  const words = TEXT.normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s]+/gu, ' ')
    .split(/\s+/u);
  return new Set(words).size;
}
