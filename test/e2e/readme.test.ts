import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
let directory: string;

// Inside the checkout, because that is where `strata` means this package.
beforeEach(async () => {
  directory = await mkdtemp(join(root, 'data-readme-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function readmeProgram(): Promise<string> {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  if (program === undefined) throw new Error('README.md shows no program');
  return program;
}

async function run(file: string, input: string): Promise<{ readonly output: string; readonly code: number | null }> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [file], { cwd: directory, env: { PATH, HOME, OLLAMA_HOST: '127.0.0.1:9' } });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stdin.end(input);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  return { code: await promise, output };
}

it('shows a bot that runs as it stands there: it talks, calls its own tool, remembers and ends', async () => {
  const program = await readmeProgram();
  expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30);
  await writeFile(join(directory, 'bot.ts'), program);
  const { output, code } = await run('bot.ts', 'My name is Ada.\nRoll a die with 6 sides.\nWhat is my name?\n');
  expect(output).toMatch(/The die shows [1-6]/);
  expect(output.trim().split('\n').at(-1)).toContain('Ada');
  expect(code).toBe(0);
});
