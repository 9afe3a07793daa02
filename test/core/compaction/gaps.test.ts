import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillUpto } from '../../../src/compaction/job/next-work.ts';
import { ownWindow } from '../../../src/compaction/job/room.ts';
import { deepestCutTokens } from '../../../src/context/cuts/depth.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import type { SummaryId } from '../../../src/domain/message.ts';
import { profile, summary, user } from '../../fixtures/context.ts';
import { createWorld, expectCovered, faithful, filler, scriptedModel } from './compaction.world.ts';

/** Neighbouring gaps of so many messages each. */
function gapsOf(sizes: readonly number[]) {
  let end = 0;
  return sizes.map((size) => {
    const [fromSeq, toSeq] = [end + 1, end + size];
    end = toSeq;
    return summary({ kind: 'gap', id: `g${fromSeq}` as SummaryId, fromSeq, toSeq, text: '' });
  });
}

const stories = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 30 }),
  tokens: fc.integer({ min: 1, max: 400 }),
  window: fc.integer({ min: 1000, max: 20_000 }),
  correction: fc.double({ min: 0.6, max: 2.5, noNaN: true }),
});

describe('one summary of neighbouring gaps', () => {
  it('takes as many as a compaction, at least the first', () => {
    fc.assert(
      fc.property(stories, ({ sizes, tokens, window, correction }) => {
        const gaps = gapsOf(sizes);
        const of = { profile: profile({ windowTokens: window }), correction };
        const entries = Array.from({ length: gaps.at(-1)?.toSeq ?? 0 }, (_, at) => user(at + 1, 'x', { tokens }));
        const end = fillUpto(gaps, entries, of);
        const most = deepestCutTokens(of.profile, correction);
        const next = gaps.find(({ fromSeq }) => fromSeq === end + 1);
        expect(gaps.map(({ toSeq }) => toSeq)).toContain(end);
        expect(end === gaps[0]?.toSeq || end * tokens <= most).toBe(true);
        if (next !== undefined) expect(next.toSeq * tokens).toBeGreaterThan(most);
      }),
    );
  });

  it('takes less of a window than its background share', () => {
    const { windowTokens, thresholds } = profile({ windowTokens: 4000 });
    const most = deepestCutTokens(profile({ windowTokens: 4000 }), 1);
    expect(most).toBeLessThan(windowTokens * thresholds.background);
  });
});

describe('jobs of an agent with a very small window', () => {
  it('read what they need if the model can', async () => {
    const model = scriptedModel(faithful, { id: 'test:chat', window: 32_000 });
    await using world = await createWorld({
      window: 1000,
      reserve: 100,
      model,
      agent: { compaction: { model: 'auto' } },
    });
    for (let turn = 0; turn < 12; turn += 1)
      await world.exchange(`Turn ${turn}: ${filler(20, turn)}`, filler(20, turn + 50));
    await world.emergency(20);
    await world.run();
    expect(world.of('maintenance.delayed')).toEqual([]);
    const fills = world.of('maintenance.ended').filter(({ run }) => run.work === 'fill');
    expect(fills.length).toBeLessThan(5);
    for (const request of model.requests) {
      expect(estimateRequest(request) + request.maxOutputTokens).toBeLessThanOrEqual(2000);
    }
    await expectCovered(world);
  });

  it('stay within the window that the model reports', () => {
    const windows = fc.integer({ min: 1, max: 200_000 });
    fc.assert(
      fc.property(windows, fc.option(windows), (agent, told) => {
        const used = ownWindow(agent, told);
        expect(used).toBeLessThanOrEqual(told ?? agent);
        expect(used).toBeGreaterThanOrEqual(Math.min(agent, told ?? agent));
        if (agent >= 2000) expect(used).toBe(Math.min(agent, told ?? agent));
      }),
    );
  });
});
