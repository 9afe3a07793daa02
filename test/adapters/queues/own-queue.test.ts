import type { Queue, QueueHandler } from '../../../src/adapter-kit.ts';
import { queueContract } from '../../contracts/queue.ts';

/** A queue as one may write it from the documentation: it has no timers, except for delays. */
class SmallQueue implements Queue {
  readonly #waiting = new Set<number>();
  readonly #running = new Set<number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #stop = new AbortController();
  #work: { readonly handler: QueueHandler; readonly concurrency: number } | null = null;
  #trouble: string | null = null;
  #idle = Promise.withResolvers<void>();

  kick(id: number, { delayMs = 0 }: { readonly delayMs?: number } = {}): void {
    if (this.#stop.signal.aborted || this.#isClosed) return;
    if (delayMs > 0) this.#later(id, delayMs);
    else this.#waiting.add(id);
    queueMicrotask(() => this.#pump());
  }

  process(handler: QueueHandler, { concurrency }: { readonly concurrency: number }): void {
    this.#work = { handler, concurrency };
    this.#pump();
  }

  async idle(): Promise<void> {
    if (this.#waiting.size + this.#running.size > 0) await this.#idle.promise;
  }

  stats() {
    const sizes = { waiting: this.#waiting.size, running: this.#running.size, delayed: this.#timers.size };
    return { driver: 'small', ...sizes, trouble: this.#trouble };
  }

  #isClosed = false;

  async close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#waiting.clear();
    const timer = setTimeout(() => {
      this.#stop.abort();
      setTimeout(() => this.#idle.resolve(), 100);
    }, deadlineMs);
    await this.idle();
    clearTimeout(timer);
  }

  #later(id: number, delayMs: number): void {
    if (this.#timers.has(id)) return;
    const due = () => {
      this.#timers.delete(id);
      this.kick(id);
    };
    this.#timers.set(id, setTimeout(due, delayMs));
  }

  #pump(): void {
    const { concurrency = 0 } = this.#work ?? {};
    const free = [...this.#waiting].filter((id) => !this.#running.has(id));
    for (const id of free.slice(0, Math.max(0, concurrency - this.#running.size))) this.#run(id);
  }

  #run(id: number): void {
    this.#waiting.delete(id);
    this.#running.add(id);
    const ran = this.#work?.handler(id, { signal: this.#stop.signal }) ?? Promise.resolve();
    const failed = (error: unknown) => {
      this.#trouble = String(error);
      if (!this.#isClosed) this.#later(id, 20);
    };
    ran
      .then(() => {
        this.#trouble = null;
      }, failed)
      .finally(() => {
        this.#running.delete(id);
        this.#pump();
        if (this.#waiting.size + this.#running.size > 0) return;
        this.#idle.resolve();
        this.#idle = Promise.withResolvers();
      });
  }
}

queueContract('small', { create: async () => ({ queue: new SmallQueue(), dispose: async () => undefined }) });
