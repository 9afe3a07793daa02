import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const HERE = import.meta.dirname;
const ROW = /^\| ([IRTBS]\d+) \| [^|]+ \| `([^`]+)` \| (.+) \|$/gmu;

interface Row {
  readonly id: string;
  readonly file: string;
  readonly test: string;
}

function rowsOf(text: string): readonly Row[] {
  return [...text.matchAll(ROW)].map(([, id = '', file = '', test = '']) => ({ id, file, test }));
}

/** One sentence for each row whose file, or whose test in it, does not exist. */
function missing(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ id, file, test }) => {
    const path = join(HERE, file);
    if (!existsSync(path)) return [`${id}: there is no ${file}`];
    const code = readFileSync(path, 'utf8').replaceAll("\\'", "'");
    return ["'", '`', '"'].some((quote) => code.includes(`${quote}${test}${quote}`))
      ? []
      : [`${id}: ${file} has no test "${test}"`];
  });
}

function ids(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
}

describe('the table of tests', () => {
  const rows = rowsOf(readFileSync(join(HERE, 'README.md'), 'utf8'));

  it('has a row for every invariant, requirement and situation', () => {
    expect(rows.map(({ id }) => id)).toEqual([
      ...ids('I', 12),
      ...ids('R', 26),
      ...ids('R', 34).slice(30),
      ...ids('T', 39),
      ...ids('B', 21),
    ]);
  });

  it('names tests that exist', () => {
    expect(missing(rows)).toEqual([]);
  });

  it('would be found wrong', () => {
    const rot = rowsOf('| T1 | x | `core/nothing.test.ts` | y |\n| T2 | x | `readme.test.ts` | no such test |\n');
    expect(missing(rot)).toHaveLength(2);
  });
});
