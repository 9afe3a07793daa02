import { describe, expect, it } from 'vitest';
import { createLanes } from '../../../src/util/async/lanes.ts';

/** Work that ends when the test says so. */
function createSteps() {
  const done: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const work = (name: string) => async () => {
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    await gate.promise;
    done.push(name);
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { done, gates, work, settle };
}

describe('lanes', () => {
  it('keep their order and run beside each other', async () => {
    const { done, gates, work, settle } = createSteps();
    const lanes = createLanes();
    const first = lanes.run(['a'], work('first'));
    const second = lanes.run(['a'], work('second'));
    const other = lanes.run(['b'], work('other'));
    await settle();
    expect([...gates.keys()]).toEqual(['first', 'other']);
    gates.get('other')?.resolve();
    await other;
    gates.get('first')?.resolve();
    await first;
    await settle();
    gates.get('second')?.resolve();
    await second;
    expect(done).toEqual(['other', 'first', 'second']);
  });

  it('let work in several of them wait for each', async () => {
    const { gates, work, settle } = createSteps();
    const lanes = createLanes();
    const ends = [lanes.run(['a'], work('a')), lanes.run(['b'], work('b')), lanes.run(['a', 'b'], work('both'))];
    await settle();
    gates.get('a')?.resolve();
    await settle();
    expect(gates.has('both')).toBe(false);
    gates.get('b')?.resolve();
    await settle();
    gates.get('both')?.resolve();
    await Promise.all(ends);
  });

  it('return results, and go on after a failure', async () => {
    const lanes = createLanes();
    const failed = lanes.run(['a'], () => Promise.reject(new Error('no')));
    const next = lanes.run(['a'], async () => 'next');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
    await lanes.drained();
  });
});
