import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ENVIRONMENT } from '../support/environment.ts';
import { ended, MAIN, openFolder } from './strata.ts';

/** `script` runs a command in its own terminal, as a person would. */
const hasScript = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

describe.skipIf(!hasScript)('at a real terminal', () => {
  const open = (folder: { readonly path: string }, args = '', columns = 0) => {
    // Without `exec`, Ctrl-C ends the shell, too.
    const command = `${columns === 0 ? '' : `stty cols ${columns}; `}exec ${process.execPath} ${MAIN} ${args}`;
    const env = { ...ENVIRONMENT, TERM: 'xterm' };
    return spawn('script', ['-qefc', command, '/dev/null'], { cwd: folder.path, env });
  };
  /** Waits until the screen has shown the text. */
  const shown = (child: ReturnType<typeof open>, text: string | RegExp) =>
    new Promise<void>((resolve) => {
      let all = '';
      const look = (chunk: Buffer) => {
        all += chunk.toString();
        if (all.match(text) === null) return;
        child.stdout.off('data', look);
        resolve();
      };
      child.stdout.on('data', look);
    });

  test('a changed configuration with errors is shown', async () => {
    using folder = openFolder();
    writeFileSync(folder.file('config.toml'), '[defaults]\nmax_steps = 3\n');
    const child = open(folder);
    const end = ended(child);
    await shown(child, '> ');
    writeFileSync(folder.file('config.toml'), '[defaults]\nmax_stps = 4\n');
    await shown(child, /last valid configuration[\s\S]*config\.toml:2:12: [\s\S]*max_steps\?/);
    writeFileSync(folder.file('config.toml'), '[log]\nlevel = "warn"\n');
    await shown(child, /need a restart: log/);
    child.stdin.write('\u0004');
    expect((await end).code).toBe(0);
  });

  test('a reply streams above the prompt once; Ctrl-D exits 0', async () => {
    using folder = openFolder();
    const child = open(folder);
    const end = ended(child);
    await shown(child, '> ');
    child.stdin.write('My name is Ada.\r');
    await shown(child, /Strata:[\s\S]*Ada[\s\S]*> /);
    child.stdin.write('/status\r');
    await shown(child, 'Window');
    child.stdin.write('\u0004');
    const { code, stdout } = await end;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S*offline:demo \(.*\) · data · \/help, \/demo, \/quit\r?$/m);
    expect(stdout.match(/Strata:/g)).toHaveLength(1);
  });

  test('Ctrl-C ends in order, and nothing said is lost', async () => {
    using folder = openFolder();
    const child = open(folder);
    const end = ended(child);
    await shown(child, '> ');
    child.stdin.write('I prefer tea.\r');
    await delay(50);
    child.stdin.write('\u0003');
    expect((await end).code).toBe(0);
    const { stdout } = await folder.run(['transcript', '--conversation', 'terminal:local:main']);
    expect(stdout).toContain('Ada: I prefer tea.');
  });

  test.each([
    ['Ctrl-C', '\u0003', 1, 'Nothing was deleted.', 1],
    ['Ctrl-D', '\u0004', 1, 'Nothing was deleted.', 1],
    ['no', 'n\r', 1, 'Nothing was deleted.', 1],
    ['yes', 'Y\r', 0, 'Forgotten', 0],
  ])('asked before deleting, %s is an answer', async (_name, keys, code, words, left) => {
    using folder = openFolder();
    const place = ['--conversation', 'terminal:local:main'];
    await folder.run(['chat'], 'I prefer tea.\n');
    const child = open(folder, `memory forget tea ${place.join(' ')}`);
    const end = ended(child);
    await shown(child, 'Delete for good');
    child.stdin.write(keys);
    const { code: given, stdout } = await end;
    expect(given).toBe(code);
    expect(stdout).toContain(words);
    const { stdout: said } = await folder.run(['transcript', ...place]);
    expect(said.match(/I prefer tea/g) ?? []).toHaveLength(left);
  });

  test('the greeting breaks between words', async () => {
    using folder = openFolder();
    await folder.run([], 'Hello.\n');
    const child = open(folder, '', 48);
    const end = ended(child);
    await shown(child, '> ');
    child.stdin.write('\u0004');
    const [first, second, third, fourth] = (await end).stdout.split(/\r?\n/);
    expect([first, second]).toEqual(['offline:demo (no API key is set) · data · /help,', '/demo, /quit']);
    expect(`${third} ${fourth}`).toMatch(/^The conversation continues after 2 messages, the last of \d/);
    expect(third?.length).toBeLessThanOrEqual(48);
  });

  test('the greeting breaks between words in a narrow terminal', async () => {
    using folder = openFolder();
    const child = open(folder, '', 20);
    const end = ended(child);
    await shown(child, '> ');
    child.stdin.write('\u0004');
    const rows = (await end).stdout.split(/\r?\n/);
    expect(rows.slice(0, 4)).toEqual([
      'offline:demo (no API',
      'key is set) · data ·',
      '/help, /demo, /quit',
      expect.anything(),
    ]);
  });

  test('a replay shows its progress', async () => {
    using folder = openFolder();
    const rows = Array.from({ length: 30 }, (_, index) => ({ id: index, author: 'Ada', text: `Line ${index}.` }));
    const { writeFileSync } = await import('node:fs');
    writeFileSync(folder.file('chat.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { code, stdout } = await ended(open(folder, 'replay chat.jsonl'), '');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\[█+\] 100 % 30\/30/);
  });
});
