import { z } from 'zod';
import { describe, StrataError } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import { rejection } from '../util/async/limit.ts';
import { oneLine } from '../util/text/foreign-text.ts';
import type { Hook, Hooks } from './hooks.ts';
import { limitOwnTime, type OwnTime } from './own-time.ts';

export type HookKind = Exclude<keyof Hooks, 'name'>;

/** Time limit of a hook itself, without the time of `next()`. */
export const MAX_HOOK_MS = 10_000;

/** The hooks of one kind, outermost first, and the schemas of what they may pass on and return. */
export interface Chain<Context, Change, Result> {
  readonly kind: HookKind;
  readonly layers: readonly { readonly owner: string; readonly run: Hook<Context, Change, Result> }[];
  readonly change: z.ZodType<Partial<Change>>;
  readonly result: z.ZodType<Result>;
  readonly clock: Clock;
}

/** What is about to happen. */
export interface Call<Context, Change> {
  readonly context: Context;
  /** The fields that hooks may replace. */
  readonly change: Change;
  /** Aborts the hooks from outside. */
  readonly signal?: AbortSignal;
  /** Called with what each layer receives, outermost first. */
  readonly onLayer?: (change: Change) => void;
}

/** Runs the hooks around `inner`. Throws `HOOK_FAILED`, and the errors of `inner`. */
export type Around<Context, Change, Result> = (
  call: Call<Context, Change>,
  inner: (change: Change) => Promise<Result>,
) => Promise<Result>;

/** Each layer surrounds the later ones in the list; the innermost one is the real operation. */
export function compose<Context extends object, Change extends object, Result>(
  chain: Chain<Context, Change, Result>,
): Around<Context, Change, Result> {
  return (call, inner) => {
    const from = (index: number): ((change: Change) => Promise<Result>) => {
      const layer = chain.layers[index];
      if (layer === undefined) return inner;
      return (change) => runLayer(chain, layer, { ...call, change, rest: from(index + 1) });
    };
    return from(0)(call.change);
  };
}

interface Layered<Context, Change, Result> extends Call<Context, Change> {
  readonly rest: (change: Change) => Promise<Result>;
}

async function runLayer<Context extends object, Change extends object, Result>(
  chain: Chain<Context, Change, Result>,
  layer: Chain<Context, Change, Result>['layers'][number],
  call: Layered<Context, Change, Result>,
): Promise<Result> {
  const parent = call.signal ?? NEVER;
  parent.throwIfAborted();
  call.onLayer?.(call.change);
  using time = limitOwnTime({ clock: chain.clock, parent, ms: MAX_HOOK_MS });
  const passage = createPassage(chain, call, time);
  // A copy, because others use the original too.
  const shown = { ...structuredClone(call.context), ...structuredClone(call.change), signal: time.signal };
  const run = async () => await layer.run(shown, passage.next);
  try {
    const returned = await Promise.race([run(), rejection(time.signal)]);
    await passage.end();
    return parse(chain.result, returned, 'result');
  } catch (error) {
    if (parent.aborted) throw parent.reason;
    await passage.end().catch(() => undefined);
    if (passage.isFrom(error)) throw error;
    const data = { hook: chain.kind, owner: layer.owner, cause: describe(error) };
    throw new StrataError('HOOK_FAILED', data, { cause: error });
  }
}

const NEVER = new AbortController().signal;

interface Passage<Change, Result> {
  readonly next: (change?: Partial<Change>) => Promise<Result>;
  /** Closes it, and waits for calls in progress. Throws if it was called more than once. */
  end(): Promise<void>;
  /** Whether the error came from an inner layer. */
  isFrom(error: unknown): boolean;
}

/** The `next` of one hook, which may be called once, while the hook runs. */
function createPassage<Context, Change, Result>(
  chain: Pick<Chain<Context, Change, Result>, 'change'>,
  { change, rest }: Layered<Context, Change, Result>,
  time: OwnTime,
): Passage<Change, Result> {
  const passed: Promise<unknown>[] = [];
  const errors = new Set<unknown>();
  let fault: Error | null = null;
  let isOver = false;
  const pass = async (changed: Partial<Change>): Promise<Result> => {
    const whole = { ...change, ...parse(chain.change, changed, 'change') };
    time.pause();
    try {
      return await rest(whole);
    } catch (error) {
      errors.add(error);
      throw error;
    } finally {
      if (!isOver) time.resume();
    }
  };
  const refuse = (problem: string): Promise<never> => {
    fault ??= new Error(problem);
    return Promise.reject(fault);
  };
  const enter = (changed: Partial<Change>): Promise<Result> => {
    if (isOver) return refuse('it called next() after it had ended');
    if (passed.length > 0) return refuse('it called next() more than once');
    const passing = pass(changed);
    passed.push(passing);
    return passing;
  };
  return {
    next(changed = {}) {
      const entered = enter(changed);
      // If a hook does not await it, its failure must not end the process.
      entered.catch(() => undefined);
      return entered;
    },
    async end() {
      isOver = true;
      await Promise.allSettled(passed);
      if (fault !== null) throw fault;
    },
    isFrom: (error) => errors.has(error),
  };
}

function parse<Value>(schema: z.ZodType<Value>, value: unknown, what: 'change' | 'result'): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`its ${what} cannot be used: ${oneLine(z.prettifyError(parsed.error)).slice(0, MAX_PROBLEM)}`);
}

const MAX_PROBLEM = 500;
