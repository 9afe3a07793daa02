import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { openPglite, type Pglite } from './pglite.ts';
import { createSchema, EMPTY } from './postgres-schema.ts';
import { findPostgres, startPostgres } from './postgres-server.ts';
import { createStoragePool } from './storage-pool.ts';

const DATABASE_URL = process.env['DATABASE_URL'];
const programs = await findPostgres();

/** Why there is no server; null if there is one. */
export const whyNoServer = DATABASE_URL === undefined && programs.kind === 'missing' ? programs.reason : null;

/** Storages as from PGlite, on a server: the one that DATABASE_URL names, or one of their own. */
export async function openServerStorages(): Promise<Pglite> {
  const server = DATABASE_URL === undefined && programs.kind === 'found' ? await startPostgres(programs) : null;
  const storages = createStoragePool(async () => {
    const schema = await createSchema(DATABASE_URL ?? server?.url ?? '');
    const storage = await createPostgresStorage({ url: schema.url });
    return { storage, enter: async () => undefined, empty: () => schema.ask(EMPTY), drop: schema.dispose };
  });
  return {
    create: () => storages.lend(),
    async close() {
      await storages[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    },
  };
}

/** On a server if there is one: PGlite takes four seconds to start. */
export function openPostgresStorages(): Promise<Pglite> {
  return whyNoServer === null ? openServerStorages() : openPglite();
}
