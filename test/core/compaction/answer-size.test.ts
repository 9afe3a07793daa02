import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { condensedWords, memoryRules, targetWords } from '../../../src/compaction/job/answer-size.ts';
import { answerTokens } from '../../../src/compaction/job/room.ts';
import { maxCandidates } from '../../../src/memory/admission/candidate.ts';

const entries = (count: number) => Array.from({ length: count }, () => ({ role: 'user' }) as const);

describe('the size of an answer', () => {
  it('follows the source', () => {
    expect([500, 2_000, 8_000].map((tokens) => targetWords(32_000, tokens))).toEqual([80, 300, 1200]);
    expect(condensedWords(32_000, 2_000)).toBe(750);
    expect(targetWords(32_000, 10)).toBe(40);
    expect([10, 60, 400].map((count) => memoryRules(32_000, entries(count)).maxMemories)).toEqual([12, 25, 25]);
  });

  it('has examples where they leave room', () => {
    expect([2_000, 32_000].map((window) => memoryRules(window, []).examples)).toEqual([false, true]);
  });

  it('leaves room for both in what a model may write', () => {
    const window = fc.integer({ min: 1_000, max: 1_000_000 });
    const size = fc.integer({ min: 1, max: 2_000 });
    fc.assert(
      fc.property(window, size, fc.integer({ min: 1, max: 200_000 }), (windowTokens, count, sourceTokens) => {
        const answer = answerTokens(windowTokens);
        const most = memoryRules(windowTokens, entries(count)).maxMemories;
        expect(most).toBeGreaterThanOrEqual(1);
        expect(most).toBeLessThanOrEqual(maxCandidates(entries(count)));
        for (const words of [targetWords(windowTokens, sourceTokens), condensedWords(windowTokens, sourceTokens)]) {
          expect(words).toBeGreaterThanOrEqual(40);
          expect(words).toBeLessThan(answer);
        }
      }),
    );
  });
});
