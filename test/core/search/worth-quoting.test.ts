import { describe, expect, it } from 'vitest';
import { worthQuoting } from '../../../src/search/passages/worth-quoting.ts';

/** Equal messages, the best first. */
const hits = (count: number, tokens: number) =>
  Array.from({ length: count }, (_, index) => ({ seq: index + 1, score: count - index, tokens }));
const chosen = (...given: Parameters<typeof worthQuoting>) => worthQuoting(...given).map(({ seq }) => seq);

describe('the hits that are worth quoting', () => {
  it('are the best, up to 4,000 tokens with their labels', () => {
    expect(chosen(hits(9, 980), { tokens: 'auto', shownFrom: 99 })).toEqual([1, 2, 3, 4]);
    expect(chosen(hits(9, 981), { tokens: 0, shownFrom: 99 })).toEqual([1, 2, 3, 4]);
    expect(chosen(hits(9, 979), { tokens: 'auto', shownFrom: 99 })).toEqual([1, 2, 3, 4, 5]);
  });

  it('are up to twice as many tokens as fit', () => {
    expect(chosen(hits(9, 980), { tokens: 3000, shownFrom: 99 })).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('include all that the view shows, which take no room', () => {
    expect(chosen(hits(9, 4000), { tokens: 'auto', shownFrom: 8 })).toEqual([1, 8, 9]);
    expect(chosen(hits(9, 4000), { tokens: 'auto', shownFrom: 1 })).toHaveLength(9);
  });
});
