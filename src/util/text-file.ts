import { readFileSync } from 'node:fs';

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
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(reasonOf(cause), { cause });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EISDIR: 'it is a directory',
  EACCES: 'reading it is not permitted',
  EPERM: 'reading it is not permitted',
};

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return reasons[code] ?? `it cannot be read (${code || String(cause)})`;
}
