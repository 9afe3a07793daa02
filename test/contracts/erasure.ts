import { expect, it, vi } from 'vitest';
import type { Storage } from '../../src/adapter-kit.ts';
import { fillLong } from './store/purge.ts';
import { createKit, HERE, THERE } from './store-kit.ts';

/** A store that stops while it deletes a conversation. */
export function erasureContract(use: () => { open(): Promise<Storage> }): void {
  it('goes on with an erasure after a stop', async () => {
    const { open } = use();
    const first = await open();
    const kit = createKit(first);
    const { id } = await fillLong(kit);
    const erased = first.store.conversations.change(id, { kind: 'purge' });
    const isCutOff = expect(erased).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
    await kit.say('hello', { conversation: THERE });
    expect(await kit.tablesNaming([id])).toContain('entry');
    await first.store.close();
    await isCutOff;

    const second = await open();
    const { tablesNaming } = createKit(second);
    expect(await second.store.conversations.find(HERE)).toBeNull();
    await vi.waitFor(async () => expect(await tablesNaming([id])).toEqual([]), { timeout: 60_000 });
    expect(await second.store.conversations.find(THERE)).not.toBeNull();
    await second.store.close();
  });
}
