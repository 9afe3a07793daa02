import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MEMORY_STATES } from '../../../src/adapter-kit.ts';
import { RELATIVE_IMPORTS } from '../../support/relative-imports.ts';
import { SIZED, spread } from '../../support/size.ts';
import { createWorld, expectCovered, faithful, scriptedModel, testClock, type World } from './compaction.world.ts';

const script = fileURLToPath(new URL('crash.process.ts', import.meta.url));

/** Runs the process in the directory until its n-th event. Returns how many events there were, or null when it was killed. */
function runUntil(directory: string, killAt: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...RELATIVE_IMPORTS, script, directory, String(killAt)], (error, stdout) => {
      if (error === null) resolve(Number(stdout));
      else if (error.signal === 'SIGKILL') resolve(null);
      else reject(error);
    });
  });
}

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'strata-crash-'));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The store as the next process finds it, an hour later. */
function reopen(directory: string): Promise<World> {
  return createWorld({
    directory,
    clock: testClock(Date.UTC(2026, 10, 20, 11)),
    model: scriptedModel(faithful, { window: 4000 }),
    agent: { compaction: { stack_share: 0.05, idle_minutes: 5 } },
  });
}

async function factsOf(world: World): Promise<readonly string[]> {
  const reader = {
    agentId: 'main',
    place: 'test:here:talk',
    workspace: 'test:here',
    audience: 'dm',
    sharePublic: false,
  } as const;
  const page = { states: MEMORY_STATES, limit: 200, offset: 0 };
  return (await world.services.store.memories.list({ reader, ...page })).map(({ text }) => text);
}

async function killAndResume(directory: string, killAt: number): Promise<void> {
  expect(await runUntil(directory, killAt)).toBeNull();
  await using world = await reopen(directory);
  await expectCovered(world);
  expect((await world.conversation()).nextSeq).toBe(33);
  await world.run();
  await world.run();
  await expectCovered(world);
  const { stack, conversation } = await world.snapshot();
  expect(stack.filter((item) => item.kind === 'gap')).toEqual([]);
  expect(conversation).toMatchObject({ extractedUpto: 32, failures: 0, maintainAt: null });
  const facts = await factsOf(world);
  expect([...facts].sort()).toEqual(Array.from({ length: 16 }, (_, i) => `Item ${i + 1} is blue.`).sort());
}

describe('a process that is killed with -9', () => {
  // Shows: B4, T21
  it('at any event loses nothing, and the next run finishes', { ...SIZED, timeout: 900_000 }, async () => {
    let events = 0;
    await inDirectory(async (directory) => {
      events = (await runUntil(directory, 0)) ?? 0;
    });
    expect(events).toBeGreaterThan(12);
    const points = spread(
      Array.from({ length: events }, (_, index) => index + 1),
      4,
    );
    for (let first = 0; first < points.length; first += 2) {
      await Promise.all(points.slice(first, first + 2).map((killAt) => inDirectory((at) => killAndResume(at, killAt))));
    }
  });
});
