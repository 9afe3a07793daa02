import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Which test shows what: a row of a document names a file, and a comment `// Shows: S1, O4` above a test names the row. */

const TESTS = join(import.meta.dirname, '..');

export interface Shown {
  readonly id: string;
  /** From `test/`. */
  readonly file: string;
}

/** Ids that the comments of a test file name, each directly above a test. */
export function idsIn(code: string): ReadonlySet<string> {
  const comments = code.matchAll(/^\s*\/\/ Shows: ([\w, ]+)\n\s*(?:it|test|describe)\b/gmu);
  return new Set([...comments].flatMap(([, ids = '']) => ids.split(', ')));
}

/** One sentence for each row whose file does not exist, or has no test for the row. */
export function notShown(rows: readonly Shown[]): readonly string[] {
  return rows.flatMap(({ id, file }) => {
    const path = join(TESTS, file);
    if (!existsSync(path)) return [`${id}: there is no ${file}`];
    return idsIn(readFileSync(path, 'utf8')).has(id)
      ? []
      : [`${id}: no test in ${file} has the comment "Shows: ${id}"`];
  });
}

export function numbered(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
}
