#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';

// Plain JavaScript, so that a Node that cannot read the rest reports its version, and Node caches what it compiles.
if (Number.parseInt(process.versions.node, 10) < 24) {
  const found = process.versions.node;
  process.stderr.write(
    `strata: Strata needs Node.js 24 or newer; this is ${found}. In a clone of the repository, \`npm start\` uses a matching one.\n`,
  );
  process.exitCode = 1;
} else {
  module.enableCompileCache?.();
  await import('./relative-imports.js');
  // The clone runs its sources; the published package has only the compiled files.
  const source = new URL('../src/main.ts', import.meta.url);
  await import((existsSync(source) ? source : new URL('../dist/src/main.js', import.meta.url)).href);
}
