import { expect, it } from 'vitest';
import { createRecentMap } from '../../src/util/recent-map.ts';

it('keeps the keys that were set last', () => {
  const map = createRecentMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
