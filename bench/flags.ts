import { readFileSync } from 'node:fs';
import { z } from 'zod';

const PACKAGE = new URL('../package.json', import.meta.url);
const DOCKERFILE = new URL('../deploy/Dockerfile', import.meta.url);
const packageSchema = z.object({ scripts: z.object({ start: z.string() }) });

/** The Node options of `npm start`. */
export function startFlags(): readonly string[] {
  const { scripts } = packageSchema.parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** What the image of `deploy/` tells the system's allocator. Only glibc reads it. */
export function deployedAllocation(): Readonly<Record<string, string>> {
  const settings = readFileSync(DOCKERFILE, 'utf8').matchAll(/\b(MALLOC_\w+)=(\d+)/gu);
  return Object.fromEntries([...settings].map(([, name, value]) => [name, value]));
}
