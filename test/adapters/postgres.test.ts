import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { provenanceContract } from '../contracts/provenance.ts';
import { searchContract } from '../contracts/search.ts';
import { type StoreContractOptions, storeContract } from '../contracts/store.ts';
import { createKit, textParts } from '../contracts/store-kit.ts';
import { openPglite, type Pglite } from '../support/pglite.ts';
import { createSchema, EMPTY } from '../support/postgres-schema.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { IS_FULL, SIZED } from '../support/size.ts';
import { createStoragePool } from '../support/storage-pool.ts';

/** The contracts on a server. `npm test` runs them on PGlite only where there is none; `npm run soak` runs both. */

const DATABASE_URL = process.env['DATABASE_URL'];
const programs = await findPostgres();
const hasServer = DATABASE_URL !== undefined || programs.kind === 'found';

describe('on a Postgres server', () => {
  if (DATABASE_URL === undefined && programs.kind === 'missing') return it.skip(`skipped: ${programs.reason}`);
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    if (DATABASE_URL === undefined && programs.kind === 'found') server = await startPostgres(programs);
  }, 120_000);
  afterAll(async () => {
    await storages[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });
  const storages = createStoragePool(async () => {
    const schema = await createSchema(DATABASE_URL ?? server?.url ?? '');
    const storage = await createPostgresStorage({ url: schema.url });
    return { storage, enter: async () => undefined, empty: () => schema.ask(EMPTY), drop: schema.dispose };
  });
  contractsOn('postgres', () => storages.lend());
});

if (IS_FULL || !hasServer) {
  describe('on PGlite', SIZED, () => {
    let pglite: Pglite;
    beforeAll(async () => {
      pglite = await openPglite();
    });
    afterAll(() => pglite.close());
    contractsOn('postgres on PGlite', () => pglite.create());
  });
}

function contractsOn(name: string, create: StoreContractOptions['create']): void {
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
