import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTokens, type TokenReader } from '../../../src/search/ranking/read-tokens.ts';
import { valuesIn } from '../../../src/search/specifics/written-values.ts';
import { findInflection, isInflection } from '../../../src/search/words/inflection.ts';
import { plainSpelling } from '../../../src/search/words/plain-spelling.ts';
import { beginningOf, stem } from '../../../src/search/words/stem.ts';
import { tokensOf } from '../../../src/search/words/words.ts';

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

describe('finding an inflection', () => {
  const formsOf = (letters: string, maxLength: number) =>
    fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength }).map((characters) => characters.join(''));
  const forms = fc.oneof(formsOf('abä', 14), formsOf('ושa', 6), formsOf('는가日はの', 3), formsOf('1ab', 5));

  it('among many compares it with each', () => {
    let found = 0;
    const compare = (form: string, others: readonly string[]) => {
      const expected = others.some((other) => form === other || isInflection(form, other, false));
      found += expected ? 1 : 0;
      expect([form, others, findInflection(others)(form)]).toEqual([form, others, expected]);
    };
    fc.assert(fc.property(forms, fc.array(forms, { maxLength: 5 }), compare), { numRuns: 20_000 });
    expect(found).toBeGreaterThan(200);
  });
});

/** The tokens that a reader gets, at their places. */
function readAll(text: string, isWanted: TokenReader['isWanted']) {
  const tokens: string[] = [];
  const count = readTokens(text, {
    isWanted,
    token(token, at) {
      tokens[at] = token;
    },
    part: null,
  });
  return { tokens, count };
}

describe('reading tokens', () => {
  const texts = fc
    .array(fc.constantFrom(..."aZ9'_-. \né漢字"), { maxLength: 30 })
    .map((characters) => characters.join(''));

  it('gives all tokens of any text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const tokens = tokensOf(text);
        expect(readAll(text, () => true)).toEqual({ tokens, count: tokens.length });
      }),
      { numRuns: 5000 },
    );
  });

  it('leaves out unwanted words, but counts them', () => {
    const begins = 'ba';
    const isWanted = (text: string, start: number) => text.slice(start).toLowerCase().startsWith(begins);
    const { tokens, count } = readAll('The boat came Back at five', isWanted);
    expect(count).toBe(6);
    expect(Object.entries(tokens)).toEqual([['3', 'back']]);
  });
});

describe('the plain spelling', () => {
  it('of a letter is the same in any word', () => {
    const letters = Array.from({ length: 0x2000 }, (_, code) => String.fromCodePoint(code)).filter((letter) =>
      /\p{Ll}|\p{Lo}/u.test(letter),
    );
    expect(letters.map((letter) => plainSpelling(`${letter}x`))).toEqual(
      letters.map((letter) => plainSpelling(`${letter}xé`).slice(0, -1)),
    );
  });
});

describe('the values of a text', () => {
  it.each([
    ['at 12 am, 12 pm, 9:05 and 23:59', ['00:00', '12:00', '09:05', '23:59']],
    ['on Mar 4, 5 May and 2026/12/31', ['--03-04', '--05-05', '--12-31']],
    ['४ मार्च, ٣:٣٠ and $1.25K', ['03:30', '1250']],
    ['flight LH 1234 and A320', ['lh1234', '320']],
    ['at 25:00, 13 pm and 15:00:30', []],
    ['version 4.3.1 from 10.1.2.3 is 14.13. old', []],
    ['you may take 40 or 10 may be enough', []],
    ['a 4kg bag of mp3 and 12345678k', []],
    ['32 March and the 4th one', []],
  ])('%s', (text, values) => {
    expect(valuesIn(text)).toEqual(values);
  });
});
