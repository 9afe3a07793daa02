import { describe, expect, it } from 'vitest';
import type { MemoryWrite } from '../../src/adapter-kit.ts';
import { dm, memoryOf, openWorld } from './memory.world.ts';

function inserting(text: string, sources: readonly number[] = []): MemoryWrite {
  return { kind: 'insert', memory: memoryOf(text), sources };
}

describe('many memories', () => {
  // Shows: T28
  it('10,000 are saved, merged and searched fast', async () => {
    await using world = await openWorld();
    const texts = Array.from({ length: 10_000 }, (_, index) => `Ada keeps box ${index} on shelf ${index % 97}`);
    // CPU time of this process alone, so that other load on the machine does not count.
    const before = process.cpuUsage();
    const usedMs = () => (process.cpuUsage(before).user + process.cpuUsage(before).system) / 1000;
    for (let round = 0; round < 2; round += 1) {
      for (let first = 0; first < texts.length; first += 100) {
        const writes = texts.slice(first, first + 100).map((text) => inserting(text));
        await world.store.memories.save({ conversationId: null, writes, actor: 'model', now: world.time.now });
      }
      if (round === 0) expect(usedMs()).toBeLessThan(10_000);
    }
    const page = { reader: world.reader(), limit: 20_000, offset: 0 };
    expect(await world.store.memories.list(page)).toHaveLength(10_000);
    const [hit] = await world.search.memories({ reader: world.reader(), text: 'box 4711', limit: 1 });
    const [found] = await world.store.memories.list({ ...page, ids: hit === undefined ? [] : [hit.id] });
    expect(found?.text).toBe('Ada keeps box 4711 on shelf 55');
  }, 120_000);

  // Shows: B16, T29
  it('from eight writers at once are each there once', async () => {
    await using world = await openWorld();
    await world.say('a long story');
    const { id } = await world.conversation(dm);
    const own = (worker: number, index: number) =>
      index % 2 === 0 ? `Ada owns boat ${index}` : `Ada owns boat ${index} of fleet ${worker}`;
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let index = 0; index < 40; index += 1) {
          const writes = [inserting(own(worker, index), [1])];
          await world.store.memories.save({ conversationId: id, writes, actor: 'model', now: world.time.now });
        }
      }),
    );
    const texts = (await world.all()).map(({ text }) => text);
    expect(texts).toHaveLength(20 + 8 * 20);
    expect(new Set(texts).size).toBe(texts.length);
  }, 120_000);
});
