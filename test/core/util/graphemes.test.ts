import fc from 'fast-check';
import { expect, it } from 'vitest';
import { graphemesOf } from '../../../src/util/text/text.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const plain = ({ segment, index }: { readonly segment: string; readonly index: number }) => ({ segment, index });

it('finds the same characters in Latin texts as Unicode does', () => {
  const latin = fc.string({ unit: fc.integer({ min: 0, max: 0x2ff }).map((code) => String.fromCodePoint(code)) });
  fc.assert(
    fc.property(
      fc.oneof(latin, fc.string({ unit: fc.constantFrom('\r', '\n', 'a', '\u0301', '\u{1f468}') })),
      (text) => {
        expect([...graphemesOf(text)].map(plain)).toEqual([...segmenter.segment(text)].map(plain));
      },
    ),
  );
});

it('takes each character below the combining marks for itself', () => {
  for (let code = 0; code <= 0x2ff; code += 1) {
    const text = `a${String.fromCodePoint(code)}b`;
    expect([...graphemesOf(text)]).toHaveLength([...segmenter.segment(text)].length);
  }
});
