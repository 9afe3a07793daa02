import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import type { Storage } from '../../src/adapter-kit.ts';
import { beginErasure } from './begin-erasure.ts';
import { createKit, HERE, THERE } from './store-kit.ts';

interface Erasing {
  open(): Promise<Storage>;
  /** A process that begins to erase a conversation and is killed in the middle. */
  startErasing(): ChildProcess;
}

/** A store that ends while it deletes a conversation. */
export function erasureContract(use: () => Erasing): void {
  it('goes on with an erasure after a stop', async () => {
    const { open } = use();
    const storage = await open();
    const { id, erased } = await beginErasure(storage);
    // Rejected, unless the store is very fast.
    const ended = erased.catch(() => undefined);
    await storage.store.close();
    await ended;
    await expectErased(open, id);
  });

  it('goes on with an erasure after a kill', async () => {
    const { open, startErasing } = use();
    const [code, signal] = await once(startErasing(), 'exit');
    expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
    await expectErased(open, 1);
  });
}

async function expectErased(open: Erasing['open'], id: number): Promise<void> {
  const { store, ...rest } = await open();
  const { tablesNaming } = createKit({ store, ...rest });
  expect(await store.conversations.find(HERE)).toBeNull();
  await vi.waitFor(async () => expect(await tablesNaming([id])).toEqual([]), { timeout: 60_000 });
  expect(await store.conversations.find(THERE)).not.toBeNull();
  await store.close();
}
