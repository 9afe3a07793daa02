import { execFileSync } from 'node:child_process';

const SEARCH = `
const fs = require('node:fs');
const [directory, text] = process.argv.slice(1);
for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  if (fs.readFileSync(entry.parentPath + '/' + entry.name).includes(text)) process.stdout.write(entry.name + ' ');
}`;

/**
 * The files of a folder that contain the text. Read by another process: closing a file that is open as a database would
 * give up its locks.
 */
export function filesWith(directory: string, text: string): string {
  return execFileSync(process.execPath, ['-e', SEARCH, directory, text]).toString().trim();
}
