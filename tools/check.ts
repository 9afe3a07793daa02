import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** The steps of `npm run check`, run concurrently, slowest first. Each prints its output when it ends. */
const STEPS = [
  'node tools/check-package.ts',
  'tsc',
  'biome ci .',
  'vitest run test/architecture.test.ts test/attacks/expressions.test.ts --reporter=dot',
  'knip',
] as const;

const passed = await Promise.all(STEPS.map(run));
if (passed.includes(false)) process.exitCode = 1;

async function run(step: string): Promise<boolean> {
  const start = performance.now();
  const child = spawn(step, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise: code, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  const output = await Promise.all([text(child.stdout), text(child.stderr)]);
  const isPassed = (await code) === 0;
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`${output.join('')}${isPassed ? 'passed' : 'FAILED'} in ${seconds} s: ${step}\n\n`);
  return isPassed;
}
