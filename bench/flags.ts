import { readFileSync } from 'node:fs';
import { z } from 'zod';

const PACKAGE = new URL('../package.json', import.meta.url);
const packageSchema = z.object({ scripts: z.object({ start: z.string() }) });

/** The Node options of `npm start`. */
export function startFlags(): readonly string[] {
  const { scripts } = packageSchema.parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}
