import { describe, it } from 'vitest';
import { openPglite } from '../../support/pglite.ts';
import { postgresContracts } from '../../support/postgres-contracts.ts';
import { openServerStorages, whyNoServer } from '../../support/postgres-storages.ts';
import { IS_FULL, SIZED } from '../../support/size.ts';

describe('on a Postgres server', () => {
  if (whyNoServer !== null) return it.skip(`skipped: ${whyNoServer}`);
  postgresContracts('postgres', openServerStorages);
});

// The same statements on a slower Postgres. If there is a server, only the soak runs them.
if (IS_FULL || whyNoServer !== null) {
  describe('without a server', SIZED, () => postgresContracts('postgres on PGlite', openPglite));
}
