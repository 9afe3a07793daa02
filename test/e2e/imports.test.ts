import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
const script = fileURLToPath(new URL('imports.process.ts', import.meta.url));
const lineSchema = z.object({
  specifier: z.string(),
  from: z.string(),
  url: z.string(),
  format: z.string().nullish(),
  byNode: z.boolean(),
});
type Import = z.infer<typeof lineSchema>;

/** All imports below the command line, the store, Kysely and zod. */
function importsOf(mode: '--own' | '--node'): readonly Import[] {
  const files = [...globSync('src/**/*.ts', { cwd: root }), 'adapters/stores/sqlite/index.ts']
    .filter((path) => !path.endsWith('.d.ts') && path !== join('src', 'main.ts'))
    .map((path) => pathToFileURL(join(root, path)).href);
  const text = execFileSync(process.execPath, [script, mode, ...files], { encoding: 'utf8', maxBuffer: 1e8 });
  return text
    .trim()
    .split('\n')
    .map((line) => lineSchema.parse(JSON.parse(line)));
}

describe('relative imports', () => {
  const [own, node] = [importsOf('--own'), importsOf('--node')];

  it('lead where Node.js finds them, with the same format', () => {
    const plain = (some: readonly Import[]) => some.map(({ byNode, ...rest }) => rest);
    expect(plain(own)).toEqual(plain(node));
  });

  it('are resolved without the disk, in most files', () => {
    const isOurs = ({ specifier, from }: Import) =>
      specifier.startsWith('.') && !/node_modules\/(?!kysely|zod)/.test(from);
    expect(node.every(({ byNode }) => byNode)).toBe(true);
    expect(own.filter((one) => one.byNode && isOurs(one))).toEqual([]);
    expect(own.filter(isOurs).length).toBeGreaterThan(1_000);
  });

  it('include those of packages that are linked', () => {
    const folder = mkdtempSync(join(tmpdir(), 'imports-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const kysely = realpathSync(join(root, 'node_modules/kysely'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(kysely, join(folder, 'node_modules/kysely'));
    cpSync(join(root, 'bin/relative-imports.js'), join(folder, 'bin/relative-imports.js'));
    const parentURL = pathToFileURL(join(kysely, 'dist/index.js')).href;
    const code = `
      const { relativeImport } = await import(${JSON.stringify(pathToFileURL(join(folder, 'bin/relative-imports.js')))});
      const found = relativeImport('./kysely.js', { parentURL: ${JSON.stringify(parentURL)}, conditions: ['import'] });
      process.stdout.write(String(found?.url));`;
    const url = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(url).toBe(new URL('./kysely.js', parentURL).href);
  });
});
