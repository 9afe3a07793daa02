import { describe, expect, it } from 'vitest';
import { sized, spread } from './support/size.ts';
import { sizedFiles } from './support/sized-files.ts';

describe('the size of long tests', () => {
  it('is small in npm test, full in a soak', () => {
    const isSoak = process.env['TEST_SIZE'] !== undefined;
    expect(sized({ small: 3, full: 7 }) >= 7).toBe(isSoak);
    const items = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(spread(items, 3)).toEqual(isSoak ? items : [1, 5, 9]);
    expect(spread([1, 2], 3)).toEqual([1, 2]);
  });

  it('selects the files of a soak by their imports', () => {
    const files = sizedFiles();
    expect(files).toContain('test/core/properties.test.ts');
    expect(files, 'through a contract').toContain('test/adapters/sqlite.test.ts');
    expect(files).not.toContain('test/docs.test.ts');
  });
});
