import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SIZED, sized, sizedLimitMs, spread } from '../support/size.ts';
import { createKit, HERE } from './store-kit.ts';
import { BACK_TO_0_1_0, type StoreUnderUpgrade } from './upgrade.ts';

interface KilledStore extends StoreUnderUpgrade {
  /** A process that opens the store, writes `ready`, and keeps it open. */
  start(): ChildProcess;
}

const MESSAGES = sized({ small: 200, full: 600 });
const KILLS = sized({ small: 1, full: 2 });
/** The upgrade from the version before: only the index is made again. */
const BACK_BY_ONE = ["delete from kysely_migration where name like '%values%'"];

/** Processes that die while they upgrade, and others that upgrade at the same time. */
export function upgradeKillContract(clearIndex: readonly string[], use: () => KilledStore): void {
  const versions = [
    { name: '0.1.0', back: [...clearIndex, 'delete from state', ...BACK_TO_0_1_0] },
    { name: 'the version before', back: BACK_BY_ONE },
  ];
  describe.each(spread(versions, 1))('an upgrade from $name', ({ back }) => {
    const limitMs = sizedLimitMs(600_000);

    it('is made whole after kills', { ...SIZED, timeout: limitMs }, async () => {
      const store = use();
      const id = await fill(store);
      await store.run(back);
      const tookMs = await timeOf(store.start());
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await store.run(back);
        const child = store.start();
        const ended = once(child, 'exit');
        await sleep(tookMs * (0.5 + kill / (2 * KILLS + 2)));
        child.kill('SIGKILL');
        await ended;
        await expectWhole(store, id);
      }
    });

    it('is made once by processes that start together', { ...SIZED, timeout: limitMs }, async () => {
      const store = use();
      const id = await fill(store);
      await store.run(back);
      const children = [store.start(), store.start()];
      const ends = children.map(async (child) => {
        const ended = once(child, 'exit');
        // One that finds the store in use refuses to start.
        await Promise.race([ended, child.stdout && once(child.stdout, 'data')]);
        return { child, ended, isOpen: child.exitCode === null };
      });
      const started = await Promise.all(ends);
      expect(started.some(({ isOpen }) => isOpen)).toBe(true);
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await expectWhole(store, id);
    });
  });
}

async function fill({ open }: KilledStore): Promise<number> {
  const storage = await open();
  const kit = createKit(storage);
  const said = Array.from({ length: MESSAGES }, (_, index) => kit.say(`the walrus number${index} sings of the river`));
  await Promise.all(said);
  const { id } = await kit.get(1);
  await storage.store.close();
  return id;
}

async function timeOf(child: ChildProcess): Promise<number> {
  const startedAt = performance.now();
  const ended = once(child, 'exit');
  if (child.stdout !== null) await once(child.stdout, 'data');
  const tookMs = performance.now() - startedAt;
  child.kill('SIGKILL');
  await ended;
  return tookMs;
}

/** Every message is there and found. */
async function expectWhole({ open }: KilledStore, conversationId: number): Promise<void> {
  const { store, search } = await open();
  expect((await store.conversations.find(HERE))?.nextSeq).toBe(MESSAGES + 1);
  for (const seq of [1, Math.ceil(MESSAGES / 2), MESSAGES]) {
    const hits = await search.entries({ conversationId, text: `number${seq - 1}`, limit: 9 });
    expect(hits.map((hit) => hit.seq)).toEqual([seq]);
  }
  const found = await search.entries({ conversationId, text: 'walrus', limit: 9, fromSeq: MESSAGES - 4 });
  expect(found).toHaveLength(5);
  await store.close();
}
