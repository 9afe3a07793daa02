import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginningOf, stem } from '../../src/search/stem.ts';
import { plainTokensOf, tokensOf } from '../../src/search/words.ts';

const ENDINGS = `s es ed ing eed y ly ational tional enci anci izer bli alli entli eli ousli ization ation ator alism
iveness fulness ousness ality ivity bility logy icate ative alize icity ical ful ness al ance ence er ic able ible ant
ement ment ent sion tion ism ate ous ive ize e le ll ss ies`.split(/\s+/u);
const words = fc
  .tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.array(fc.constantFrom(...ENDINGS), { maxLength: 3 }))
  .map(([first, endings]) => first + endings.join(''));

describe('the beginning of a stem', () => {
  it('begins every word with that stem', () => {
    fc.assert(
      fc.property(words, (word) => {
        expect(word.startsWith(beginningOf(stem(word)))).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it('tells most other words apart', () => {
    expect(['boat', 'y', 'possibl', 'able', '昨天'].map(beginningOf)).toEqual(['boa', 'y', 'possib', 'ab', '昨']);
  });
});

describe('the tokens of a plain text', () => {
  const texts = fc.array(fc.constantFrom(..."aZ9'_-. \n"), { maxLength: 30 }).map((characters) => characters.join(''));

  it('are those of any text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(plainTokensOf(text, () => true)).toEqual(tokensOf(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('keep only wanted words, and the places of the others', () => {
    expect(plainTokensOf('The boat came Back', (letter) => letter === 'b'.charCodeAt(0))).toEqual([
      '',
      'boat',
      '',
      'back',
    ]);
    expect(plainTokensOf('café', () => true)).toBeNull();
  });
});
