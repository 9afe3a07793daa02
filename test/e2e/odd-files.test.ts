import { execFileSync, spawn } from 'node:child_process';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { IS_FULL, SIZED, spread } from '../support/size.ts';
import { ended, type Folder, MAIN, openFolder } from './strata.ts';

/** Pipes that nobody writes to, devices without an end, and folders, in place of files. */

vi.setConfig({ testTimeout: 120_000 });

const KINDS = ['pipe', 'device', 'folder'] as const;
type Kind = (typeof KINDS)[number];

function put(folder: Folder, name: string, kind: Kind): void {
  rmSync(folder.file(name), { recursive: true, force: true });
  if (kind === 'pipe') execFileSync('mkfifo', [folder.file(name)]);
  else if (kind === 'device') symlinkSync('/dev/zero', folder.file(name));
  else mkdirSync(folder.file(name));
}

/** A process of its own, because reading a pipe blocks the whole process. To read a folder fails at once. */
const runnerOf = (folder: Folder, kind: Kind) => (args: readonly string[]) =>
  kind === 'folder' ? folder.run(args) : run(folder, args);

async function refusal(start: ReturnType<typeof runnerOf>, args: readonly string[], expected = 2): Promise<string> {
  const { code, stderr } = await start(args);
  expect(code, `${args.join(' ')}: ${stderr}`).toBe(expected);
  return stderr;
}

const MAX_RUN_MS = 60_000;

/** Ends a process that hangs before it has filled the memory. */
async function run(folder: Folder, args: readonly string[]) {
  const child = folder.start(args);
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS);
  const result = await ended(child, '');
  clearTimeout(timer);
  return result;
}

const REASON = { pipe: /it is not a regular file/, device: /it is not a regular file/, folder: /it is a directory/ };

const TARGETS = [
  ['--config', 'odd.toml', '', ['--config', 'odd.toml', 'config', 'check']],
  ['a plugin', 'odd.ts', 'plugins = ["./odd.ts"]', ['config', 'check']],
  ['a section', 'odd.md', '[[defaults.sections]]\nkey = "tea"\nfile = "odd.md"', ['config', 'check']],
  ['a prompt', 'own/persona.md.hbs', '[defaults]\nprompts = "own"', ['prompts', 'check']],
] as const;

describe.each(KINDS)('a %s', SIZED, (kind) => {
  test.each(kind === 'device' ? spread(TARGETS, 1) : TARGETS)('is refused as %s', async (_, name, config, args) => {
    using folder = openFolder();
    mkdirSync(folder.file('own'));
    writeFileSync(folder.file('config.toml'), config);
    put(folder, name, kind);
    const stderr = await refusal(runnerOf(folder, kind), args);
    expect(stderr).toMatch(REASON[kind]);
    expect(stderr).toContain(name.split('/').at(-1));
  });

  if (!IS_FULL && kind !== 'pipe') return;

  test('is no .env, and the bot starts without it', async () => {
    using folder = openFolder();
    put(folder, '.env', kind);
    const { code, stderr } = await run(folder, ['config', 'check']);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/\.env cannot be read/);
  });
});

describe.each(spread(['folder', 'device'] as const, 1))('a %s', SIZED, (kind) => {
  test('is refused as a file with questions or messages', async () => {
    using folder = openFolder();
    const here = ['--conversation', 'terminal:local:main'];
    writeFileSync(folder.file('one.jsonl'), '{"id":1,"author":"Ada","text":"Tea is ready."}\n');
    await folder.run(['import', 'one.jsonl', ...here]);
    put(folder, 'odd', kind);
    const start = runnerOf(folder, kind);
    expect(await refusal(start, ['context', ...here, '--ask-file', 'odd'])).toMatch(REASON[kind]);
    expect(await refusal(start, ['import', 'odd', ...here])).toMatch(REASON[kind]);
    expect(await refusal(start, ['send', 'Look:', '--file', 'odd', ...here])).toMatch(REASON[kind]);
    expect(await refusal(start, ['--data', 'other', 'restore', 'odd'], 1)).toMatch(REASON[kind]);
  });
});

