import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { ENVIRONMENT } from '../support/environment.ts';
import { findRedis, startRedis } from '../support/redis-server.ts';
import { ended, type Folder, MAIN, openFolder } from './strata.ts';

/** With the redirections of a shell. */
function redirected(folder: Folder, args: readonly string[], redirections: string) {
  const script = `exec "$0" "$@" ${redirections}`;
  return spawn('sh', ['-c', script, process.execPath, MAIN, ...args], { cwd: folder.path, env: ENVIRONMENT });
}

test('the bot goes on when nobody reads its log', async () => {
  using folder = openFolder();
  const bot = folder.start(['start', '--log-level', 'debug']);
  bot.stderr.destroy();
  bot.stdin.write('My name is Ada.\n');
  const [first]: unknown[] = await once(bot.stdout, 'data');
  expect(String(first)).toMatch(/\S/);
  bot.stdin.end('/status\n');
  const [code]: unknown[] = await once(bot, 'exit');
  expect(code).toBe(0);
});

test.skipIf(process.platform !== 'linux')('the bot goes on while its log’s disk is full', async () => {
  using folder = openFolder();
  const bot = redirected(folder, ['start', '--log-level', 'debug'], '2>/dev/full');
  const { code, stdout } = await ended(bot, 'My name is Ada.\n/status\n');
  expect(stdout).toContain('2 stored');
  expect(code).toBe(0);
});

test.skipIf(process.platform !== 'linux')('output that a full disk refuses is one sentence', async () => {
  using folder = openFolder();
  const { code, stderr } = await ended(redirected(folder, ['config', 'show'], '>/dev/full'), '');
  expect(stderr).toBe('strata: The output cannot be written: ENOSPC: no space left on device, write.\n');
  expect(code).toBe(1);
});

test.skipIf(process.platform === 'win32')('a closed terminal ends the bot cleanly', async () => {
  using folder = openFolder();
  const bot = folder.start(['start']);
  const closed = ended(bot);
  bot.stdin.write('My name is Ada.\n');
  await once(bot.stdout, 'data');
  bot.kill('SIGHUP');
  const { code, stderr } = await closed;
  expect(stderr).not.toContain('Error');
  expect(code).toBe(0);
});

const UNREADABLE: readonly (readonly [string, string, (path: string) => void])[] = [
  ['folder', 'it is a directory', (path) => void mkdirSync(path)],
  ['dangling link', 'it does not exist', (path) => symlinkSync('missing', path)],
  ['UTF-16 file', 'it is not valid UTF-8 text', (path) => writeFileSync(path, '\ufeffA=b\n', 'utf16le')],
];

test.each(UNREADABLE)('a %s as environment file is named', async (_, reason, put) => {
  using folder = openFolder();
  const start = () => folder.runProcess(['config', 'show']);
  expect((await start()).stderr).toBe('');
  put(folder.file('.env'));
  const { code, stderr } = await start();
  expect(code).toBe(0);
  expect(stderr).toBe(
    `strata: .env cannot be read, so its variables are not set: ${reason}. Save it as a UTF-8 text file that this user may read.\n`,
  );
});

test('an environment file may begin with a byte order mark', async () => {
  using folder = openFolder({ STRATA_LOG_LEVEL: 'warn' });
  writeFileSync(folder.file('.env'), '\ufeffSTRATA_DATA="./own" # mine\r\nSTRATA_LOG_LEVEL=debug\r\n');
  const { stdout } = await folder.runProcess(['config', 'show', '--origin']);
  expect(stdout).toMatch(/storage\.directory +".*own" +environment STRATA_DATA\n/);
  expect(stdout).toMatch(/log\.level +"warn" /);
});

test('warnings about Redis are in the log, once', async ({ skip }) => {
  const program = await findRedis();
  if (program.kind === 'missing') return skip(program.reason);
  await using server = await startRedis(program);
  const redis = new Redis(server.url);
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  redis.disconnect();
  using folder = openFolder({ STRATA_QUEUE_URL: server.url });
  const { code, stdout, stderr } = await folder.runProcess(['chat'], 'My name is Ada.\n/status\n');
  expect([code, stderr.split('\n')]).toEqual([0, [expect.stringContaining('/quit'), '']]);
  expect(stdout).not.toContain('Eviction');
  const log = readFileSync(folder.file('data/strata.log'), 'utf8');
  const warned = log.split('\n').filter((line) => line.includes('queue.warning'));
  expect(warned).toEqual([expect.stringContaining('Eviction policy is allkeys-lru')]);
});
