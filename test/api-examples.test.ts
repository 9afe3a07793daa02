import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { examples } from '../tools/api-docs.ts';

/** The examples in docstrings compile against the sources, each in its own file. */

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const TYPES = join(root, 'src/prompts/handlebars.d.ts');

async function complaintsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = mkdtempSync(join(root, 'node_modules/.examples-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const options = { noEmit: true, types: ['node'], noUnusedLocals: false, verbatimModuleSyntax: false };
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: options,
      include: ['*.ts', TYPES],
      exclude: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', folder, '--pretty', 'false', '--singleThreaded'], {
      cwd: folder,
    }).catch((error: { readonly stdout: string }) => error);
    return stdout.split('\n').filter((line) => line.includes('error TS'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('examples in docstrings compile', async () => {
  const found = examples();
  expect(found.length).toBeGreaterThan(15);
  const files = found.map(({ name, code, imports }, index) => {
    const lines = imports.map(({ names, file }) => `import { ${names.join(', ')} } from '${pathTo(file)}';`);
    const given = "import { z } from 'zod';\nimport { readFile } from 'node:fs/promises';\n";
    const bot = name === 'createBot' ? '' : "declare const bot: import('../../src/index.ts').Bot;\n";
    return [`${name.replaceAll(/\W/g, '-')}-${index}.ts`, `${lines.join('\n')}\n${given}${bot}${code}\nexport {};\n`];
  });
  const wrong = ['wrong.ts', "import { makeKey } from '../../src/index.ts';\nmakeKey({ platform: 1 });\n"];
  const complaints = await complaintsOf(Object.fromEntries([...files, wrong]));
  expect(complaints).toEqual([expect.stringMatching(/^wrong\.ts\(2,/)]);
}, 360_000);

function pathTo(file: string): string {
  return `../../${relative(root, file)}`;
}
