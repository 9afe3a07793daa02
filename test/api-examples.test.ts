import { expect, it } from 'vitest';
import { entryPoints, examples } from '../tools/api-docs.ts';
import { pack } from './support/packed.ts';

/** The examples in docstrings compile in a project that has installed the package, each in its own file. */

const packageOf = new Map(entryPoints().map(({ name, file }) => [file, name]));

it('examples in docstrings compile', async () => {
  using project = (await pack()).openProject(['@types/node', 'vitest']);
  const found = examples();
  expect(found.length).toBeGreaterThan(15);
  for (const [index, { name, code, imports }] of found.entries()) {
    const lines = imports.map(({ names, file }) => `import { ${names.join(', ')} } from '${packageOf.get(file)}';`);
    const given = "import { z } from 'zod';\nimport { readFile } from 'node:fs/promises';\n";
    const bot = name === 'createBot' ? '' : "declare const bot: import('stratabot').Bot;\n";
    const file = `${name.replaceAll(/\W/g, '-')}-${index}.ts`;
    project.write(file, `${lines.join('\n')}\n${given}${bot}${code}\nexport {};\n`);
  }
  project.write('wrong.ts', "import { makeKey } from 'stratabot';\nmakeKey({ platform: 1 });\n");
  const complaints = (await project.typeCheck(OPTIONS)).split('\n').filter((line) => line.includes('error TS'));
  expect(complaints).toEqual([expect.stringMatching(/^wrong\.ts\(2,/)]);
}, 360_000);

const OPTIONS = {
  module: 'nodenext',
  skipLibCheck: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
};
