/**
 * Carries hints: "look at conversation X". The store is the truth, so a lost, doubled or late hint is harmless; what a
 * driver owes is one running handler a conversation, and a look after the last kick.
 */
export interface Queue {
  /**
   * Asks for one look at the conversation, after `delayMs` (default 0). Kicks while a look waits are one; a kick while
   * one runs causes one more after it. Returns at once and never throws: a driver that is down reports by `stats`.
   */
  kick(conversationId: number, options?: { readonly delayMs?: number }): void;
  /** Starts working. `handler` runs at most once at a time for a conversation; a rejection is retried with back-off. */
  process(handler: QueueHandler, options: { readonly concurrency: number; readonly signal: AbortSignal }): void;
  /** Resolves when nothing waits or runs in this process; delayed kicks do not count. */
  idle(): Promise<void>;
  stats(): QueueStats;
  /** Stops taking work, waits for what runs until the deadline, then aborts it. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

export type QueueHandler = (conversationId: number, options: { readonly signal: AbortSignal }) => Promise<void>;

export interface QueueStats {
  readonly driver: string;
  readonly waiting: number;
  readonly running: number;
  readonly delayed: number;
  /** Null when the driver is reachable; otherwise one sentence. */
  readonly trouble: string | null;
}
