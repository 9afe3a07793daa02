/** Time and randomness, injected so that tests and replays control them. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. Never keeps the process alive. */
  sleep(ms: number, options: { signal: AbortSignal }): Promise<void>;
}

/** Ids and random numbers, so that tests can set them. */
export interface Random {
  /** A new id of 26 characters that sorts by creation time. */
  id(): string;
  /** 0 <= x < 1, used for jitter. */
  next(): number;
}