test('questions may come from a pipe', async () => {
  using folder = openFolder();
  const here = ['--conversation', 'terminal:local:main'];
  writeFileSync(folder.file('one.jsonl'), '{"id":1,"author":"Ada","text":"Tea is ready."}\n');
  await folder.run(['import', 'one.jsonl', ...here]);
  put(folder, 'pipe', 'pipe');
  const child = folder.start(['context', ...here, '--ask-file', 'pipe']);
  writeFileSync(folder.file('pipe'), 'What is ready?\n');
  const { code, stdout } = await ended(child, '');
  expect(code).toBe(0);
  expect(stdout).toContain('What is ready?');
});

const OPENED_MS = 3000;
/** On a busy machine. */
const MAX_OPENED_MS = 120_000;

/** Waits until the process has opened the file; where that can't be seen, for as long as that usually takes. */
async function isOpenFor(pid: number | undefined, path: string): Promise<void> {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync('/proc/self/fd')) return await delay(OPENED_MS);
  const isOpen = () => readdirSync(folder).some((fd) => linkOf(join(folder, fd)) === path);
  for (const startedAt = performance.now(); !isOpen(); await delay(20)) {
    if (performance.now() - startedAt > MAX_OPENED_MS) throw new Error(`The process has not opened ${path}`);
  }
}

/** Null if it has just been closed. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

const WAITING: readonly (readonly [string, ...string[]])[] = [
  ['import', 'pipe'],
  ['replay', 'pipe'],
  ['context', '--ask-file', 'pipe'],
];

test.each(WAITING)('a signal ends %s on a pipe without a writer', async (...command) => {
  using folder = openFolder();
  const here = ['--conversation', 'terminal:local:main'];
  writeFileSync(folder.file('one.jsonl'), '{"id":1,"author":"Ada","text":"Tea is ready."}\n');
  await folder.run(['import', 'one.jsonl', ...here]);
  put(folder, 'pipe', 'pipe');
  const child = folder.start([...command, ...here]);
  const end = ended(child);
  await isOpenFor(child.pid, folder.file('pipe'));
  const killer = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS);
  child.kill('SIGTERM');
  const { code, stderr } = await end;
  clearTimeout(killer);
  expect({ code, stderr }).toEqual(
    command[0] === 'context'
      ? { code: 0, stderr: '' }
      : { code: 1, stderr: expect.stringContaining('Stopped before the end of the file.') },
  );
});

test('messages may come from a pipe, also late', async () => {
  using folder = openFolder();
  put(folder, 'pipe', 'pipe');
  const child = folder.start(['import', 'pipe', '--conversation', 'demo:files:chat']);
  const end = ended(child, '');
  await isOpenFor(child.pid, folder.file('pipe'));
  const writer = createWriteStream(folder.file('pipe'));
  writer.write('{"id":1,"author":"Ada","text":"Tea is ready."}\n');
  await delay(100);
  writer.end('{"id":2,"author":"Bo","text":"Thanks."}\n');
  expect(await end).toMatchObject({ code: 0, stderr: 'Imported 2 messages into demo:files:chat.\n' });
});

test('a working folder that was deleted is named', SIZED, async () => {
  using folder = openFolder();
  const gone = folder.file('gone');
  mkdirSync(gone);
  for (const args of spread(['config check', 'chat', 'context', 'doctor'], 2)) {
    const command = `mkdir -p gone && cd gone && rmdir ${gone} && exec ${process.execPath} ${MAIN} ${args}`;
    const child = spawn('sh', ['-c', command], { cwd: folder.path });
    const { code, stdout, stderr } = await ended(child, '');
    expect(code, args).toBe(args === 'doctor' ? 1 : 2);
    expect(stdout + stderr).toContain('the working folder no longer exists. Change to another one');
    expect(stdout + stderr).not.toContain('uv_cwd');
  }
});

test('a folder of prompts that is a file is refused', async () => {
  using folder = openFolder();
  writeFileSync(folder.file('own'), '');
  writeFileSync(folder.file('config.toml'), '[defaults]\nprompts = "own"\n');
  expect((await folder.run(['prompts', 'check'])).stderr).toMatch(/own cannot be used: it is not a folder/);
});
