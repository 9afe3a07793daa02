import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../../src/util/text/cells.ts';
import { formatFields, formatTable } from '../../../src/util/text/table.ts';

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'é', 'z', '.', '-'), minLength: 1, maxLength: 40 }),
  fc.constantFrom('你好世界', 'スーパー', 'ﾊﾝｶｸ', 'サイズ㎏', '🎉', '👩‍👩‍👧', '❤️', '🇩🇪', 'e\u0301', 'שלום', '한국어'),
);
const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
const width = fc.integer({ min: 20, max: 120 });

function bareOf(shown: string): readonly string[] {
  return Array.from(shown.replaceAll(/\s/g, '')).toSorted();
}

function expectToFit(shown: string, columns: number): void {
  for (const line of shown.split('\n')) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
}

describe('in a terminal of any width', () => {
  test('the cells of a text are counted as terminals do', () => {
    fc.assert(
      fc.property(text, (sample) => {
        expect(displayWidth(sample)).toBe(stringWidth(sample));
      }),
    );
  });

  test('tables fit and show every cell', () => {
    const rows = fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(rows, width, (cells, columns) => {
        const shown = formatTable(['', 'WHAT', 'STATE'], cells, columns);
        expectToFit(shown, columns);
        const letters = bareOf(shown);
        for (const letter of bareOf(cells.flat().join(''))) expect(letters).toContain(letter);
      }),
    );
  });

  test('fields fit and show every value', () => {
    const fields = fc.array(fc.record({ name: word, value: text }), { maxLength: 5 });
    fc.assert(
      fc.property(fields, width, (given, columns) => {
        const shown = formatFields(given, columns);
        expectToFit(shown, columns);
        expect(bareOf(shown)).toEqual(bareOf(given.map(({ name, value }) => name + value).join('')));
      }),
    );
  });
});

const CELLS = [
  ['#1', '01m8e5hxc82y2e1abrrcx3505h', "The user's name is Ada.", 'active'],
  ['#2', '01m8e5hxcb0a9rptyav34hk2wj', 'Ada prefers tea to coffee, in the morning too.', 'active, pinned'],
] as const;
const COLUMNS = ['', 'ID', 'WHAT', 'STATE'] as const;

test('a table wraps its longer texts within their column', () => {
  expect(formatTable(COLUMNS, CELLS, 64)).toBe(
    [
      '    ID                          WHAT              STATE',
      "#1  01m8e5hxc82y2e1abrrcx3505h  The user's name   active",
      '                                is Ada.',
      '#2  01m8e5hxcb0a9rptyav34hk2wj  Ada prefers tea   active, pinned',
      '                                to coffee, in',
      '                                the morning too.',
    ].join('\n'),
  );
});

test('a table without room lists the columns of each row', () => {
  expect(formatTable(COLUMNS, CELLS.slice(1), 40)).toBe(
    [
      '#2',
      'ID     01m8e5hxcb0a9rptyav34hk2wj',
      'WHAT   Ada prefers tea to coffee, in the',
      '       morning too.',
      'STATE  active, pinned',
    ].join('\n'),
  );
});

test('a long name has its value below it', () => {
  const fields = [
    { name: '/help', value: 'List the commands' },
    { name: '/summaries rewrite <id> [wish]', value: 'Rewrite a summary from its messages' },
  ];
  expect(formatFields(fields, 40)).toBe(
    [
      '/help  List the commands',
      '/summaries rewrite <id> [wish]',
      '       Rewrite a summary from its',
      '       messages',
    ].join('\n'),
  );
  expect(formatFields(fields)).toContain('/help                           List the commands\n');
});
