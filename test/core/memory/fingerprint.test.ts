import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contradicts } from '../../../src/memory/admission/attribute.ts';
import {
  containment,
  createDistinct,
  fingerprintOf,
  isNearDuplicate,
  isRewording,
  similarity,
} from '../../../src/memory/statements/fingerprint.ts';
import { createNearDuplicates } from '../../../src/memory/statements/near-duplicates.ts';
import { stem } from '../../../src/search/words/stem.ts';
import { tokensOf } from '../../../src/search/words/words.ts';

describe('fingerprints', () => {
  it.each([
    ['I like tea.', 'i  LIKE tea!'],
    ['Ｔｅａ', 'tea'],
    ['Straße', 'STRASSE'],
    ['Straße', 'STRAẞE'],
    ["Ada's cat", 'Ada’s cat'],
    ['Café', 'Café'],
  ])('are equal for %s and %s', (a, b) => expect(fingerprintOf(a)).toBe(fingerprintOf(b)));

  it.each([
    ['I like tea', 'I like coffee'],
    ['我喜欢喝茶', '我喜欢喝咖啡'],
    ['🍵', '☕'],
    ['...', '!?'],
  ])('differ for %s and %s', (a, b) => expect(fingerprintOf(a)).not.toBe(fingerprintOf(b)));

  it('ignore case, outer space and final punctuation', () => {
    const word = fc.stringMatching(/^[a-zäöüéа-я0-9]{1,8}$/u);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
        const text = words.join(' ');
        expect(fingerprintOf(`  ${text.toUpperCase()}.`)).toBe(fingerprintOf(text));
      }),
    );
  });
});

describe('folding', () => {
  it('of a word are stable under folding it again', () => {
    const changed: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      for (const token of tokensOf(String.fromCodePoint(code))) {
        if (tokensOf(token).join(' ') !== token) changed.push(`${code.toString(16)} ${token}`);
      }
    }
    expect(changed).toEqual([]);
  });
});

describe('similarity', () => {
  // Shows: A28
  it('keeps two unrelated Chinese statements apart', () => {
    expect(similarity('她住在北京', '会议改到星期三')).toBe(0);
    expect(isNearDuplicate('她住在北京市朝阳区', '会议改到星期三下午')).toBe(false);
    expect(isNearDuplicate('我喜欢喝茶', '我喜欢喝咖啡')).toBe(false);
    expect(isNearDuplicate('我喜欢喝茶', '我不喜欢喝茶')).toBe(false);
  });

  it.each([
    ['Ada prefers green tea in the morning', 'In the morning Ada prefers green tea.', true],
    ['Ada prefers tea', 'Ada prefers coffee', false],
    [
      'The deadline of the long report about storage engines is on May 3',
      'The deadline of the long report about storage engines is on May 4',
      false,
    ],
    [
      'Ada eats meat with her friends on every long weekend',
      'Ada never eats meat with her friends on every long weekend',
      false,
    ],
    [
      'Ada flew with her old friends from school to sunny Rome',
      'Ada flew with her old friends from school to sunny Paris',
      false,
    ],
    ['はい、コーヒーが好きです', 'はい、紅茶が好きです', false],
  ])('compares "%s" with "%s": %s', (a, b, expected) => expect(isNearDuplicate(a, b)).toBe(expected));

  it('calls texts without words alike only when they are equal', () => {
    expect(similarity('🍵', '🍵')).toBe(1);
    expect(similarity('🍵', '☕')).toBe(0);
    expect(similarity('', 'tea')).toBe(0);
  });

  it('is symmetric, 0 to 1, and 1 with itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(similarity(a, b)).toBe(similarity(b, a));
        expect(similarity(a, b)).toBeGreaterThanOrEqual(0);
        expect(similarity(a, b)).toBeLessThanOrEqual(1);
        expect(similarity(a, a)).toBe(1);
      }),
    );
  });

  it('measures how much of a statement a text holds', () => {
    expect(containment('Ada prefers tea', 'Ada said she prefers tea to all else')).toBe(1);
    expect(containment('Ada prefers tea', 'Bob likes cars')).toBe(0);
  });
});

