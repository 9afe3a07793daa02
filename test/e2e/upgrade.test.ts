import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Folder, openFolder } from './strata.ts';

/** The data folder of a terminal bot of 0.1.0 that played `/demo`: messages, summaries, condensed summaries, memories. */
const written = gunzipSync(readFileSync(join(import.meta.dirname, '../fixtures/data-0.1.0.db.gz')));

/** The search index, the names of migrations and the values of conversations are all that an upgrade may change. */
const TABLES = [
  ...['conversation', 'entry', 'summary', 'memory', 'memory_source', 'memory_event', 'tombstone'],
  ...['outbox', 'blob', 'usage', 'maintenance_run'],
];
const DEMO = 'terminal:local:demo';
const rowSchema = z.record(z.string(), z.unknown());
type Row = z.infer<typeof rowSchema>;

function openUpgrade(): Folder {
  const folder = openFolder();
  mkdirSync(folder.file('data'));
  writeFileSync(folder.file('data/strata.db'), written);
  return folder;
}

/** Every row with the columns that 0.1.0 knew, by table. */
function rowsOf(folder: Folder, columns: Readonly<Record<string, readonly string[]>>): Record<string, readonly Row[]> {
  const database = new Database(folder.file('data/strata.db'), { readonly: true });
  const rows = TABLES.map((table) => {
    const names = (columns[table] ?? []).map((name) => `"${name}"`).join(', ');
    return [table, z.array(rowSchema).parse(database.prepare(`select ${names} from ${table} order by ${names}`).all())];
  });
  database.close();
  return Object.fromEntries(rows);
}

function columnsOf(folder: Folder): Record<string, readonly string[]> {
  const database = new Database(folder.file('data/strata.db'), { readonly: true });
  const named = z.array(z.object({ name: z.string() }));
  const columns = TABLES.map((table) => [
    table,
    named.parse(database.pragma(`table_info(${table})`)).map(({ name }) => name),
  ]);
  database.close();
  return Object.fromEntries(columns);
}

describe('a data folder of 0.1.0', () => {
  it('keeps every row and column', async () => {
    using folder = openUpgrade();
    const columns = columnsOf(folder);
    const before = rowsOf(folder, columns);
    expect(before['entry']).toHaveLength(71);
    expect(before['memory']).toHaveLength(19);
    expect((await folder.run(['memory', 'list', '--conversation', DEMO, '--json'])).code).toBe(0);
    expect(rowsOf(folder, columns)).toEqual(before);
  }, 120_000);

  it('shows its layers and finds its messages', async () => {
    using folder = openUpgrade();
    const summaries = await folder.run(['summaries', 'list', '--conversation', DEMO, '--json']);
    expect({ code: summaries.code, stderr: summaries.stderr }).toEqual({ code: 0, stderr: '' });
    expect(summaries.stdout).toContain('"fromSeq":1,');
    const transcript = await folder.run(['transcript', '--conversation', DEMO]);
    expect(transcript.stdout).toContain('I am allergic to walnuts');
    const found = await folder.run(['recall', '--conversation', DEMO], 'Who is allergic to walnuts?\n');
    expect(found.stdout).toContain('walnuts');
  }, 120_000);

  it('goes on with its conversations', async () => {
    using folder = openUpgrade();
    const { stdout, stderr, code } = await folder.run(['start'], 'What is my name?\n');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Ada');
    const database = new Database(folder.file('data/strata.db'), { readonly: true });
    const seqs = database.prepare('select seq from entry where conversation_id = 1 order by seq').pluck().all();
    database.close();
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6]);
  }, 120_000);
});
