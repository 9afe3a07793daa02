/** Scrubs after small deletions that nobody waits for, such as the end of a child. */
export interface ScrubSoon {
  /** Resolves when the text is gone from the files, or when that is put off for a moment. Never rejects. */
  run(): Promise<void>;
  /** Does what was put off, unless it may take long. The next start then does it. */
  close(): Promise<void>;
}

/** A run reads the whole file: it rests for so many times as long as it took, so that other work hardly notices. */
const REST_FACTOR = 20;
const MAX_CLOSING_MS = 500;

export function createScrubSoon(scrub: () => Promise<unknown>): ScrubSoon {
  let tookMs = 0;
  let restUntil = 0;
  let timer: NodeJS.Timeout | null = null;
  const work = async () => {
    const startedAt = performance.now();
    // The deletion has been noted: the next scrub or the next start covers it.
    await scrub().catch(() => undefined);
    tookMs = performance.now() - startedAt;
    restUntil = performance.now() + REST_FACTOR * tookMs;
  };
  const cancel = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  return {
    async run() {
      if (timer !== null) return;
      const restMs = restUntil - performance.now();
      if (restMs <= 0) return await work();
      timer = setTimeout(() => {
        timer = null;
        void work();
      }, restMs).unref();
    },
    async close() {
      const isOwed = timer !== null;
      cancel();
      if (isOwed && tookMs <= MAX_CLOSING_MS) await work();
    },
  };
}
