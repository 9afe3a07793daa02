import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '../errors/error-code.ts';

/**
 * A text file as UTF-8, without byte order mark and with `\n` line breaks. Throws an `Error` whose message fits into a
 * sentence ("it does not exist"), with the cause.
 */
export function readText(file: string): string {
  return decodeText(readBytes(file));
}

/** Rejects anything but UTF-8: a silently replaced character in a prompt or a secret would be hard to find. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (cause) {
    throw new Error('it is not valid UTF-8 text', { cause });
  }
}

function readBytes(file: string): Uint8Array {
  checkFile(file);
  return explained(() => readFileSync(file));
}

/**
 * Throws such an `Error` unless reading the file comes to an end: a pipe may have no writer, and a device no end. For
 * input that is read as a stream, pipes such as `<(command)` can be allowed.
 */
export function checkFile(file: string, { pipes = false } = {}): void {
  const stats = explained(() => statSync(file));
  if (stats.isFile() || (pipes && stats.isFIFO())) return;
  throw new Error(stats.isDirectory() ? 'it is a directory' : 'it is not a regular file');
}

function explained<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new Error(reasonOf(cause), { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EISDIR: 'it is a directory',
  EACCES: 'reading it is not permitted',
  EPERM: 'reading it is not permitted',
};

function reasonOf(cause: unknown): string {
  const code = errorCode(cause);
  return REASONS[code] ?? `it cannot be read (${code || String(cause)})`;
}
