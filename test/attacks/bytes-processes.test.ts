import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createRedisMock } from 'js-redis-server';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../core/compaction/compaction.world.ts';
import { type Ended, ended, type Folder, openFolder } from '../e2e/strata.ts';
import { filesWith } from '../support/on-disk.ts';
import { IS_FULL, SIZED, spread } from '../support/size.ts';

/** A bot at work and the command line as two processes on one folder: what either deletes is in no file afterwards. */

vi.setConfig({ testTimeout: 120_000 });

const SECRET = 'kingfisher';
const HERE = ['--conversation', 'terminal:local:main'] as const;

/** The first request waits for the file `go`. With the file `fail`, requests with the secret fail and quote it. */
const WAITING = `import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { definePlugin } from 'stratabot';

export default definePlugin({
  name: 'waiting',
  hooks: {
    model: async ({ messages }, next) => {
      const isFirst = !existsSync('asked');
      writeFileSync('asked', '');
      while (isFirst && !existsSync('go')) await delay(10);
      const said = JSON.stringify(messages);
      if (existsSync('fail') && said.includes('kingfisher')) throw new Error('rejected: ' + said);
      return await next();
    },
  },
});
`;

interface Bot extends AsyncDisposable {
  readonly folder: Folder;
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<Ended>;
  /** What it has printed. */
  text(): string;
}

async function openBot(): Promise<Bot> {
  const redis = await createRedisMock();
  const folder = openFolder({ STRATA_QUEUE_URL: redis.url });
  writeFileSync(folder.file('waiting.ts'), WAITING);
  writeFileSync(folder.file('config.toml'), 'plugins = ["./waiting.ts"]\n');
  const child = folder.start([]);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const end = ended(child);
  return {
    folder,
    child,
    end,
    text: () => text,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await end;
      await redis.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Ada tells the secret, and the bot asks its model. */
async function tell({ folder, child }: Bot): Promise<void> {
  child.stdin.write(`The code of my gate is ${SECRET}.\n`);
  await until(() => existsSync(folder.file('asked')));
}

async function forget({ folder }: Bot): Promise<void> {
  const { code, stderr } = await folder.run(['memory', 'forget', '#1', ...HERE, '--yes']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

const go = ({ folder }: Bot) => writeFileSync(folder.file('go'), '');
const fail = ({ folder }: Bot) => writeFileSync(folder.file('fail'), '');

/** Files of the store with the secret. The log has what a plugin throws. */
const stored = ({ folder }: Bot) =>
  filesWith(folder.file('data'), SECRET)
    .split(' ')
    .filter((name) => name !== '' && name !== 'strata.log');

/** Waits for what goes on in the background, and for a scrub that was put off. */
async function isGone(bot: Bot): Promise<void> {
  await until(() => stored(bot).length === 0);
}

/** The bot answers something else, so everything before it is over. */
async function rest(bot: Bot): Promise<void> {
  const { child } = bot;
  child.stdin.write('What is a boat?\n/status\n');
  await until(() => bot.text().includes('Window'));
}

const OUTCOMES = [
  ['answers', []],
  ['fails with an error that quotes it', [fail]],
] as const;

describe('what the command line forgets', SIZED, () => {
  it.each(spread(OUTCOMES, 1))('while the bot %s', async (_, outcome) => {
    await using bot = await openBot();
    await tell(bot);
    await forget(bot);
    for (const happen of outcome) happen(bot);
    go(bot);
    await rest(bot);
    await isGone(bot);
    const { stdout } = await bot.folder.run(['transcript', ...HERE]);
    expect(stdout).toContain('What is a boat?');
  });

  if (!IS_FULL) return;

  it('after an error has quoted it', async () => {
    await using bot = await openBot();
    await tell(bot);
    fail(bot);
    go(bot);
    await rest(bot);
    expect(stored(bot)).not.toEqual([]);
    await forget(bot);
    await isGone(bot);
  });
});

it('what the bot erases beside another process is gone', async () => {
  await using bot = await openBot();
  await tell(bot);
  go(bot);
  await rest(bot);
  const other = bot.folder.start([]);
  const end = ended(other);
  await once(other.stderr, 'data');
  expect(stored(bot)).not.toEqual([]);
  bot.child.stdin.write('/privacy erase yes\n');
  await isGone(bot);
  other.kill('SIGKILL');
  await end;
});
