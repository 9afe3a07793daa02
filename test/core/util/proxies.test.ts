import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const KIT = join(import.meta.dirname, '../../../src/adapter-kit.ts');

// Every start loads the kit, and the clients of HTTP would take a tenth of it.
it('needs no client of HTTP until somebody asks', () => {
  const script = `await import(${JSON.stringify(KIT)}); console.log(process.moduleLoadList.join('\\n'))`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(loaded).toContain('NativeModule fs');
  expect(loaded.split('\n').filter((name) => /^NativeModule https?$/.test(name))).toEqual([]);
});
