import { fstatSync, fsyncSync, readSync, writeSync } from 'node:fs';

/**
 * Deleted data is overwritten in place (`secure_delete`). But when pages are split and merged, copies of cells remain
 * in the unused middle of a page. No statement reaches that space, so it is overwritten in the file itself. Only bytes
 * that mean nothing to SQLite are written, so the database stays intact whenever this is interrupted.
 */

const FILE_HEADER_BYTES = 100;
const MAX_PAGE_BYTES = 65_536;
const ZEROS = Buffer.alloc(MAX_PAGE_BYTES);
/** Bytes per step, some milliseconds. */
const STEP_BYTES = 16 * 1024 * 1024;
/**
 * From here on, the first byte of an overflow page, part of a page number, could be mistaken for the type of a tree
 * page.
 */
const AMBIGUOUS_PAGES = 2 ** 25;
/** By page type: inner and leaf pages of indexes and tables. */
const HEADER_BYTES = new Map([
  [0x02, 12],
  [0x05, 12],
  [0x0a, 8],
  [0x0d, 8],
]);

/**
 * Overwrites the unused space of the pages from `offset` on. The log must be empty and no page may be cached. Returns
 * the start of the next step, or null at the end.
 */
export function wipeUnused(descriptor: number, offset: number): number | null {
  const header = read(descriptor, 0, FILE_HEADER_BYTES);
  const pageBytes = header.readUInt16BE(16) === 1 ? MAX_PAGE_BYTES : header.readUInt16BE(16);
  const reservedBytes = header[20] ?? 0;
  const { size } = fstatSync(descriptor);
  if (size / pageBytes >= AMBIGUOUS_PAGES) return null;
  const bytes = read(descriptor, offset, Math.max(0, Math.min(STEP_BYTES, size - offset)));
  for (let start = 0; start + pageBytes <= bytes.length; start += pageBytes) {
    const page = bytes.subarray(start, start + pageBytes);
    const isFirst = offset + start === 0;
    const unused = unusedOf(page, {
      headerAt: isFirst ? FILE_HEADER_BYTES : 0,
      usableBytes: pageBytes - reservedBytes,
    });
    if (unused === null) continue;
    const zeros = ZEROS.subarray(0, unused.to - unused.from);
    if (page.subarray(unused.from, unused.to).equals(zeros)) continue;
    writeSync(descriptor, zeros, 0, zeros.length, offset + start + unused.from);
  }
  const next = offset + STEP_BYTES;
  if (next < size) return next;
  fsyncSync(descriptor);
  return null;
}

/** The space between the cell pointers and the first cell. Null if it is not a tree page. */
function unusedOf(
  page: Buffer,
  { headerAt, usableBytes }: { headerAt: number; usableBytes: number },
): { readonly from: number; readonly to: number } | null {
  const headerBytes = HEADER_BYTES.get(page[headerAt] ?? 0);
  if (headerBytes === undefined) return null;
  const cells = page.readUInt16BE(headerAt + 3);
  const from = headerAt + headerBytes + cells * 2;
  const to = page.readUInt16BE(headerAt + 5) || MAX_PAGE_BYTES;
  return from < to && to <= usableBytes ? { from, to } : null;
}

function read(descriptor: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset));
}
