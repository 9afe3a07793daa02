import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idsIn, notShown, numbered, type Shown } from './support/shown.ts';

/** `| I1 | what | `file` |` */
function rowsOf(text: string): readonly Shown[] {
  return [...text.matchAll(/^\| ([ITB]\d+) \| [^|]+ \| `([^`]+)` \|$/gmu)].map(([, id = '', file = '']) => ({
    id,
    file,
  }));
}

describe('the table of tests', () => {
  const rows = rowsOf(readFileSync(join(import.meta.dirname, 'README.md'), 'utf8'));

  it('has a row for every invariant and situation', () => {
    expect(rows.map(({ id }) => id)).toEqual([
      ...numbered('I', 12),
      'I14',
      'I15',
      ...numbered('T', 39),
      ...numbered('B', 21),
    ]);
  });

  it('names files whose tests name the row', () => {
    expect(notShown(rows)).toEqual([]);
  });

  it('would be found wrong', () => {
    const rot = rowsOf('| T1 | x | `core/nothing.test.ts` |\n| T2 | x | `readme.test.ts` |\n');
    expect(notShown(rot)).toHaveLength(2);
    expect([...idsIn("// Shows: T1, B2\nit('x')\n// Shows: T3\nconst x = 1;\n")]).toEqual(['T1', 'B2']);
  });
});

const MAX_WORDS = 10;
const NAMED = /\b(?:it|test)(?:\.\w+(?:\([^)]*\))?)*\(\s*(?:'((?:\\.|[^'\\])*)'|"([^"]*)"|`([^`]*)`)/gu;

function longNamesIn(text: string): readonly string[] {
  const names = [...text.matchAll(NAMED)].map(([, single, double, ticks]) => single ?? double ?? ticks ?? '');
  return names.filter((name) => name.split(/\s+/u).length > MAX_WORDS);
}

describe('the name of a test', () => {
  it('has ten words at most', () => {
    const files = globSync('**/*.ts', { cwd: import.meta.dirname });
    const long = files.flatMap((file) => longNamesIn(readFileSync(join(import.meta.dirname, file), 'utf8')));
    expect(files.length).toBeGreaterThan(100);
    expect(long).toEqual([]);
  });

  it('would be found too long', () => {
    const ten = 'one two three four five six seven eight nine ten';
    expect(longNamesIn(`it('${ten}')\ntest.skipIf(x)("${ten} eleven")`)).toEqual([`${ten} eleven`]);
  });
});
