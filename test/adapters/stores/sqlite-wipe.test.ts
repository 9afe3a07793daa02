import { closeSync, fstatSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wipeUnused } from '../../../adapters/stores/sqlite/wipe.ts';

const CANARY = 'qzxcanaryw';

describe('blanking the unused space of a database file', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strata-wipe-'));
    path = join(directory, 'data.db');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const canaries = async () => (await readFile(path)).toString('latin1').split(CANARY).length - 1;
  const wipe = () => {
    const descriptor = openSync(path, 'r+');
    for (let from: number | null = 0; from !== null; ) from = wipeUnused(descriptor, from);
    closeSync(descriptor);
  };

  it('removes copies left by page splits and nothing else', async () => {
    let found = 0;
    for (let seed = 1; seed <= 12; seed++) {
      await rm(path, { force: true });
      const before = await churn(path, seed);
      found += await canaries();
      wipe();
      expect(await canaries()).toBe(0);
      const database = new Database(path, { readonly: true });
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(contentsOf(database)).toEqual(before);
      database.close();
    }
    expect(found).toBeGreaterThan(0);
  }, 120_000);

  it('leaves long values on their own pages', async () => {
    const database = new Database(path);
    database.exec('create table long (text)');
    for (let n = 1; n < 9; n++) database.prepare('insert into long values (?)').run(`${n} `.repeat(n * 3_000));
    const before = contentsOf(database, ['long']);
    database.close();
    wipe();
    const again = new Database(path, { readonly: true });
    expect(contentsOf(again, ['long'])).toEqual(before);
    expect(again.pragma('integrity_check', { simple: true })).toBe('ok');
    again.close();
  });

  it('takes little memory for a small or shrunk file', async () => {
    await churn(path, 1);
    const descriptor = openSync(path, 'r+');
    const before = process.memoryUsage().arrayBuffers;
    expect([wipeUnused(descriptor, 0), wipeUnused(descriptor, 32 * 1024 * 1024)]).toEqual([null, null]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * fstatSync(descriptor).size);
    closeSync(descriptor);
  });
});

/** Inserts, grows, moves and deletes rows, then deletes every canary by statements. Returns what is left. */
async function churn(path: string, seed: number): Promise<unknown> {
  const random = seeded(seed);
  const database = new Database(path);
  database.pragma('secure_delete = on');
  database.pragma('synchronous = off');
  database.exec(
    'create table entry (id integer primary key, text, n); create table memory (id text primary key, text)',
  );
  const text = () => `${random(7) === 0 ? CANARY : ''}${'abcdefgh'.repeat((random(60) * random(60)) / 60)}`;
  const steps = [
    () => database.prepare('insert or replace into entry values (?, ?, 1)').run(random(400), text()),
    () => database.prepare('insert or replace into memory values (?, ?)').run(`m${random(300)}`, text()),
    () => database.prepare('update entry set text = ? where id = ?').run(text(), random(400)),
    () => database.prepare('update entry set n = ? where id = ?').run(random(1e12), random(400)),
    () => database.prepare('delete from entry where id = ?').run(random(400)),
    () => database.prepare('delete from memory where id = ?').run(`m${random(300)}`),
  ];
  database.exec('begin');
  for (let n = 0; n < 3_000; n++) steps[random(8) % steps.length]?.();
  database.exec(`update entry set text = '' where instr(text, '${CANARY}')`);
  database.exec(`delete from memory where instr(text, '${CANARY}')`);
  database.exec('commit');
  const left = contentsOf(database);
  database.close();
  return left;
}

function contentsOf(database: Database.Database, tables: readonly string[] = ['entry', 'memory']): unknown {
  return tables.map((table) => database.prepare(`select * from ${table} order by 1`).all());
}

/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
