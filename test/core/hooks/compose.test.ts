import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StrataError } from '../../../src/domain/errors.ts';
import { type Around, compose, MAX_HOOK_MS } from '../../../src/hooks/compose.ts';
import type { Hook } from '../../../src/hooks/hooks.ts';
import { createOrder } from '../../../src/hooks/in-order.ts';
import { shapes } from '../../../src/hooks/shapes.ts';
import { settle, type TestClock, testClock } from '../compaction/compaction.world.ts';

type Context = { readonly place: string };
type Change = { readonly text: string };
type Result = { readonly trace: string };
type Layer = Hook<Context, Change, Result>;

const shape = {
  change: z.strictObject({ text: z.string().exactOptional() }),
  result: z.strictObject({ trace: z.string() }),
};

function around(layers: readonly Layer[], clock: TestClock = testClock()): Around<Context, Change, Result> {
  return compose({ kind: 'post', layers: layers.map((run, index) => ({ owner: `h${index}`, run })), ...shape, clock });
}

const call = { context: { place: 'here' }, change: { text: '' } };
const core = async ({ text }: Change): Promise<Result> => ({ trace: `[${text}]` });

/** What one hook does, and what that means when it is written out by hand. */
type Deed = { readonly kind: 'pass' | 'answer' | 'throw'; readonly mark: string; readonly isLate: boolean };

const layerOf = ({ kind, mark, isLate }: Deed): Layer => {
  return async ({ text }, next) => {
    if (isLate) await settle();
    if (kind === 'throw') throw new Error(mark);
    if (kind === 'answer') return { trace: `${mark}!` };
    const { trace } = await next({ text: text + mark });
    return { trace: `${mark}(${trace})` };
  };
};

function byHand(deeds: readonly Deed[], text: string, index = 0): string {
  const [deed, ...rest] = deeds;
  if (deed === undefined) return `[${text}]`;
  if (deed.kind === 'throw') throw new Error(`h${index} ${deed.mark}`);
  if (deed.kind === 'answer') return `${deed.mark}!`;
  return `${deed.mark}(${byHand(rest, text + deed.mark, index + 1)})`;
}

const deeds = fc.array(
  fc.record({
    kind: fc.constantFrom('pass' as const, 'pass' as const, 'pass' as const, 'answer' as const, 'throw' as const),
    mark: fc.constantFrom('a', 'b', 'c'),
    isLate: fc.boolean(),
  }),
  { maxLength: 6 },
);

async function outcomeOf(work: Promise<Result>): Promise<string> {
  return await work.then(
    ({ trace }) => trace,
    (error: unknown) => (error instanceof StrataError ? error.message : `not ours: ${String(error)}`),
  );
}

