import { once } from 'node:events';
import { createReadStream, createWriteStream, fchmodSync, openSync, type ReadStream, rmSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { describe, StrataError } from '../../domain/errors.ts';
import type { Archive, ArchiveHeader, ArchiveRow, ArchiveSink } from '../../ports/upkeep.ts';
import { errorCode } from '../../util/errors/error-code.ts';
import { OWNER_ONLY } from '../../util/files/private-file.ts';
import { checkFile } from '../../util/files/text-file.ts';
import { readLines } from '../../util/text/lines.ts';

/** A backup is JSON Lines: first its format and number of rows, then every row with the name of its table. */

const FORMAT = 'strata backup';
const VERSION = 1;
/** The longest line: a stored tool result with its full text. */
const MAX_LINE_BYTES = 256_000_000;

const count = z.int().nonnegative();
const header = z.object({
  format: z.literal(FORMAT),
  version: z.int(),
  migrations: z.array(z.string()),
  counts: z.record(z.string(), count),
});
const record: z.ZodType<{ table: string; row: ArchiveRow }> = z.strictObject({
  table: z.string(),
  row: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
});

export interface WrittenFile {
  readonly header: ArchiveHeader;
  readonly bytes: number;
}

/**
 * Writes the dump. The file appears only when it is complete, and only its owner can read it. Throws `BACKUP_UNWRITTEN` if
 * there is no place for it, and the reason of the signal.
 */
export async function writeArchive(
  file: string,
  dump: (sink: ArchiveSink) => Promise<void>,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const part = `${file}.part`;
  const outputs: Output[] = [];
  let written: ArchiveHeader = { migrations: [], counts: {} };
  // A store that passes on a failure of the file would blame its own data.
  const failures: unknown[] = [];
  const noted = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      failures.push(error);
      throw error;
    });
  const begin: ArchiveSink['begin'] = async (given) => {
    signal.throwIfAborted();
    await outputs.at(-1)?.discard();
    written = given;
    outputs.push(openOutput(part, file.endsWith('.gz')));
    await outputs.at(-1)?.write({ format: FORMAT, version: VERSION, ...given });
  };
  const rows: ArchiveSink['rows'] = async (table, given) => {
    signal.throwIfAborted();
    for (const row of given) await outputs.at(-1)?.write({ table, row });
  };
  const sink: ArchiveSink = {
    begin: (given) => noted(begin(given)),
    rows: (table, given) => noted(rows(table, given)),
  };
  try {
    await dump(sink);
    await outputs.at(-1)?.end();
    await sync(part);
    await rename(part, file);
    return { header: written, bytes: (await stat(file)).size };
  } catch (error) {
    await outputs.at(-1)?.discard();
    await rm(part, { force: true }).catch(() => undefined);
    throw unwritten(file, failures.at(-1) ?? error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EACCES: 'writing there is not permitted',
  EEXIST: 'another program writes there, too',
  EPERM: 'writing there is not permitted',
  EROFS: 'writing there is not permitted',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
};

/** A failure of the store says what is wrong by itself; one of the file names only a system call. */
function unwritten(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  const reason = REASONS[errorCode(error)] ?? describe(error);
  return new StrataError('BACKUP_UNWRITTEN', { file, reason }, { cause: error });
}

interface Output {
  write(value: unknown): Promise<void>;
  end(): Promise<void>;
  discard(): Promise<void>;
}

/** A file of this name may be a link to another one, or belong to somebody who would then read the backup. */
function openOutput(path: string, isPacked: boolean): Output {
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx', OWNER_ONLY);
  // The umask may have removed more.
  fchmodSync(fd, OWNER_ONLY);
  const target = createWriteStream(path, { fd });
  const entry = isPacked ? createGzip() : target;
  if (entry !== target) entry.pipe(target);
  const ended = finished(target);
  ended.catch(() => undefined);
  return {
    async write(value) {
      if (!entry.write(`${JSON.stringify(value)}\n`)) await Promise.race([once(entry, 'drain'), ended]);
    },
    async end() {
      entry.end();
      await ended;
    },
    async discard() {
      entry.destroy();
      target.destroy();
      await ended.catch(() => undefined);
    },
  };
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  await handle.sync();
  await handle.close();
}

/**
 * Reads the first line. Throws `BACKUP_INVALID` if the file is not a backup or has a newer format. Its records end with
 * the reason of the signal.
 */
export async function readArchive(file: string, signal: AbortSignal): Promise<Archive> {
  for await (const line of linesOf(file)) {
    const parsed = header.safeParse(line.value);
    if (!parsed.success) throw invalid(file, { line: 1, problem: 'it is not a Strata backup' });
    const { version, migrations, counts } = parsed.data;
    if (version > VERSION) {
      throw invalid(file, { line: 1, problem: `its format ${version} is newer than ${VERSION}. Update Strata` });
    }
    return { name: file, header: { migrations, counts }, records: () => recordsOf(file, signal) };
  }
  throw invalid(file, { line: null, problem: 'it is empty' });
}

async function* recordsOf(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly table: string; readonly row: ArchiveRow }> {
  for await (const { number, value } of linesOf(file)) {
    signal.throwIfAborted();
    if (number === 1) continue;
    const parsed = record.safeParse(value);
    if (!parsed.success) throw invalid(file, { line: number, problem: 'the line is not a table row' });
    yield parsed.data;
  }
}

async function* linesOf(file: string): AsyncGenerator<{ readonly number: number; readonly value: unknown }> {
  for await (const line of readLines(bytesOf(file), { maxBytes: MAX_LINE_BYTES })) {
    const { number } = line;
    if (line.kind === 'refused') throw invalid(file, { line: number, problem: `the line ${line.problem}` });
    yield { number, value: parse(file, number, line.text) };
  }
}

function parse(file: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(file, { line, problem: 'the line is not JSON', cause: error });
  }
}

async function* bytesOf(file: string): AsyncGenerator<unknown> {
  const source = openInput(file);
  try {
    if (!file.endsWith('.gz')) return yield* source;
    const unpacked = createGunzip();
    source.on('error', (error) => unpacked.destroy(error));
    yield* source.pipe(unpacked);
  } catch (error) {
    throw invalid(file, { line: null, problem: describe(error), cause: error });
  } finally {
    source.destroy();
  }
}

function openInput(file: string): ReadStream {
  try {
    checkFile(file);
    return createReadStream(file);
  } catch (error) {
    throw invalid(file, { line: null, problem: describe(error), cause: error });
  }
}

function invalid(
  file: string,
  { line, problem, cause }: { readonly line: number | null; readonly problem: string; readonly cause?: unknown },
): StrataError {
  return new StrataError('BACKUP_INVALID', { file, line, problem }, { cause });
}
