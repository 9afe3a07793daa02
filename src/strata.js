#!/usr/bin/env node
import module from 'node:module';

// Plain JavaScript, so that Node need not load its reader of TypeScript for one file: what it made of the others is kept.
// A Node that cannot read the others at all says so here.
if (Number.parseInt(process.versions.node, 10) < 24) {
  const found = process.versions.node;
  process.stderr.write(
    `strata: Strata needs Node.js 24 or newer; this is ${found}. npm scripts bring their own: use \`npm start\`.\n`,
  );
  process.exitCode = 1;
} else {
  module.enableCompileCache?.();
  await import('./main.ts');
}
