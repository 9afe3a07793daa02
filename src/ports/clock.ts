/** Time and chance, injected so that tests and replays decide them. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. Never keeps the process alive by itself. */
  sleep(ms: number, options: { signal: AbortSignal }): Promise<void>;
}

export interface Random {
  /** A new id: 26 characters, sortable by the time of making. */
  id(): string;
  /** 0 <= x < 1, for jitter. */
  next(): number;
}
