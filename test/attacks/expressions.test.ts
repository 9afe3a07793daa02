import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CACHE, type Expression, expressionsIn, merge, superLinear } from '../support/expressions.ts';

/** No regular expression of the product backtracks: its time grows with the text, and no faster. */

const root = join(import.meta.dirname, '../..');
const files = globSync('{src,adapters}/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('.d.ts'))
  .sort();
const found = files.map((path) => expressionsIn(path, readFileSync(join(root, path), 'utf8')));

/** The expressions that modules build from parts when they are loaded. */
async function builtOnes(): Promise<readonly Expression[]> {
  const built: Expression[] = [];
  const Original = RegExp;
  const recorder = new Proxy(Original, {
    construct(target, [source, flags]) {
      const made = new target(source, flags);
      const place = /\/((?:src|adapters)\/[^)?\s]+\.ts(?::\d+)?)/u.exec(
        new Error('where').stack?.split('\n')[2] ?? '',
      )?.[1];
      if (place !== undefined) built.push({ source: made.source, flags: made.flags, places: [place] });
      return made;
    },
  });
  globalThis.RegExp = recorder;
  try {
    for (const path of files) if (path !== 'src/main.ts') await import(join(root, path));
  } finally {
    globalThis.RegExp = Original;
  }
  return built;
}

/** Loaded once: a module builds its expressions only then. */
const built = builtOnes();

describe('regular expressions', () => {
  it('are all literals or built at load', async () => {
    expect((await built).length).toBeGreaterThan(0);
    const loaded = new Set((await built).flatMap(({ places }) => places));
    expect(found.flatMap(({ late }) => late).filter((place) => !loaded.has(place))).toEqual([]);
  }, 240_000);

  it('take linear time', async () => {
    const written = found.flatMap(({ expressions }) => expressions);
    expect(await superLinear(merge([...written, ...(await built)]), CACHE)).toEqual([]);
  }, 900_000);

  it.each([
    ['(a+)+$', ''],
    ['\\s+$', 'u'],
    ['「([^」\\n]+)」', 'gu'],
    ['\\[([^\\]]*)\\]\\(\\s*\\)', 'gu'],
  ])('such as /%s/%s would be found', async (source, flags) => {
    const text = `export const seeded = /${source}/${flags};\nexport const late = (word: string) => new RegExp(word);`;
    const { expressions, late } = expressionsIn('src/seeded.ts', text);
    expect(late).toEqual(['src/seeded.ts:2']);
    const cache = join(tmpdir(), `strata-seeded-${process.pid}.json`);
    expect(await superLinear(expressions, cache)).toEqual([expect.stringContaining('src/seeded.ts:1')]);
  });
});
