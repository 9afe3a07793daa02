import { afterAll, beforeAll, expect, it } from 'vitest';
import { provenanceContract } from '../contracts/provenance.ts';
import { searchContract } from '../contracts/search.ts';
import { storeContract } from '../contracts/store.ts';
import { createKit, textParts } from '../contracts/store-kit.ts';
import type { Pglite } from './pglite.ts';

/** The contracts of a store, and what Postgres alone must handle. */
export function postgresContracts(name: string, open: () => Promise<Pglite>): void {
  let opened: Pglite;
  beforeAll(async () => {
    opened = await open();
  }, 120_000);
  afterAll(() => opened.close());
  const create = () => opened.create();

  storeContract(name, { create });
  searchContract(name, { create });
  provenanceContract(name, { create });

  it('stores a sign for each character that Postgres cannot hold', async () => {
    const { storage, dispose } = await create();
    const kit = createKit(storage);
    const author = { id: 'u1', name: 'A\0da', kind: 'person' } as const;
    const { conversation } = await kit.say('a\0b \ud800 c', {}, { author });
    const [entry] = await storage.store.transcript.read(conversation.id, { fromSeq: 1, toSeq: 1, limit: 1 });
    expect(entry?.author?.name).toBe('A\uFFFDda');
    expect(entry?.parts).toEqual(textParts('a\0b \ud800 c'));
    await dispose();
  });
}
