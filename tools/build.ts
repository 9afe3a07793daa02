import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { z } from 'zod';

/** Compiles src/ and adapters/ into dist/: JavaScript, declarations, source maps. Types are checked by `npm run check`. */
const root = join(import.meta.dirname, '..');
const output = join(root, 'dist');

rmSync(output, { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
compile('--emitDeclarationOnly');
// Editors show the comments of declarations, and source maps contain the sources.
compile('--declaration', 'false', '--removeComments');
const declarations = globSync('**/*.d.ts', { cwd: output }).map((file) => join(output, file));
for (const file of declarations) nameOutputs(file);
const reachable = declarationsFrom(exportedTypes());
for (const file of declarations) if (!reachable.has(file)) rmSync(file);
for (const file of globSync('**/*.js.map', { cwd: output })) keepLines(join(output, file));

function compile(...options: readonly string[]): void {
  const args = [compiler, '-p', 'tsconfig.build.json', '--noCheck', ...options];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Stack traces and breakpoints need the line. Where each word of it came from would take a third of the package. */
function keepLines(file: string): void {
  const map = z.looseObject({ mappings: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8')));
  const lines = decode(map.mappings).map((segments) => segments.slice(0, 1));
  writeFileSync(file, JSON.stringify({ ...map, mappings: encode(lines) }));
}

/** The compiler keeps `.ts` in the imports of declarations; `.js` is what every resolver finds. */
function nameOutputs(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/(from |import\()(['"])(\.[^'"\n]+)\.ts\2/g, '$1$2$3.js$2'));
}

function exportedTypes(): readonly string[] {
  const schema = z.object({ exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])) });
  const { exports } = schema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  return Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [join(root, entry.types)]));
}

/** These declarations and all that they import. No program can see others, and they take a block of the disk each. */
function declarationsFrom(doors: readonly string[]): ReadonlySet<string> {
  const found = new Set(doors);
  for (const file of found) {
    const imports = readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()(['"])(\.[^'"\n]+)\.js\1/g);
    for (const [, , path = ''] of imports) found.add(join(dirname(file), `${path}.d.ts`));
  }
  return found;
}
