import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Compiles src/ and adapters/ into dist/: JavaScript, declarations, source maps. Types are checked by `npm run check`. */
const root = join(import.meta.dirname, '..');
const output = join(root, 'dist');

rmSync(output, { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
for (const file of globSync('**/*.d.ts', { cwd: output })) nameOutputs(join(output, file));

/** The compiler keeps `.ts` in the imports of declarations; `.js` is what every resolver finds. */
function nameOutputs(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/(from |import\()(['"])(\.[^'"\n]+)\.ts\2/g, '$1$2$3.js$2'));
}
