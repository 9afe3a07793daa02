import { describe, it } from 'vitest';
import { postgresContracts } from '../support/postgres-contracts.ts';
import { openServerStorages, whyNoServer } from '../support/postgres-storages.ts';

describe('on a Postgres server', () => {
  if (whyNoServer !== null) return it.skip(`skipped: ${whyNoServer}`);
  postgresContracts('postgres', openServerStorages);
});
