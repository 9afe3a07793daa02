import { sql } from 'kysely';
import { counted, type Finding } from '../../../src/adapter-kit.ts';
import type { SqlEngine } from '../sql/index.ts';

/** Checks the references between the rows, for `strata doctor`. */
export function checkDatabase(engine: SqlEngine): Promise<readonly Finding[]> {
  const version = sql<{ version: string }>`select sqlite_version() as version`.compile(engine.query);
  const references = sql<{ table: string }>`pragma foreign_key_check`.compile(engine.query);
  return engine.read(async (transaction) => {
    const [about] = await transaction.rows(version);
    const lost = await transaction.rows(references);
    if (lost.length === 0) return [finding('ok', `SQLite ${about?.version}, all references are valid`, null)];
    return [
      finding(
        'fail',
        `${counted(lost.length, 'row refers', 'rows refer')} to missing rows`,
        'Stop Strata, and restore a backup.',
      ),
    ];
  });
}

function finding(severity: Finding['severity'], message: string, fixHint: string | null): Finding {
  return { checkId: 'database', severity, message, fixHint };
}
