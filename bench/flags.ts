import { readFileSync } from 'node:fs';
import { z } from 'zod';

const PACKAGE = new URL('../package.json', import.meta.url);
const packageSchema = z.object({ scripts: z.object({ start: z.string() }) });

/** The Node options of `npm start`. */
export function startFlags(): readonly string[] {
  return startScript()
    .split(' ')
    .filter((word) => word.startsWith('--'));
}

/** What `npm start` tells the system's allocator. Only glibc reads it. */
export function startEnvironment(): Readonly<Record<string, string>> {
  const settings = startScript().matchAll(/\b(MALLOC_\w+)=(\d+)/gu);
  return Object.fromEntries([...settings].map(([, name, value]) => [name, value]));
}

function startScript(): string {
  return packageSchema.parse(JSON.parse(readFileSync(PACKAGE, 'utf8'))).scripts.start;
}
