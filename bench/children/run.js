import { enableCompileCache } from 'node:module';

// As the program itself starts: a first file in TypeScript would load Node's reader of it, 14 MB that no bot has.
enableCompileCache();
await import('../../bin/relative-imports.js');
const [file] = process.argv.splice(2, 1);
await import(file);
