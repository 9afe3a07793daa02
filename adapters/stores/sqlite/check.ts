import { sql } from 'kysely';
import { counted, type Finding } from '../../../src/adapter-kit.ts';
import type { SqlEngine } from '../sql/index.ts';

/** Reads the whole file and checks its pages and references. */
export function checkFile(engine: SqlEngine): Promise<readonly Finding[]> {
  const version = sql<{ version: string }>`select sqlite_version() as version`.compile(engine.query);
  const pages = sql<{ quick_check: string }>`pragma quick_check(1)`.compile(engine.query);
  const references = sql<{ table: string }>`pragma foreign_key_check`.compile(engine.query);
  return engine.read(async (transaction) => {
    const [about] = await transaction.rows(version);
    const [damage] = await transaction.rows(pages);
    const lost = await transaction.rows(references);
    const problem =
      damage?.quick_check !== 'ok'
        ? `the file is damaged (${damage?.quick_check})`
        : lost.length > 0
          ? `${counted(lost.length, 'row refers', 'rows refer')} to missing rows`
          : null;
    if (problem === null) return [finding('ok', `SQLite ${about?.version}, all pages are valid`, null)];
    return [finding('fail', problem, 'Stop Strata, and restore a backup into another directory.')];
  });
}

function finding(severity: Finding['severity'], message: string, fixHint: string | null): Finding {
  return { checkId: 'file', severity, message, fixHint };
}
