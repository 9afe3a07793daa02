import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRecentMap } from '../../../src/util/recent-map.ts';
import { cpuMsOf } from '../../support/cpu.ts';

it('keeps the keys that were set last', () => {
  const map = createRecentMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});

it('keeps the same keys as a list would', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('set', 'delete', 'clear'), fc.nat(6)), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const map = createRecentMap<number, number>(3);
      let list: number[] = [];
      for (const [step, key] of all) {
        if (step === 'clear' && key === 0) map.clear();
        else if (step === 'set') map.set(key, key);
        else map.delete(key);
        list = step === 'clear' && key === 0 ? [] : list.filter((one) => one !== key);
        if (step === 'set') list = [...list, key].slice(-3);
        expect([...map.keys()]).toEqual(list);
      }
    }),
  );
});

it('drops its oldest keys in constant time', () => {
  const timeOf = (max: number) =>
    cpuMsOf(() => {
      const map = createRecentMap<number, number>(max);
      for (let key = 0; key < 4 * max; key += 1) map.set(key, key);
    });
  timeOf(5000);
  const growths = Array.from({ length: 3 }, () => timeOf(80_000) / Math.max(1, timeOf(5000)));
  // In constant time, it is 16, and more where the caches of the processor are small; in linear time, 256.
  expect(Math.min(...growths)).toBeLessThan(100);
});

it('keeps no value that was replaced', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const map = createRecentMap<number, number[]>(40);
  const fill = (sets: number) => {
    for (let at = 0; at < sets; at += 1)
      map.set(
        at % 10,
        Array.from({ length: 100 }, () => at),
      );
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = fill(1000);
  // All of the replaced values would take 80 MB.
  expect(fill(100_000) - before).toBeLessThan(20_000_000);
});
