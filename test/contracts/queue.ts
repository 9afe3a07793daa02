import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Queue, yieldToEventLoop } from '../../src/adapter-kit.ts';

/** What `create` of a queue contract returns. */
export interface QueueUnderTest {
  readonly queue: Queue;
  /** Frees everything else that the factory created. */
  dispose(): Promise<void>;
}

/** What `queueContract` tests. `create` is called before each test. */
export interface QueueContractOptions {
  /** Every instance is empty and sees no other's work. A rejected handler is retried within some 200 ms. */
  create(): Promise<QueueUnderTest>;
}

/**
 * The contract of every queue driver. Times are upper bounds for slow machines; order and counts are exact.
 *
 * @example
 * queueContract('local', { create: async () => ({ queue: createLocalQueue(), dispose: async () => {} }) });
 */
export function queueContract(name: string, options: QueueContractOptions): void {
  describe(`queue contract: ${name}`, () => {
    let made: QueueUnderTest;
    let queue: Queue;
    const stop = new AbortController();

    beforeEach(async () => {
      made = await options.create();
      queue = made.queue;
    });
    afterEach(async () => {
      await queue.close({ deadlineMs: 100 });
      await made.dispose();
    });

    it('looks once at a conversation that is kicked', async () => {
      const seen: number[] = [];
      queue.process(async (id) => void seen.push(id), { concurrency: 2, signal: stop.signal });
      queue.kick(7);
      await until(() => seen.length > 0);
      await queue.idle();
      expect(seen).toEqual([7]);
    });

    it('merges kicks before the start into one look', async () => {
      const seen: number[] = [];
      queue.kick(7);
      queue.kick(7);
      queue.kick(7);
      queue.process(async (id) => void seen.push(id), { concurrency: 2, signal: stop.signal });
      await until(() => seen.length > 0);
      await queue.idle();
      expect(seen).toEqual([7]);
    });

    it('comes to others while one conversation is kicked repeatedly', async () => {
      const seen: number[] = [];
      const maxLooks = 2000;
      queue.process(
        async (id) => {
          seen.push(id);
          // More work of this conversation is always due.
          if (id === 1 && seen.length < maxLooks && !seen.includes(2)) queue.kick(1);
          await pause(2);
        },
        { concurrency: 1, signal: stop.signal },
      );
      queue.kick(1);
      await until(() => seen.length >= 3);
      for (let kicks = 0; kicks < 300; kicks += 1) queue.kick(1);
      queue.kick(2);
      await until(() => seen.includes(2));
      expect(seen.length).toBeLessThan(maxLooks);
    });

    it('comes to others within one round of hundreds', async () => {
      const looks = new Map<number, number>();
      const last = 1000;
      queue.process(
        async (id) => {
          looks.set(id, (looks.get(id) ?? 0) + 1);
          if (!looks.has(last)) queue.kick(id);
          // As real work does: a queue without timers of its own would never let the kick below happen.
          await yieldToEventLoop();
        },
        { concurrency: 4, signal: stop.signal },
      );
      for (let id = 1; id <= 100; id += 1) queue.kick(id);
      await until(() => looks.size > 0);
      looks.clear();
      queue.kick(last);
      await until(() => looks.has(last));
      // One look for what was waiting before it, and another one for a kick that had not reached the server.
      expect(Math.max(...looks.values())).toBeLessThanOrEqual(3);
    });

    // Shows: W4
    it('runs one look at a time, one more after kicks', async () => {
      const gate = createGate();
      let running = 0;
      let most = 0;
      let looks = 0;
      queue.process(
        async () => {
          running += 1;
          looks += 1;
          most = Math.max(most, running);
          await gate.passed;
          running -= 1;
        },
        { concurrency: 4, signal: stop.signal },
      );
      queue.kick(1);
      await until(() => looks === 1);
      for (let kicks = 0; kicks < 5; kicks += 1) queue.kick(1);
      await pause(30);
      expect(looks).toBe(1);
      gate.open();
      await until(() => looks === 2);
      await queue.idle();
      await pause(30);
      expect({ looks, most }).toEqual({ looks: 2, most: 1 });
    });

    it('looks after the last kick', async () => {
      let state = 0;
      let seen = -1;
      queue.process(
        async () => {
          const read = state;
          await pause(5);
          seen = read;
        },
        { concurrency: 1, signal: stop.signal },
      );
      for (let change = 1; change <= 40; change += 1) {
        state = change;
        queue.kick(3);
        await pause(change % 4);
      }
      await until(() => seen === 40);
      await queue.idle();
      expect(seen).toBe(40);
    });

    it('works on many conversations up to the concurrency', async () => {
      const gate = createGate();
      let running = 0;
      let most = 0;
      const done = new Set<number>();
      queue.process(
        async (id) => {
          running += 1;
          most = Math.max(most, running);
          await gate.passed;
          running -= 1;
          done.add(id);
        },
        { concurrency: 3, signal: stop.signal },
      );
      for (let id = 1; id <= 12; id += 1) queue.kick(id);
      await until(() => running === 3);
      await pause(30);
      expect(most).toBe(3);
      gate.open();
      await until(() => done.size === 12);
      await queue.idle();
      expect(most).toBe(3);
    });

    it('a conversation that hangs holds up no other', async () => {
      const gate = createGate();
      const done: number[] = [];
      queue.process(
        async (id) => {
          if (id === 1) await gate.passed;
          done.push(id);
        },
        { concurrency: 2, signal: stop.signal },
      );
      for (const id of [1, 2, 3, 4]) queue.kick(id);
      await until(() => done.length === 3);
      expect(done.toSorted()).toEqual([2, 3, 4]);
      gate.open();
    });

    it('holds a delayed kick and lets immediate ones overtake', async () => {
      const seen: { id: number; at: number }[] = [];
      const start = performance.now();
      queue.process(async (id) => void seen.push({ id, at: performance.now() - start }), {
        concurrency: 2,
        signal: stop.signal,
      });
      queue.kick(1, { delayMs: 1_000 });
      queue.kick(2, { delayMs: 60_000 });
      queue.kick(2);
      await until(() => seen.length === 2);
      expect(seen.map(({ id }) => id)).toEqual([2, 1]);
      expect(seen[1]?.at).toBeGreaterThanOrEqual(990);
    });

    it('does not wait for delayed kicks when idling', async () => {
      queue.process(async () => undefined, { concurrency: 1, signal: stop.signal });
      queue.kick(1, { delayMs: 60_000 });
      await queue.idle();
      expect(queue.stats()).toMatchObject({ waiting: 0, running: 0 });
    });

    it('is idle only when nothing is kicked or running', async () => {
      let ended = 0;
      queue.process(
        async () => {
          await pause(20);
          ended += 1;
        },
        { concurrency: 1, signal: stop.signal },
      );
      for (const id of [1, 2, 3]) queue.kick(id);
      await queue.idle();
      expect(ended).toBe(3);
    });

    it('retries after a rejection and reports trouble until then', async () => {
      let tries = 0;
      queue.process(
        async () => {
          tries += 1;
          if (tries < 3) throw new Error('not yet');
        },
        { concurrency: 1, signal: stop.signal },
      );
      queue.kick(5);
      await until(() => tries === 3);
      await queue.idle();
      expect(queue.stats().trouble).toBeNull();
    });

    // Shows: W7
    it('retries rejected work after other work that waits', async () => {
      const seen: number[] = [];
      queue.process(
        async (id) => {
          seen.push(id);
          if (id === 1) throw new Error('never');
        },
        { concurrency: 1, signal: stop.signal },
      );
      for (const id of [1, 2, 3]) queue.kick(id);
      await until(() => seen.length === 4);
      expect(seen.toSorted()).toEqual([1, 1, 2, 3]);
    });

    // Shows: S13
    it('returns from a kick before the handler does anything', async () => {
      let begun = false;
      queue.process(
        async () => {
          begun = true;
        },
        { concurrency: 1, signal: stop.signal },
      );
      queue.kick(1);
      expect(begun).toBe(false);
      await until(() => begun);
    });

    it('never throws from a kick, closed or not', async () => {
      queue.process(async () => undefined, { concurrency: 1, signal: stop.signal });
      await queue.close({ deadlineMs: 50 });
      expect(() => queue.kick(1)).not.toThrow();
      expect(() => queue.kick(1, { delayMs: 5 })).not.toThrow();
    });

    it('closes after the running work and starts no more', async () => {
      const done: number[] = [];
      queue.process(
        async (id) => {
          await pause(80);
          done.push(id);
        },
        { concurrency: 1, signal: stop.signal },
      );
      queue.kick(1);
      await until(() => queue.stats().running === 1);
      queue.kick(2);
      await queue.close({ deadlineMs: 5000 });
      await pause(120);
      expect(done).toEqual([1]);
    });

    it('aborts what still runs at the deadline of its closing', async () => {
      let reason = 'none';
      queue.process(
        (_id, { signal }) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              reason = 'aborted';
              resolve();
            }),
          ),
        { concurrency: 1, signal: stop.signal },
      );
      queue.kick(1);
      await until(() => queue.stats().running === 1);
      const start = performance.now();
      await queue.close({ deadlineMs: 100 });
      expect(reason).toBe('aborted');
      expect(performance.now() - start).toBeGreaterThanOrEqual(95);
      expect(performance.now() - start).toBeLessThan(3000);
    });

    // Shows: W12
    it('closes even if a handler ignores the abort', async () => {
      queue.process(() => new Promise(() => undefined), { concurrency: 1, signal: stop.signal });
      queue.kick(1);
      await until(() => queue.stats().running === 1);
      const start = performance.now();
      await queue.close({ deadlineMs: 50 });
      expect(performance.now() - start).toBeLessThan(5000);
    });
  });
}

function createGate(): { readonly passed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('The awaited condition did not come true within 60 s.');
    await pause(2);
  }
}
