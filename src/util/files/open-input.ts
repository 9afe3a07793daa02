import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { checkFile } from './text-file.ts';

/** Absent on Windows, which has no such pipes. */
const { O_NONBLOCK = 0, O_RDONLY } = constants;

/**
 * A file or pipe as a stream. To open a pipe that nobody writes to would block a thread that not even the end of the
 * process interrupts, so it opens without waiting. Throws an `Error` whose message fits into a sentence.
 */
export function openInput(file: string): Readable {
  checkFile(file, { pipes: true });
  const fd = openSync(file, O_RDONLY | O_NONBLOCK);
  if (fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false });
  return createReadStream(file, { fd });
}
