import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(root, 'data-library-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const HEAD = `
import { createBot } from '${root}/src/adapter-kit.ts';
import { createTerminalChannel } from '${root}/adapters/channels/terminal/index.ts';
import { createAiSdkModels } from '${root}/adapters/models/ai-sdk/index.ts';
import { createLocalQueue } from '${root}/adapters/queues/local/index.ts';
import { createSqliteStorage } from '${root}/adapters/stores/sqlite/index.ts';
const storage = await createSqliteStorage({ directory: 'data' });
const queue = createLocalQueue();
const providers = { away: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key' } };
const models = createAiSdkModels({ environment: {}, providers });
const agents = [{ id: 'main', model: 'away:model', context_window: 8000, timeout_seconds: 2 }];
`;

interface Program {
  readonly child: ReturnType<typeof spawn>;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

async function run(text: string, input = ''): Promise<Program> {
  const file = join(directory, 'bot.ts');
  await writeFile(file, HEAD + text);
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file], { cwd: directory, env: { PATH, HOME, NODE_COMPILE_CACHE } });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (written.stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (written.stderr += chunk));
  child.stdin.end(input);
  const { promise, resolve } = Promise.withResolvers<Awaited<Program['ended']>>();
  child.on('close', (code) => resolve({ code, ...written }));
  return { child, ended: promise };
}

it('a bot without a channel lives until it is stopped', async () => {
  const { ended } = await run(`
const bot = createBot({ storage, queue, models, agents });
await bot.start();
console.log('started');
process.on('exit', () => console.log('after', bot.stopped === true));
setTimeout(async () => { await bot.stop(); bot.stopped = true; }, 1500).unref();
`);
  expect(await ended).toMatchObject({ code: 0, stdout: 'started\nafter true\n' });
});

it('reports an unreachable model on stderr and ends', async () => {
  const { ended } = await run(
    `
const terminal = createTerminalChannel();
const bot = createBot({ storage, queue, models, agents, channels: [terminal] });
await bot.start();
await terminal.ended;
await bot.stop();
console.log('stopped');
`,
    'Hello\n',
  );
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/ warn {2}turn\.failed .*cause="?The model away:model/);
  expect(stdout).toMatch(/try again[\s\S]*stopped\n$/);
});
