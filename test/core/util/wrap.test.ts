import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { createWrapper, wrap } from '../../../src/util/text/wrap.ts';

const words = fc.array(
  fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'é', 'z', '.', '-'), minLength: 1, maxLength: 12 }),
    fc.constantFrom('你好世界', 'こんにちは', '🎉', '👩‍👩‍👧', 'e\u0301', '\n', '\u001b[1mbold\u001b[22m'),
  ),
  { maxLength: 30 },
);
const width = fc.integer({ min: 4, max: 40 });
const bare = stripVTControlCharacters;

test('keeps rows within the terminal’s width and loses nothing', () => {
  fc.assert(
    fc.property(words, width, (parts, columns) => {
      const text = parts.join(' ');
      const rows = bare(wrap(text, columns)).split('\n');
      for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
      expect(rows.join('').replaceAll(' ', '')).toBe(bare(text).replaceAll(/[ \n]/g, ''));
    }),
  );
});

test('a word that fits a row is not broken', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), minLength: 1, maxLength: 10 })), (parts) => {
      const rows = wrap(parts.join(' '), 10).split(/[ \n]/);
      expect(rows.filter((row) => row !== '')).toEqual(parts);
    }),
  );
});

test('text in pieces is broken as the whole is', () => {
  fc.assert(
    fc.property(words, width, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (parts, columns, sizes) => {
      const text = parts.join(' ');
      const wrapper = createWrapper(() => columns);
      let written = '';
      const characters = Array.from(text);
      for (let turn = 0; characters.length > 0; turn += 1) {
        written += wrapper.write(characters.splice(0, sizes[turn % sizes.length]).join(''));
      }
      expect(written + wrapper.end()).toBe(wrap(text, columns));
    }),
  );
});

test('a long text takes linear time', () => {
  const cost = (length: number): number => {
    const text = 'word '.repeat(length);
    const startedAt = performance.now();
    wrap(text, 80);
    return performance.now() - startedAt;
  };
  cost(1000);
  expect(cost(80_000)).toBeLessThan(Math.max(50, cost(10_000)) * 40);
});

test('measures Western text without the tables of wide characters', () => {
  const wrap = new URL('../../../src/util/text/wrap.ts', import.meta.url).href;
  const loadedFor = (text: string) => {
    const program = `
      import { createRequire } from 'node:module';
      import { wrap } from ${JSON.stringify(wrap)};
      wrap(${JSON.stringify(text)}, 20);
      console.log(Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('string-width')));`;
    return execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' }).trim();
  };
  expect(loadedFor('offline:demo · data · Grüße à vous, señor')).toBe('false');
  expect(loadedFor('你好')).toBe('true');
});
