import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONGEST } from './support/longest-first.ts';
import { firstOfEach, IS_FULL, SIZED, sized, spread } from './support/size.ts';
import { sizedFiles, usersOfSize } from './support/sized-files.ts';

const root = join(import.meta.dirname, '..');

describe('the size of long tests', () => {
  it('is small in npm test, full in a soak', SIZED, () => {
    const isSoak = process.env['TEST_SIZE'] !== undefined;
    expect(sized({ small: 3, full: 7 }) >= 7).toBe(isSoak);
    const items = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(spread(items, 3)).toEqual(isSoak ? items : [1, 5, 9]);
    expect(spread([1, 2], 3)).toEqual([1, 2]);
    expect(spread(items, 1)).toEqual(isSoak ? items : [1]);
    expect(firstOfEach(items, (item) => item % 2)).toEqual(isSoak ? items : [1, 2]);
    expect(IS_FULL).toBe(isSoak);
  });

  it('selects the files of a soak by their imports', () => {
    const files = sizedFiles();
    expect(files).toContain('test/core/properties/properties.test.ts');
    expect(files, 'through a contract').toContain('test/adapters/stores/sqlite.test.ts');
    expect(files).not.toContain('test/docs.test.ts');
  });

  it('selects the tests of a soak by their tag', () => {
    const users = usersOfSize();
    expect(users).toContain('test/contracts/store-properties.ts');
    expect(users.filter((path) => !/\bSIZED\b.*\bSIZED\b/su.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });

  it('names files that exist as the longest', () => {
    expect(LONGEST.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
