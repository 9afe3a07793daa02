import { registerHooks } from 'node:module';

/**
 * `imports.process.ts --own|--node URL...` imports modules and prints a line of JSON for each import below them: what it
 * was resolved to, and whether by Node.js. `--own` resolves as the program does, `--node` leaves all to Node.js.
 */

const [mode = '', ...files] = process.argv.slice(2);
let passedOn = 0;

registerHooks({
  resolve(specifier, context, next) {
    passedOn += 1;
    return next(specifier, context);
  },
});
const ownHooks: string = new URL('../../bin/relative-imports.js', import.meta.url).href;
if (mode === '--own') await import(ownHooks);
registerHooks({
  resolve(specifier, context, next) {
    const before = passedOn;
    const { url, format } = next(specifier, context);
    const from = context.parentURL;
    process.stdout.write(`${JSON.stringify({ specifier, from, url, format, byNode: passedOn > before })}\n`);
    return { url, format, shortCircuit: true };
  },
});
for (const file of files) await import(file);
