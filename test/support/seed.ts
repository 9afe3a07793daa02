import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * The seed of all properties: `TEST_SEED`, or a number that the program and its tests decide. Each change tries other
 * cases, and a second run of the same files repeats the first.
 */
export function seedOfTests(): string {
  const written = process.env['TEST_SEED'];
  if (written === undefined || written === '') return String(hashOfFiles());
  if (!Number.isInteger(Number(written))) throw new Error(`TEST_SEED must be a whole number; it is "${written}".`);
  return written;
}

function hashOfFiles(): number {
  const hash = createHash('sha256');
  const files = globSync(['src/**/*.ts', 'adapters/**/*.ts', 'test/**/*.ts', 'prompts/**'], {
    cwd: ROOT,
    withFileTypes: true,
  });
  const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const path of paths.toSorted()) hash.update(readFileSync(path));
  return hash.digest().readInt32BE();
}
