import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provenanceContract } from '../contracts/provenance.ts';
import { searchContract } from '../contracts/search.ts';
import { storeContract } from '../contracts/store.ts';
import { createKit, textParts } from '../contracts/store-kit.ts';
import { openPglite, type Pglite } from '../support/pglite.ts';

let pglite: Pglite;
beforeAll(async () => {
  pglite = await openPglite();
});
afterAll(() => pglite.close());

const create = () => pglite.create();

storeContract('postgres on PGlite', { create });
searchContract('postgres on PGlite', { create });
provenanceContract('postgres on PGlite', { create });

describe('text that Postgres cannot hold', () => {
  it('is stored with a sign for each such character', async () => {
    const { storage, dispose } = await pglite.create();
    const kit = createKit(storage);
    const author = { id: 'u1', name: 'A\0da', kind: 'person' } as const;
    const { conversation } = await kit.say('a\0b \ud800 c', {}, { author });
    const [entry] = await storage.store.transcript.read(conversation.id, { fromSeq: 1, toSeq: 1, limit: 1 });
    expect(entry?.author?.name).toBe('A\uFFFDda');
    expect(entry?.parts).toEqual(textParts('a\0b \ud800 c'));
    await dispose();
  });
});
