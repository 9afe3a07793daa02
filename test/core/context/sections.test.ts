import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateText } from '../../../src/context/measure/tokens.ts';
import { headOf, headWithin, shorten } from '../../../src/context/measure/truncate.ts';
import { fitSections } from '../../../src/context/view/sections.ts';
import { section, texts } from '../../fixtures/context.ts';

const long = (word: string) => `${word} `.repeat(400).trim();

describe('a shortened text', () => {
  // Shows: A3
  it('keeps 70% of its limit as head, 20% as tail', () => {
    const limit = 2000;
    const [head = '', tail = ''] = shorten(long('word').repeat(20), limit).split(
      /\n\[\.\.\. \d+ characters left out \.\.\.\]\n/,
    );
    expect(estimateText(head) / limit).toBeCloseTo(0.7, 1);
    expect(estimateText(tail) / limit).toBeCloseTo(0.2, 1);
  });

  it('keeps head and tail around a marker with the count', () => {
    const text = `begin ${long('middle')} end`;
    const short = shorten(text, 100);
    expect(short).toMatch(/^begin /);
    expect(short).toMatch(/ end$/);
    const [head = '', missing, tail = ''] = short.split(/\n\[\.\.\. (\d+) characters left out \.\.\.\]\n/);
    expect(head.length + tail.length + Number(missing)).toBe(text.length);
    expect(head.length / tail.length).toBeGreaterThan(2.5);
  });

  it('has one marker, even if the text contains one', () => {
    const text = `a [... 9 characters left out ...] ${long('b')}`;
    expect(estimateText(shorten(text, 60))).toBeLessThanOrEqual(60);
  });

  it('is a plain head where the marker does not fit', () => {
    expect(shorten(long('word'), 3)).not.toContain('left out');
    expect(shorten(long('word'), 0)).toBe('');
  });

  it('stays within its limit, well formed, unchanged when it fits', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 200 }), (text, tokens) => {
        const short = shorten(text, tokens);
        expect(estimateText(short)).toBeLessThanOrEqual(tokens);
        expect(short.isWellFormed()).toBe(text.isWellFormed());
        if (estimateText(text) <= tokens) expect(short).toBe(text);
        expect(estimateText(headWithin(text, tokens))).toBeLessThanOrEqual(tokens);
        expect(headOf(text, tokens).isWellFormed()).toBe(text.isWellFormed());
      }),
    );
  });
});

describe('system sections under a budget', () => {
  const persona = section({ key: 'persona', text: long('persona'), priority: 100, protected: true });
  const policy = section({ key: 'policy', text: long('policy'), priority: 90, protected: true });
  const place = section({ key: 'place', text: long('place'), priority: 70 });
  const guidance = section({ key: 'guidance', text: long('guidance'), priority: 80 });
  const all = [persona, place, guidance, policy];
  const total = fitSections(all, Number.MAX_SAFE_INTEGER).reduce((sum, { tokens }) => sum + tokens, 0);

  // Shows: A6
  it('stay whole and in order when they fit', () => {
    const fitted = fitSections(all, total);
    expect(fitted.map(({ section: { key } }) => key)).toEqual(['persona', 'place', 'guidance', 'policy']);
    expect(fitted.every(({ truncated }) => !truncated)).toBe(true);
  });

  // Shows: A2
  it('give way from the lowest priority', () => {
    const fitted = fitSections(all, total - 50);
    expect(fitted.filter(({ truncated }) => truncated).map(({ section: { key } }) => key)).toEqual(['place']);
    expect(fitted[1]?.text).toMatch(/^place.*characters of this section left out.*place$/s);
  });

  it('leave out what would be too little to say anything', () => {
    const fitted = fitSections(all, total / 2 - 10);
    expect(fitted.find(({ section: { key } }) => key === 'place')).toMatchObject({
      included: false,
      tokens: 0,
      text: '',
    });
  });

  // Shows: A4
  it('of equal priority give way from the last', () => {
    const equal = ['a', 'b'].map((name) => section({ key: name, text: long(name), priority: 50 }));
    const half = fitSections(equal, 1e9).reduce((sum, { tokens }) => sum + tokens, 0) / 2;
    expect(fitSections(equal, half).map(({ truncated }) => truncated)).toEqual([false, true]);
  });

  it('cut the protected ones last, but cut them', () => {
    const fitted = fitSections(all, total / 4);
    expect(fitted.filter(({ included }) => included).map(({ section: { key } }) => key)).toEqual(['persona']);
  });

  it('lose whole lines, the least important first', () => {
    const lines = [3, 1, 2, 1].map((importance, index) => ({
      importance,
      text: `- rule ${index} ${'of many words '.repeat(9)}`,
    }));
    const text = ['Rules:', ...lines.map((line) => line.text)].join('\n');
    const rules = section({ key: 'rules', text, lines, protected: true });
    const [whole] = fitSections([rules], 1e9);
    const left = (tokens: number) => {
      const [fitted] = fitSections([rules], tokens);
      expect(fitted?.tokens).toBeLessThanOrEqual(tokens);
      return { numbers: fitted?.text.match(/(?<=rule )\d/gu), text: fitted?.text ?? '' };
    };
    const size = whole?.tokens ?? 0;
    expect(left(size - 1)).toMatchObject({ numbers: ['0', '1', '2'], text: expect.stringMatching(/1 of 4 lines/u) });
    expect(left(size * 0.7)).toMatchObject({ numbers: ['0', '2'], text: expect.stringMatching(/2 of 4 lines/u) });
    expect(left(size * 0.4).text).toMatch(/^Rules:\n- rule 0/u);
  });

  it('pass over blank ones', () => {
    expect(fitSections([section({ key: 'blank', text: ' \n' })], 100)).toEqual([]);
  });

  // Shows: A1, T25
  it('never exceed the budget together', () => {
    const arbitrary = fc.array(
      fc.record({ text: texts, priority: fc.integer({ min: 0, max: 100 }), protected: fc.boolean() }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 0, max: 400 }), (fields, budget) => {
        const fitted = fitSections(
          fields.map((one, index) => section({ key: `${index}`, ...one })),
          budget,
        );
        expect(fitted.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(budget);
      }),
    );
  });
});
