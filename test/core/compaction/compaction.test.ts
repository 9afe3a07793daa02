import { describe, expect, it } from 'vitest';
import { createWorld, expectCovered, filler, seqsIn, type World } from './compaction.world.ts';

/** Twelve exchanges of about 110 tokens: well over 80 % of 2,000 with the reserve. */
async function talk(world: World, exchanges = 12): Promise<void> {
  for (let index = 1; index <= exchanges; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
}

describe('compaction of a full view', () => {
  // Shows: P4
  it('summarises the oldest tail and leaves the transcript whole', async () => {
    await using world = await createWorld();
    await talk(world);
    const before = await world.snapshot();
    const result = await world.run();
    expect(result.changed).toBe(true);
    const after = await world.snapshot();
    expect(after.stack.length).toBeGreaterThan(0);
    expect(after.conversation.compactedUpto).toBeGreaterThan(0);
    await expectCovered(world);
    const all = await world.services.store.transcript.read(after.conversation.id, { fromSeq: 1, toSeq: 99, limit: 99 });
    expect(all).toEqual(before.tail);
    const shown = world.model.requests.flatMap((request) => seqsIn(request));
    expect(shown.slice(0, 2)).toEqual([1, 2]);
  });

  it('calls no model while the view is small', async () => {
    await using world = await createWorld();
    await talk(world, 3);
    expect(await world.run()).toEqual({ changed: false, reason: 'nothing is due' });
    expect(world.model.requests).toEqual([]);
  });
});
