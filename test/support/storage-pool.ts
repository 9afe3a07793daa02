import type { Storage } from '../../src/adapter-kit.ts';

interface Opened {
  readonly storage: Storage;
  /** Called each time it is lent. */
  enter(): Promise<unknown>;
  /** Removes everything from the open storage. */
  empty(): Promise<unknown>;
  /** Frees what is left of the closed storage. */
  drop(): Promise<unknown>;
}

/** Empty storages, lent to one test each. */
export interface StoragePool extends AsyncDisposable {
  lend(): Promise<{ readonly storage: Storage; dispose(): Promise<void> }>;
}

/** Lends storages again after they were emptied, because to open one takes longer than most tests. */
export function createStoragePool(open: () => Promise<Opened>): StoragePool {
  const free: Opened[] = [];
  return {
    async lend() {
      const opened = free.pop() ?? (await open());
      const { storage, enter, empty, drop } = opened;
      await enter();
      const dispose = async () => {
        if (!(await isOpen(storage))) return void (await drop());
        await empty();
        free.push(opened);
      };
      return { storage, dispose };
    },
    async [Symbol.asyncDispose]() {
      for (const { storage, drop } of free.splice(0)) {
        await storage.store.close();
        await drop();
      }
    },
  };
}

async function isOpen({ state }: Storage): Promise<boolean> {
  return await state.get('pool', 'open').then(
    () => true,
    () => false,
  );
}
