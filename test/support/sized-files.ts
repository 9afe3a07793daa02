import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const SIZE = join(import.meta.dirname, 'size.ts');
const OWN_IMPORT = /^(?:import|export)[^;']*? from '(\.[^']+)';$/gmu;

/** The test files whose imports within `test/` lead to `size.ts`: what `npm run soak` runs. Paths from the root. */
export function sizedFiles(): readonly string[] {
  const known = new Map<string, boolean>([[SIZE, true]]);
  return globSync('test/**/*.test.ts', { cwd: ROOT })
    .filter((path) => leadsToSize(join(ROOT, path), known))
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

/** The files that read a size themselves. Paths from the root. */
export function usersOfSize(): readonly string[] {
  return globSync('test/**/*.ts', { cwd: ROOT })
    .filter((path) => importsOf(join(ROOT, path)).includes(SIZE))
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

function leadsToSize(path: string, known: Map<string, boolean>): boolean {
  const before = known.get(path);
  if (before !== undefined) return before;
  known.set(path, false);
  const own = importsOf(path).filter((to) => !relative(join(ROOT, 'test'), to).startsWith('..') && to.endsWith('.ts'));
  const leads = own.some((to) => leadsToSize(to, known));
  known.set(path, leads);
  return leads;
}

function importsOf(path: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(OWN_IMPORT)].map(([, to = '']) => join(dirname(path), to));
}
