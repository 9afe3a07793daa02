/**
 * Carries hints: "check conversation X". The store is the source of truth, so a lost, duplicate or late hint is
 * harmless. A driver guarantees one running handler per conversation, and a check after the last kick.
 */
export interface Queue {
  /**
   * Requests a check of the conversation after `delayMs` (default 0). Kicks during the wait are merged; a kick during a
   * run causes one more run afterwards. Returns at once and never throws: an unreachable driver is reported by `stats`.
   */
  kick(conversationId: number, options?: { readonly delayMs?: number }): void;
  /** Starts working. `handler` runs at most once at a time per conversation; a rejection is retried with backoff. */
  process(handler: QueueHandler, options: { readonly concurrency: number; readonly signal: AbortSignal }): void;
  /** Resolves when nothing waits or runs in this process; delayed kicks do not count. */
  idle(): Promise<void>;
  stats(): QueueStats;
  /** Takes no new work, waits for running work until the deadline, then aborts it. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

/** Maintains one conversation. A rejection is retried after a pause. */
export type QueueHandler = (conversationId: number, options: { readonly signal: AbortSignal }) => Promise<void>;

/** The jobs of a queue, counted by state. */
export interface QueueStats {
  readonly driver: string;
  readonly waiting: number;
  readonly running: number;
  readonly delayed: number;
  /** Null if the driver is reachable; otherwise one sentence. */
  readonly trouble: string | null;
}
