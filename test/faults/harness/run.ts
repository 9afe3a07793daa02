import { setTimeout as sleep } from 'node:timers/promises';
import type { Court } from './court.ts';
import { type Damage, owedOf } from './damage.ts';
import { type PlanOptions, planFaults } from './plan.ts';
import { type RunResult, resultOf } from './result.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

export interface RunOptions extends WorldOptions, PlanOptions {
  readonly messages: number;
  readonly onProgress: (words: string) => void;
}

const READY_LIMIT_MS = 90_000;
const DRAIN_LIMIT_MS = 90_000;
const TRAFFIC_STEP_MS = 20;
const PROGRESS_MS = 5000;

/**
 * One deployment, from an empty store to an end at which nothing may be owed. Afterwards everything it started is
 * removed.
 */
export async function runDeployment(options: RunOptions): Promise<RunResult> {
  const startedAt = performance.now();
  const failing = new AbortController();
  const signal = AbortSignal.any([options.signal, failing.signal]);
  await using world = await openWorld({ ...options, signal });
  const { fleet, court, platform, model, executioner } = world;
  await fleet.ready(READY_LIMIT_MS);
  const progress = setInterval(() => options.onProgress(wordsFor(world)), PROGRESS_MS);
  try {
    const plan = planFaults(options.deployment, world.chance('faults'), options);
    const parts = [talk(world, { ...options, signal }), executioner.carryOut(plan, fleet.nodes)];
    // If one of them fails, the other ends as well, before the world is disposed of.
    for (const part of parts) part.catch((error: unknown) => failing.abort(error));
    await Promise.allSettled(parts);
    await Promise.all(parts);
    platform.recover();
    model.recover();
    await fleet.ready(READY_LIMIT_MS);
    const owed = await drained(court, signal);
    const ends = await fleet.stop();
    const after = court.damage.length > 0 ? [] : await court.look(owedOf);
    const problems = [...fleet.surprises, ...ends].map((what) => ({ invariant: 'process', what }));
    const damage = distinct([...court.damage, ...owed, ...after, ...problems]);
    return resultOf(world, { damage, seconds: (performance.now() - startedAt) / 1000 });
  } finally {
    clearInterval(progress);
  }
}

/**
 * Spread evenly while faults occur. People who get no answer for this long leave; their owed replies are checked at the
 * end.
 */
async function talk({ platform, executioner }: World, { messages, signal }: RunOptions): Promise<void> {
  let lastAt = performance.now();
  for (let said = 0; said < messages && performance.now() - lastAt < DRAIN_LIMIT_MS; ) {
    signal.throwIfAborted();
    const due = Math.ceil(messages * executioner.progress());
    while (said < due && platform.say()) {
      said += 1;
      lastAt = performance.now();
    }
    await sleep(TRAFFIC_STEP_MS);
  }
}

/**
 * Checks until nothing is owed. Returns what is still owed at the time limit. Does not wait if something is already
 * broken.
 */
async function drained(court: Court, signal: AbortSignal): Promise<readonly Damage[]> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    signal.throwIfAborted();
    const owed = await court.look(owedOf);
    if (court.damage.length > 0) return [];
    if (owed.length === 0 || performance.now() > deadline) return owed;
    await sleep(500);
  }
}

function distinct(damage: readonly Damage[]): readonly Damage[] {
  return [...new Map(damage.map((one) => [one.what, one])).values()];
}

function wordsFor({ platform, executioner, court }: World): string {
  const { toll } = executioner;
  const messages = [...platform.record.messages.values()];
  const stored = messages.filter(({ acceptedAt }) => acceptedAt !== null).length;
  const kills = toll.gateway + toll.worker + toll.all + toll.redis + toll.postgres;
  return `${messages.length} said, ${stored} stored, ${kills} kills, damage: ${court.damage.length}`;
}
