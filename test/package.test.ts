import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** What `npm ci` asks of the lock file: it installs on any platform, from any registry. */

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});
type Packages = z.infer<typeof lockSchema>['packages'];

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const { packages } = lockSchema.parse(JSON.parse(readFileSync(file, 'utf8')));

/** The binaries of other platforms are needed in the lock too, or `npm ci` refuses it; npm drops them now and then. */
function missingIn(found: Packages): readonly string[] {
  const names = new Set(Object.keys(found).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  return Object.values(found).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => !names.has(name)),
  );
}

describe('the lock file', () => {
  test('locks every optional package for every platform', () => {
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(missingIn(packages)).toEqual([]);
  });

  test('names no registry', () => {
    expect(Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && link !== true)).toEqual([]);
  });

  test('would be found incomplete', () => {
    const named = { 'node_modules/a': { optionalDependencies: { '@b/linux': '1', '@b/mac': '1' } } };
    expect(missingIn({ ...named, 'node_modules/a/node_modules/@b/linux': {} })).toEqual(['@b/mac']);
  });
});
