import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Part } from '../../../src/adapter-kit.ts';
import { assertWithinBudget, callBudgetOf, countCalls } from '../../../src/compaction/job/call-budget.ts';
import { estimateParts } from '../../../src/context/measure/tokens.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { createWorld, expectCovered, filler, type World } from './compaction.world.ts';

/** A conversation whose first message is edited again and again, so that its summary keeps becoming stale. */
async function restless(world: World): Promise<void> {
  await world.say(`First: ${filler(60)}`, { id: 'restless' });
  for (let index = 1; index <= 12; index += 1) await world.exchange(`${index}: ${filler(60, index)}`, filler(60));
  await world.run();
}

async function editAndRun(world: World, times: number): Promise<number> {
  const before = world.model.requests.length;
  for (let index = 0; index < times; index += 1) {
    const { id } = await world.conversation();
    const parts: readonly Part[] = [{ kind: 'text', text: `Edited ${index}: ${filler(60, index)}` }];
    const edit = { externalId: 'restless', parts, tokens: estimateParts(parts), now: world.clock.now() };
    expect(await world.services.store.transcript.edit(id, edit)).toBe(true);
    await world.run();
  }
  return world.model.requests.length - before;
}

const budget = async (world: World) => await callBudgetOf(world.services, await world.conversation());

describe('what a conversation may cost', () => {
  it('refuses exactly the call that is one too many', async () => {
    await using world = await createWorld();
    await world.exchange('Hello.', 'Hi.');
    const whose = await world.conversation();
    await countCalls(world.services, whose, 1);
    const { limit } = await budget(world);
    await countCalls(world.services, whose, limit - 2);
    expect(await assertWithinBudget(world.services, whose)).toBeUndefined();
    await countCalls(world.services, whose, 1);
    await expect(assertWithinBudget(world.services, whose)).rejects.toMatchObject({
      code: 'SPEND_CAPPED',
      data: { calls: limit, limit },
    });
  });

  it('starts a new hour when the clock was set back', async () => {
    await using world = await createWorld();
    await world.exchange('Hello.', 'Hi.');
    const whose = await world.conversation();
    await countCalls(world.services, whose, 5);
    const earlier = { ...world.services, clock: { ...world.clock, now: () => world.clock.now() - 1 } };
    expect((await callBudgetOf(earlier, whose)).calls).toBe(0);
    expect((await budget(world)).calls).toBe(5);
  });

  // Shows: R14
  it('ends circling work, reports it, and resumes after the hour', async () => {
    await using world = await createWorld();
    await restless(world);
    const calls = await editAndRun(world, 90);
    expect(calls).toBeGreaterThan(30);
    expect(calls).toBeLessThanOrEqual(60);
    const { untilAt, limit } = await budget(world);
    expect(await world.conversation()).toMatchObject({ nextAttemptAt: untilAt });
    expect(world.of('maintenance.delayed').at(-1)).toMatchObject({
      nextAttemptAt: untilAt,
      message: expect.stringContaining(`of ${limit} model calls per hour`),
    });
    await expectCovered(world);
    await world.clock.advance(HOUR_MS);
    expect(await editAndRun(world, 1)).toBeGreaterThan(0);
    expect((await world.snapshot()).stack.every((item) => !item.stale)).toBe(true);
  });

  it('is known after a restart', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-spend-'));
    const first = await createWorld({ directory });
    await restless(first);
    await editAndRun(first, 90);
    const before = await budget(first);
    await first.crash();
    await using second = await createWorld({ directory, clock: first.clock });
    expect(await budget(second)).toEqual(before);
    await second.clock.advance(60_000);
    expect(await editAndRun(second, 3)).toBe(0);
    await rm(directory, { recursive: true, force: true });
  });

  it('grows with the conversation and limits manual runs', async () => {
    await using world = await createWorld();
    await restless(world);
    await editAndRun(world, 90);
    const { calls, limit } = await budget(world);
    expect(await world.run({ trigger: 'manual' })).toMatchObject({
      changed: false,
      reason: expect.stringContaining('model calls per hour for summaries'),
    });
    for (let index = 0; index < 4; index += 1) await world.exchange(filler(60, index), filler(60));
    expect(await budget(world)).toMatchObject({ calls, limit: limit + 16 });
    expect(await world.run({ trigger: 'manual' })).toMatchObject({
      changed: false,
      reason: expect.stringMatching(/^the last attempt failed; the next one is at /),
    });
  });

  it('counts calls that failed', async () => {
    await using world = await createWorld();
    await restless(world);
    const { calls } = await budget(world);
    world.model.script = () => ({ text: '', cut: true });
    await editAndRun(world, 1);
    expect((await budget(world)).calls).toBe(calls + 1);
  });
});
