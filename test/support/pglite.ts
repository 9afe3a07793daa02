import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { createGate, type Gate } from '../../adapters/stores/postgres/gate.ts';
import type { Links } from '../../adapters/stores/postgres/links.ts';
import { createPostgresStorageOn } from '../../adapters/stores/postgres/storage.ts';
import type { Tables } from '../../adapters/stores/sql/index.ts';
import type { Storage } from '../../src/adapter-kit.ts';
import { EMPTY } from './postgres-schema.ts';
import { createStoragePool } from './storage-pool.ts';

/** Postgres in this process, in memory. Each storage has an empty schema; use one at a time. */
export interface Pglite {
  create(): Promise<{ readonly storage: Storage; dispose(): Promise<void> }>;
  close(): Promise<void>;
}

const INT8 = 20;
const NUMERIC = 1700;

export async function openPglite(): Promise<Pglite> {
  const pglite = await PGlite.create('memory://', { parsers: { [INT8]: Number, [NUMERIC]: Number } });
  // There is one connection.
  const gate = createGate(1);
  let made = 0;
  const open = async () => {
    const schema = `test${++made}`;
    const enter = () => pglite.exec(`set search_path to ${schema}`);
    await pglite.exec(`create schema ${schema}`);
    await enter();
    const upkeep = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite: lent(pglite, gate) }) });
    const links = linksTo(pglite, gate);
    const parts = { connectedAt: () => 0, drop: () => undefined };
    const database = { links, upkeep, place: 'memory', create: true, ...parts };
    const storage = await createPostgresStorageOn(database);
    const empty = async () => {
      await enter();
      await pglite.exec(EMPTY);
    };
    return { storage, enter, empty, drop: async () => undefined };
  };
  const storages = createStoragePool(open);
  return { create: () => storages.lend(), close: () => pglite.close() };
}

function linksTo(pglite: PGlite, gate: Gate): Links {
  return {
    async connect() {
      const leave = await gate.enter();
      return {
        async query(sql, parameters) {
          const { rows, affectedRows = 0 } = await pglite.query(sql, [...parameters]);
          return { rows, changes: affectedRows, command: '' };
        },
        release: leave,
      };
    },
    end: async () => undefined,
  };
}

/** Stays open if a borrower closes it. */
function lent(pglite: PGlite, gate: Gate) {
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const leave = await gate.enter();
    return work().finally(leave);
  };
  return {
    closed: false,
    ready: true,
    waitReady: Promise.resolve(),
    close: async () => undefined,
    query: <Row>(...call: Parameters<PGlite['query']>) => alone(() => pglite.query<Row>(...call)),
    transaction: <Result>(work: Parameters<typeof pglite.transaction<Result>>[0]) =>
      alone(() => pglite.transaction<Result>(work)),
  };
}
