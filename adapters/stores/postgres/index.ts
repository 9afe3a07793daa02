import { type Storage, StrataError } from '../../../src/adapter-kit.ts';
import { openPostgres } from './open.ts';
import { PULSE_LIMITS } from './pulse.ts';

/** The options of `createPostgresStorage`. */
export interface PostgresOptions {
  /** postgres://user:password@host:port/database. Parameters of libpq may follow, such as `?sslmode=verify-full`. */
  readonly url: string;
  /** False throws `STORE_MISSING` if there are no tables yet. Default true: they are created. */
  readonly create?: boolean;
}

const NO_URL = 'createPostgresStorage needs a url such as postgres://user:password@host/database.';

/**
 * Stores everything in one database, for any number of processes. Rejects if it is unusable at first; later it
 * reconnects automatically.
 */
export async function createPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { url, create = true } = options ?? {};
  if (!/^postgres(ql)?:\/\//.test(url)) throw new StrataError('USAGE', { problem: NO_URL });
  return await openPostgres({ url, create, limits: PULSE_LIMITS });
}
