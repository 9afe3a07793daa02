import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { openLogFile } from '../../src/app/log-file.ts';
import { makePrivateFile } from '../../src/util/files/private-file.ts';
import { ENVIRONMENT } from '../support/environment.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'strata-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string): string => ((statSync(path).mode ?? 0) & 0o777).toString(8);

/** Runs the program as an operator does, under the given umask. */
function strata(umask: string, ...argv: readonly string[]): void {
  const main = join(import.meta.dirname, '../../bin/strata.js');
  const line = `umask ${umask}; exec "$@"`;
  execFileSync('sh', ['-c', line, 'sh', process.execPath, main, ...argv], {
    cwd: folder,
    env: { ...ENVIRONMENT, HOME: folder },
    input: 'My locker is number 42.\n',
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

/**
 * The files of a store besides its database, opened under each umask in a folder of that name. Printed by a separate
 * process, because the umask belongs to a process.
 */
function openStores(umasks: readonly string[]): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const store = join(import.meta.dirname, '../../adapters/stores/sqlite/index.ts');
  const code = `
    const { createSqliteStorage } = await import(${JSON.stringify(store)});
    const { readdirSync, statSync } = await import('node:fs');
    const mode = (path) => (statSync(path).mode & 0o777).toString(8);
    const found = {};
    for (const umask of ${JSON.stringify(umasks)}) {
      process.umask(umask);
      const directory = umask + '/data';
      const { store } = await createSqliteStorage({ directory });
      found[umask] = Object.fromEntries(readdirSync(directory).map((file) => [file, mode(directory + '/' + file)]));
      await store.close();
    }
    console.log(JSON.stringify(found));`;
  const argv = ['--input-type=module', '--eval', code];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: folder, encoding: 'utf8' }));
}

describe.skipIf(process.platform === 'win32')('another user of the machine', () => {
  it('reads no file of the store, whatever the umask', () => {
    const umasks = ['000', '022', '077', '777'];
    const found = openStores(umasks);
    expect(Object.keys(found).sort()).toEqual(umasks);
    for (const [umask, files] of Object.entries(found)) {
      expect(Object.keys(files).sort()).toEqual(['strata.db', 'strata.db-shm', 'strata.db-wal', 'strata.lock']);
      expect([umask, new Set(Object.values(files))]).toEqual([umask, new Set(['600'])]);
      expect([umask, modeOf(join(folder, umask)), modeOf(join(folder, umask, 'data'))]).toEqual([umask, '700', '700']);
    }
  });

  it('reads no file that an older version left open', async () => {
    const directory = join(folder, '000/data');
    const { store } = await createSqliteStorage({ directory });
    await store.close();
    for (const file of ['strata.db', 'strata.lock']) chmodSync(join(directory, file), 0o666);
    writeFileSync(join(directory, 'strata.db-wal'), '', { mode: 0o666 });
    expect(new Set(Object.values(openStores(['000'])['000'] ?? {}))).toEqual(new Set(['600']));
  });

  it('cannot have a backup written into another file', () => {
    strata('022', 'start', '--data', 'data', '--model', 'offline:demo');
    const own = join(folder, 'mine.txt');
    writeFileSync(own, 'what I wrote', { mode: 0o644 });
    for (const [name, link] of Object.entries({ linkSync, symlinkSync })) {
      link(own, join(folder, `${name}.jsonl.part`));
      strata('022', 'backup', `${name}.jsonl`, '--data', 'data');
      expect([name, readFileSync(own, 'utf8'), modeOf(own)]).toEqual([name, 'what I wrote', '644']);
      expect(modeOf(join(folder, `${name}.jsonl`))).toBe('600');
    }
  }, 120_000);

  it('reads neither log nor backup', () => {
    strata('000', 'start', '--data', 'data', '--model', 'offline:demo');
    expect(modeOf(join(folder, 'data/strata.log'))).toBe('600');
    writeFileSync(join(folder, 'copy.jsonl'), 'an older copy', { mode: 0o666 });
    chmodSync(join(folder, 'copy.jsonl'), 0o666);
    strata('000', 'backup', 'copy.jsonl', '--force', '--data', 'data');
    strata('000', 'backup', 'copy.jsonl.gz', '--data', 'data');
    expect([modeOf(join(folder, 'copy.jsonl')), modeOf(join(folder, 'copy.jsonl.gz'))]).toEqual(['600', '600']);
  }, 120_000);

  it('reads no log that begins after a rotation', () => {
    const log = openLogFile(folder);
    log.write('one\n');
    renameSync(join(folder, 'strata.log'), join(folder, 'moved.log'));
    log.write('two\n');
    expect(modeOf(join(folder, 'strata.log'))).toBe('600');
    expect(readFileSync(join(folder, 'strata.log'), 'utf8')).toBe('two\n');
  });

  it('reads no log that was there before', () => {
    writeFileSync(join(folder, 'strata.log'), 'older\n');
    chmodSync(join(folder, 'strata.log'), 0o644);
    openLogFile(folder).write('newer\n');
    expect(modeOf(join(folder, 'strata.log'))).toBe('600');
  });

  it('keeps a file that is private already as it is', () => {
    const path = join(folder, 'private');
    makePrivateFile(path);
    const before = statSync(path).ctimeMs;
    makePrivateFile(path);
    expect(statSync(path).ctimeMs).toBe(before);
  });
});
