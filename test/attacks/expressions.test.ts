import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  CACHE,
  type Expression,
  expressionSchema,
  expressionsIn,
  merge,
  superLinear,
  unlisted,
  writtenExpressions,
} from '../support/expressions.ts';

/** No regular expression of the product backtracks: its time grows with the text, and no faster. */

const found = writtenExpressions();
const MAX_UNLISTED = 60;
/** A module builds its expressions when it is loaded, and an earlier file of this worker may have loaded it. */
const built = builtInProcess();

async function builtInProcess(): Promise<readonly Expression[]> {
  const program = join(import.meta.dirname, 'expressions.process.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { maxBuffer: 10_000_000 });
  return z.array(expressionSchema).parse(JSON.parse(stdout));
}

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

  it('are nearly all listed as safe', async () => {
    const written = found.flatMap(({ expressions }) => expressions);
    const count = unlisted(merge([...written, ...(await built)]));
    expect(count, 'run node tools/safe-expressions.ts').toBeLessThan(MAX_UNLISTED);
  });

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