describe('composed hooks', () => {
  it('nest in the order of the list', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const outcome = await outcomeOf(around(list.map(layerOf))(call, core));
        let expected: string;
        try {
          expected = byHand(list, '');
        } catch (error) {
          const [owner, mark] = String((error as Error).message).split(' ');
          expected = `The post hook of ${owner} failed: ${mark}.`;
        }
        expect(outcome).toBe(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('run the inner work at most once, whatever they call', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(times, fc.boolean(), async (counts, waits) => {
        let ran = 0;
        const layers = counts.map(
          (count): Layer =>
            async (_context, next) => {
              for (let time = 0; time < count; time += 1) {
                const passed = next().catch(() => undefined);
                if (waits) await passed;
              }
              return { trace: 'own' };
            },
        );
        const inner = async () => {
          ran += 1;
          return { trace: 'core' };
        };
        const outcome = await outcomeOf(around(layers)(call, inner));
        const reached = counts.indexOf(0);
        const used = reached === -1 ? counts : counts.slice(0, reached);
        expect(ran).toBe(reached === -1 ? 1 : 0);
        const greedy = used.find((count) => count > 1);
        expect(outcome.includes('called next() more than once')).toBe(counts[0] !== undefined && counts[0] > 1);
        if (greedy === undefined) expect(outcome).toBe('own');
      }),
      { numRuns: 100 },
    );
  });

  it('wait for work that they began and left', async () => {
    const gate = Promise.withResolvers<void>();
    let isOver = false;
    const inner = async (): Promise<Result> => {
      await gate.promise;
      isOver = true;
      return { trace: 'core' };
    };
    const leaves: Layer = (_context, next) => {
      void next();
      return { trace: 'own' };
    };
    const running = around([leaves])(call, inner);
    await settle();
    gate.resolve();
    expect(await running).toEqual({ trace: 'own' });
    expect(isOver).toBe(true);
  });

  it('let errors of the inner work pass unchanged', async () => {
    const failure = new Error('the model is away');
    const inner = () => Promise.reject(failure);
    await expect(around([(_context, next) => next()])(call, inner)).rejects.toBe(failure);
    const rescue: Layer = async (_context, next) => await next().catch(() => ({ trace: 'rescued' }));
    expect(await around([rescue])(call, inner)).toEqual({ trace: 'rescued' });
  });

  it('cannot change what others hold', async () => {
    const given = { context: { place: 'here' }, change: { text: 'said' } };
    const spoil: Layer = (context, next) => {
      Object.assign(context, { text: 'spoilt', place: 'elsewhere' });
      return next();
    };
    expect(
      await around([spoil, (context, next) => next({ text: `${context.text} ${context.place}` })])(given, core),
    ).toEqual({
      trace: '[said here]',
    });
  });

  it.each<[string, Layer, string]>([
    ['a result of another shape', () => ({ trace: 7 }) as never, 'its result cannot be used'],
    ['no result', () => undefined as never, 'its result cannot be used'],
    [
      'a change that is not theirs to make',
      (_context, next) => next({ audience: 'public' } as never),
      'its change cannot',
    ],
    ['a throw that is no error', () => Promise.reject('out of paper'), 'failed: out of paper'],
  ])('fail on %s', async (_name, layer, expected) => {
    expect(await outcomeOf(around([layer])(call, core))).toContain(expected);
  });

  it('refuse next() after the hook has ended', async () => {
    let later: (() => Promise<Result>) | null = null;
    const keeps: Layer = (_context, next) => {
      later = next;
      return { trace: 'own' };
    };
    await around([keeps])(call, core);
    await expect((later as unknown as () => Promise<Result>)()).rejects.toThrow('after it had ended');
  });
});

it("a model hook's answer ends in a known way", () => {
  const { result } = shapes.model;
  expect(result.parse({ text: 'Yes.' }).finish).toBe('stop');
  expect(() => result.parse({ finish: 'done' })).toThrow('finish');
});

describe('the time limit of a hook', () => {
  it('fails a hook that hangs', async () => {
    const clock = testClock();
    const signals: AbortSignal[] = [];
    const hangs: Layer = ({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const running = outcomeOf(around([hangs], clock)(call, core));
    await settle();
    await clock.advance(MAX_HOOK_MS);
    expect(await running).toBe('The post hook of h0 failed: No result within 10 seconds.');
    expect(signals[0]?.aborted).toBe(true);
  });

  it('does not count the time of next()', async () => {
    const clock = testClock();
    const gate = Promise.withResolvers<void>();
    const slow = async (): Promise<Result> => {
      await gate.promise;
      return { trace: 'core' };
    };
    const running = around([(_context, next) => next()], clock)(call, slow);
    await settle();
    await clock.advance(MAX_HOOK_MS * 5);
    gate.resolve();
    expect(await running).toEqual({ trace: 'core' });
  });

  it('ends with the work around it', async () => {
    const stop = new AbortController();
    const hangs: Layer = () => new Promise(() => undefined);
    const running = around([hangs])({ ...call, signal: stop.signal }, core);
    const reason = new Error('The bot is stopping.');
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});

describe('the order of results', () => {
  it('is that of the calls, however late each ends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), async (ends) => {
        const inOrder = createOrder<string>();
        const gates = ends.map(() => Promise.withResolvers<number>());
        const seen: number[] = [];
        const all = gates.map((gate, index) =>
          inOrder('here', gate.promise).then(
            () => seen.push(index),
            () => seen.push(index),
          ),
        );
        for (const index of ends) {
          if (index === 3) gates[index]?.reject(new Error('lost'));
          else gates[index]?.resolve(index);
        }
        await Promise.all(all);
        expect(seen).toEqual([0, 1, 2, 3, 4]);
      }),
      { numRuns: 60 },
    );
  });
});
