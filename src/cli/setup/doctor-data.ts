import { access, constants, lstat, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { App, GlobalOptions } from '../../app/app.ts';
import type { Config } from '../../config/schema.ts';
import { describe, isStrataError } from '../../domain/errors.ts';
import { STORE_FILE } from '../../util/files/store-file.ts';
import { formatNumber } from '../../util/text/text.ts';
import type { Cli } from '../cli.ts';
import { type Finding, ok } from './doctor-finding.ts';

/** Nothing is served. */
const ONLY_CHECKED = { platforms: [], listenOnly: true, role: 'all', terminal: null } as const;

interface Opening {
  readonly globals: GlobalOptions;
  readonly storage: Config['storage'];
}

/**
 * Opening also migrates, so a store that opens is usable. A missing folder stays missing; a server's checks need its
 * tables.
 */
export async function openData(cli: Cli, { globals, storage }: Opening) {
  try {
    const app = await cli.open({ ...globals, ...ONLY_CHECKED, create: storage.url !== '' });
    return { app, finding: ok('data', `${app.upkeep.place} is open and up to date`) };
  } catch (error) {
    if (!isStrataError(error, 'STORE_MISSING')) return { app: null, finding: dataFailure(error) };
    return { app: null, finding: await missingData(storage.directory, globals) };
  }
}

/** Usual before the first start, but a mistyped `--data` looks the same. */
async function missingData(directory: string, { data }: GlobalOptions): Promise<Finding> {
  const message = `there is no data at ${directory} yet`;
  const obstacle = await obstacleTo(directory);
  if (obstacle !== null) {
    const fixHint = 'Select another directory with --data, or let the user of this process write there.';
    return { checkId: 'data', severity: 'fail', message: `${message}, and ${obstacle}`, fixHint };
  }
  if (data === null) return ok('data', `${message}; the first start creates it`);
  const fixHint = 'If the bot has run before, set --data to its directory.';
  return { checkId: 'data', severity: 'warn', message: `${message}; a start would create it`, fixHint };
}

/** Why a start could not create the directory, as far as that can be checked without creating it. */
async function obstacleTo(directory: string): Promise<string | null> {
  const existing = await existingPart(directory);
  try {
    if (!(await stat(existing)).isDirectory()) return `${existing} is not a directory`;
    await access(existing, constants.W_OK);
    return null;
  } catch {
    return `${existing} is not writable`;
  }
}

/** The directory, or the nearest one above it that exists. */
async function existingPart(directory: string): Promise<string> {
  const parent = dirname(directory);
  const exists = await stat(directory).then(
    () => true,
    () => false,
  );
  return exists || parent === directory ? directory : await existingPart(parent);
}

export async function checkData({ upkeep }: App): Promise<readonly Finding[]> {
  try {
    return (await upkeep.check()).map((finding) => ({ ...finding, checkId: `data.${finding.checkId}` }));
  } catch (error) {
    return [dataFailure(error)];
  }
}

function dataFailure(error: unknown): Finding {
  const isBusy = isStrataError(error, 'STORE_LOCKED');
  const fixHint = isBusy ? 'Stop it to check its data as well.' : dataHint(error);
  return { checkId: 'data', severity: isBusy ? 'warn' : 'fail', message: describe(error), fixHint };
}

function dataHint(error: unknown): string {
  if (isStrataError(error, 'PACKAGE_MISSING')) return 'Run that command, and then `strata doctor` again.';
  if (isStrataError(error, 'STORE_UNREACHABLE')) return 'Check that the server is running, and url in [storage].';
  if (isStrataError(error, 'STORE_UNUSABLE') && error.data.remedy !== undefined) return `${error.data.remedy}.`;
  return 'Select other data with --data or [storage] url, or restore a backup.';
}

const LITTLE_BYTES = 1_000_000_000;
const TOO_LITTLE_BYTES = 100_000_000;

/** If the file is a link, it grows on another disk, perhaps. Null if there is no file. */
async function folderOfFile(directory: string): Promise<string | null> {
  const named = join(directory, STORE_FILE);
  const file = await realpath(named).catch(() => null);
  if (file === null) return null;
  return (await lstat(named)).isSymbolicLink() ? dirname(file) : directory;
}

/** Empty for a directory that cannot be read, because the check of the data reports that. */
export async function checkDisk({ directory }: { readonly directory: string }): Promise<readonly Finding[]> {
  const folder = await folderOfFile(directory);
  const space = await statfs(folder ?? (await existingPart(directory))).catch(() => null);
  if (space === null) return [];
  const free = space.bavail * space.bsize;
  const message = `${formatNumber(free / 1_000_000)} MB are free at ${folder ?? directory}`;
  if (free > LITTLE_BYTES) return [ok('disk', message)];
  const severity = free < TOO_LITTLE_BYTES ? 'fail' : 'warn';
  return [{ checkId: 'disk', severity, message, fixHint: 'Free some space, or move the data with --data.' }];
}