describe('words', () => {
  it('cuts unspaced scripts into pairs and leaves the others whole', () => {
    expect(tokensOf('I drink 绿茶很多')).toEqual(['i', 'drink', '绿茶', '茶很', '很多']);
    expect(tokensOf("don't")).toEqual(['dont']);
    expect(tokensOf('茶')).toEqual(['茶']);
  });

  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['agreed', 'agre'],
    ['hopping', 'hop'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['relational', 'relat'],
    ['triplicate', 'triplic'],
    ['adjustment', 'adjust'],
    ['adoption', 'adopt'],
    ['controlling', 'control'],
    ['electric', 'electr'],
    ['israeli', 'isra'],
    ['criticism', 'critic'],
    ['receiver', 'receiv'],
    ['caribou', 'carib'],
    ['rate', 'rate'],
    ['sky', 'sky'],
    ['naïve', 'naïve'],
    ['茶', '茶'],
  ])('stems %s to %s', (word, expected) => expect(stem(word)).toBe(expected));
});

describe('contradiction', () => {
  it.each([
    ['Ada moved to Paris', 'Ada lives in Berlin', true],
    ['Ada now lives in Paris', 'Ada lives in Berlin', true],
    ['Ada works at Globex', 'Ada works for Initech', true],
    ["Ada's favourite colour is green", "Ada's favorite colour is blue", false],
    ["Ada's favourite colour is green", "Ada's favourite colour is blue", true],
    ["Ada's favourite colour is green", "Ada's favourite film is Alien", false],
    ['她现在住在上海', '她住在北京', true],
    ['Ada lives in Berlin', 'Ada lives in Berlin Mitte', false],
    ["Ada's sister lives in Rome", 'Ada lives in Paris', false],
    ["Ada's cat is called Tom", "Ada's dog is called Rex", false],
    ['Ada lived in Rome as a child', 'Ada lives in Paris', false],
    ['Ada moved to Rome in 2012', 'Ada lives in Paris', false],
    ['Ada prefers tea', 'Ada prefers coffee in winter', false],
  ])('of "%s" against "%s": %s', (newer, older, expected) => expect(contradicts(newer, older)).toBe(expected));
});

it('near duplicates among many texts are those of all pairs', () => {
  const word = fc.constantFrom(
    'ada',
    'boat',
    'harbour',
    'garden',
    'kettle',
    'river',
    'Rome',
    'never',
    '12',
    '13',
    'the',
  );
  const text = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), text, (texts, wanted) => {
      const isKnown = createNearDuplicates(texts);
      expect(isKnown(wanted)).toBe(texts.some((one) => isNearDuplicate(one, wanted)));
    }),
    { numRuns: 300 },
  );
});

it('distinct texts are those that no earlier one says', () => {
  const word = fc.constantFrom('ada', 'boat', 'harbour', 'garden', 'kettle', 'river', 'never', '12', 'the', 'is');
  // Four of five words in common are just enough.
  const text = fc.array(word, { maxLength: 10 }).map((words) => words.join(' '));
  const near = ['ada boat harbour garden kettle', 'ada boat harbour garden', 'ada boat harbour', 'the', 'is', ''];
  const texts = fc.array(fc.oneof(text, fc.constantFrom(...near)), { maxLength: 12 });
  fc.assert(
    fc.property(texts, (said) => {
      const isNew = createDistinct();
      const kept: string[] = [];
      for (const one of said) {
        const isSaid = (other: string) => fingerprintOf(one) === fingerprintOf(other) || isRewording(one, other);
        const expected = !kept.some(isSaid);
        expect(isNew(one)).toBe(expected);
        if (expected) kept.push(one);
      }
    }),
    { numRuns: 300 },
  );
});
