import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillUpto } from '../../src/compaction/next-job.ts';
import { deepestCutTokens } from '../../src/context/depth.ts';
import type { SummaryId } from '../../src/domain/message.ts';
import { profile, summary, user } from '../fixtures/context.ts';

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
