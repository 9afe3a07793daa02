import { openPglite } from '../support/pglite.ts';
import { postgresContracts } from '../support/postgres-contracts.ts';

postgresContracts('postgres on PGlite', openPglite);
