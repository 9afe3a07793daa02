import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';

const FILE = 'strata.db';

/** A temporary folder with an empty store, made from a copy: creating the tables takes longer than most tests. */
export async function createStoreFolder(name: string): Promise<string> {
  empty ??= emptyStore();
  const directory = await temporary(name);
  await writeFile(join(directory, FILE), await empty);
  return directory;
}

let empty: Promise<Buffer> | null = null;

async function emptyStore(): Promise<Buffer> {
  const directory = await temporary('empty');
  await (await createSqliteStorage({ directory })).store.close();
  const bytes = await readFile(join(directory, FILE));
  await rm(directory, { recursive: true });
  return bytes;
}

function temporary(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `strata-${name}-`));
}
