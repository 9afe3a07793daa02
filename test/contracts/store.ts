import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Storage } from '../../src/adapter-kit.ts';
import { appendContract } from './store/append.ts';
import { audienceContract } from './store/audience.ts';
import { blobsContract } from './store/blobs.ts';
import { claimsContract } from './store/claims.ts';
import { compactionContract } from './store/compaction.ts';
import { editingContract } from './store/editing.ts';
import { journalContract } from './store/journal.ts';
import { memoriesContract } from './store/memories.ts';
import { outboxContract } from './store/outbox.ts';
import { purgeContract } from './store/purge.ts';
import { readingContract } from './store/reading.ts';
import { readyContract } from './store/ready.ts';
import { redactionContract } from './store/redaction.ts';
import { requestsContract } from './store/requests.ts';
import { resetContract } from './store/reset.ts';
import { turnContract } from './store/turn.ts';
import { workspacePurgeContract } from './store/workspace-purge.ts';
import { createKit, type Lab } from './store-kit.ts';
import { storeProperties } from './store-properties.ts';
import { QUEUE_SAFE } from './upgrade.ts';

/** What `create` of a store, search or provenance contract returns. */
export interface StorageUnderTest {
  readonly storage: Storage;
  /** Frees everything that the factory created. The store may already be closed. */
  dispose(): Promise<void>;
}

/** What `storeContract`, `searchContract` and `provenanceContract` test. `create` is called before each test. */
export interface StoreContractOptions {
  /** Every instance is empty and sees no other's data. */
  create(): Promise<StorageUnderTest>;
}

const PARTS: readonly ((lab: Lab) => void)[] = [
  appendContract,
  turnContract,
  claimsContract,
  readingContract,
  compactionContract,
  readyContract,
  resetContract,
  editingContract,
  redactionContract,
  purgeContract,
  workspacePurgeContract,
  audienceContract,
  memoriesContract,
  outboxContract,
  blobsContract,
  journalContract,
  requestsContract,
];

/**
 * The contract of every store. Its parts are in `store/`, one file per subject.
 *
 * @example
 * storeContract('postgres', {
 *   async create() {
 *     const storage = await createPostgresStorage({ url: process.env['EMPTY_DATABASE'] ?? '' });
 *     return { storage, dispose: () => storage.store.close() };
 *   },
 * });
 */
export function storeContract(name: string, options: StoreContractOptions): void {
  describe(`store contract: ${name}`, () => {
    let made: StorageUnderTest;
    const lab: Lab = () => {
      const { storage } = made;
      return { storage, store: storage.store, kit: createKit(storage) };
    };

    beforeEach(async () => {
      made = await options.create();
    });
    afterEach(() => made.dispose());

    for (const part of PARTS) part(lab);

    it('refuses work once closed, and closes twice', async () => {
      const { store, kit } = lab();
      await store.close();
      await store.close();
      await expect(kit.say('late')).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
    });

    it('has an id that can name its queue', () => {
      expect(lab().storage.upkeep.id).toMatch(QUEUE_SAFE);
    });

    storeProperties(() => options.create());
  });
}
