import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inverseFrequency, queryWords, stemsOf } from '../../../adapters/stores/sql/index.ts';
import { indexTexts, weighTexts } from '../../../adapters/stores/sqlite/few-memories.ts';
import { bestOf, lengthFactor, occurrenceFactor } from '../../../adapters/stores/sqlite/ranking.ts';
import type { MemoryId } from '../../../src/adapter-kit.ts';

const seqs = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  .map((own) => own.toSorted((a, b) => b - a));
// Halves have exact sums.
const postings = fc.array(fc.record({ seqs, weight: fc.integer({ min: 1, max: 8 }).map((weight) => weight / 2) }), {
  maxLength: 8,
});

it('adds up what words say about each entry', () => {
  fc.assert(
    fc.property(postings, fc.integer({ min: 1, max: 70 }), (given, limit) => {
      const sums = new Map<number, number>();
      for (const { seqs: own, weight } of given) for (const seq of own) sums.set(seq, (sums.get(seq) ?? 0) + weight);
      const all = [...sums].map(([seq, score]) => ({ seq, score }));
      const best = all.sort((a, b) => b.score - a.score || b.seq - a.seq).slice(0, limit);
      expect(bestOf(given, limit)).toEqual(best);
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['rare words', 'tea jam', ['jam box', 'tea cup', 'tea pot']],
  ['words that a text repeats', 'tea', ['tea tea box', 'tea cup box']],
  ['short texts', 'tea', ['tea box', 'tea box jam cup']],
])('prefers %s among a few memories', (_, asked, [best = '', ...others]) => {
  const texts = [...others, best];
  const index = indexTexts(texts.map((text) => ({ id: text as MemoryId, text })));
  const hits = weighTexts(index, queryWords(asked)).toSorted((a, b) => b.score - a.score);
  expect(hits.map(({ id }) => id)).toEqual([best, ...others]);
});

it('adds up what each word says about a few memories', () => {
  const text = fc
    .array(fc.constantFrom('tea', 'jam', 'box', 'cup', 'the'), { maxLength: 6 })
    .map((all) => all.join(' '));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), text, (texts, asked) => {
      const stems = texts.map(stemsOf);
      const average = stems.flat().length / Math.max(texts.length, 1);
      const words = queryWords(asked);
      const gainOf = (own: readonly string[], word: string) => {
        const weight = inverseFrequency(stems.filter((other) => other.includes(word)).length, texts.length);
        return weight * occurrenceFactor(own.filter((stem) => stem === word).length, lengthFactor(own.length, average));
      };
      const expected = stems.flatMap((own, index) => {
        const score = words.filter((word) => own.includes(word)).reduce((sum, word) => sum + gainOf(own, word), 0);
        return score === 0 ? [] : [{ id: String(index), score }];
      });
      const index = indexTexts(texts.map((one, id) => ({ id: String(id) as MemoryId, text: one })));
      expect(weighTexts(index, words)).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
