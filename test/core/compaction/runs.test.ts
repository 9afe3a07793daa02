import { describe, expect, it } from 'vitest';
import { StrataError } from '../../../src/adapter-kit.ts';
import { createMaintenance } from '../../../src/compaction/maintenance.ts';
import { createMeasureView } from '../../../src/compaction/watch/measure.ts';
import { createBreaker } from '../../../src/models/breaker.ts';
import { createWorld, expectCovered, faithful, filler, scriptedModel, seqsIn, type World } from './compaction.world.ts';

async function talk(world: World, exchanges: number): Promise<void> {
  for (let index = 1; index <= exchanges; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
}

/** The share of the window that the view takes between two turns. */
async function filledShare(world: World): Promise<number> {
  const snapshot = await world.snapshot();
  const profile = await world.profiles.of(snapshot.conversation);
  return createMeasureView(world.services)(profile, snapshot).measurement.ratio;
}

describe('a run', () => {
  it('completes what was planned, in as many parts as needed', async () => {
    const model = scriptedModel(faithful, { window: 2000 });
    await using world = await createWorld({ model, window: 16_000 });
    await talk(world, 60);
    expect(await filledShare(world)).toBeLessThan(0.7);
    const { tail } = await world.snapshot();
    await world.run({ trigger: 'manual' });
    const parts = model.requests.filter(({ purpose, messages }) => purpose === 'compact' && messages.length === 1);
    expect(parts.length).toBeGreaterThan(2);
    const { compactedUpto } = await world.conversation();
    expect(parts.flatMap(seqsIn)).toEqual(tail.slice(0, compactedUpto).map(({ seq }) => seq));
    expect(compactedUpto / tail.length).toBeCloseTo(0.5, 1);
    await expectCovered(world);
  });

  it('that only reads an idle tail summarises nothing', async () => {
    await using world = await createWorld({ window: 8000, agent: { compaction: { idle_minutes: 10 } } });
    // Just below the threshold, where a view that was compacted would be compacted further.
    do await talk(world, 1);
    while ((await filledShare(world)) < 0.76);
    expect(await filledShare(world)).toBeLessThan(0.8);
    await world.clock.jump(10 * 60_000);
    expect((await world.run()).reason).toMatch(/^read for memories #1 to #\d+[^;]*$/u);
    expect(await world.conversation()).toMatchObject({ compactedUpto: 0 });
  });

  it('whose store is away is paid for later', async () => {
    await using world = await createWorld();
    await talk(world, 12);
    const { journal } = world.services.store;
    let isAway = true;
    const addUsage: typeof journal.addUsage = async (...row) => {
      if (isAway) throw new StrataError('STORE_UNREACHABLE', { path: 'here', reason: 'it restarts' });
      await journal.addUsage(...row);
    };
    const services = { ...world.services, store: { ...world.services.store, journal: { ...journal, addUsage } } };
    const maintenance = createMaintenance({ ...world, services, breaker: createBreaker(services) });
    const { id: conversationId } = await world.conversation();
    const { signal } = new AbortController();
    await maintenance.run({ conversationId, trigger: 'manual', instruction: null, signal });
    isAway = false;
    const called = world.events.filter(({ kind }) => kind === 'model.called').length;
    expect(called).toBeGreaterThan(0);
    const paid = async () => (await journal.usage(conversationId)).reduce((sum, { calls }) => sum + calls, 0);
    await expect.poll(() => world.clock.advance(1000).then(paid)).toBe(called);
  });

  it('that is stopped before a call makes none', async () => {
    const model = scriptedModel(() => new Promise(() => undefined), { window: 32_000 });
    await using world = await createWorld({ model });
    await talk(world, 12);
    const stop = new AbortController();
    const { journal } = world.services.store;
    const changedSince: typeof journal.requests.changedSince = async (...of) => {
      stop.abort(new Error('stopped'));
      return await journal.requests.changedSince(...of);
    };
    const store = { ...world.services.store, journal: { ...journal, requests: { ...journal.requests, changedSince } } };
    const services = { ...world.services, store };
    const maintenance = createMaintenance({ ...world, services, breaker: createBreaker(services) });
    const { id: conversationId } = await world.conversation();
    const request = { conversationId, trigger: 'queue', instruction: null, signal: stop.signal } as const;
    expect(await maintenance.run(request)).toEqual({ changed: false, reason: 'stopped before it finished' });
    expect(model.requests).toEqual([]);
  });
});
