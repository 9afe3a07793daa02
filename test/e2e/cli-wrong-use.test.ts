import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openFolder } from './strata.ts';

test.each([['backup', 'out.jsonl'], ['context'], ['memory', 'list', '--conversation', 'terminal:local:main']])(
  '%s makes no data where there is none',
  async (...args) => {
    using folder = openFolder();
    const { code, stdout, stderr } = await folder.run([...args, '--data', 'typo']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^strata: There is no data at .*typo\. .*--data/);
    expect(existsSync(folder.file('typo'))).toBe(false);
    expect(existsSync(folder.file('out.jsonl'))).toBe(false);
  },
);

test('a wrong flag is blamed on no file', async () => {
  using folder = openFolder();
  const { code, stderr } = await folder.run(['--model', 'gpt'], '');
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^strata: The configuration has 1 error:\n {2}--model: expected "auto" or provider:model.*"gpt"\n$/,
  );
  expect(stderr).not.toContain('config.toml');
});

test.each([
  [['cofig', '--help'], 'There is no command "cofig". Did you mean config?'],
  [['cofig', 'check', '-h'], 'There is no command "cofig". Did you mean config?'],
  [['--help', 'qqqq'], 'There is no command "qqqq". `strata --help` lists the commands.'],
  [['--data', 'x', 'cofig', '--help'], 'There is no command "cofig". Did you mean config?'],
  [['config', 'chek', '--help'], 'There is no command "config chek". Did you mean config check?'],
  [['config', 'chek'], 'There is no command "config chek". Did you mean config check?'],
  [['discord', 'invit', '--help'], 'There is no command "discord invit". Did you mean discord invite?'],
])('help for an unknown command names the nearest: %j', async (args, problem) => {
  using folder = openFolder();
  expect(await folder.run(args)).toEqual({ code: 2, stdout: '', stderr: `strata: ${problem}\n` });
});

test.each([
  [['--help']],
  [['help']],
  [['config', '--help']],
  [['config', 'check', '--help']],
  [['--user', 'Bo', '-h']],
])('help is shown for what exists: %j', async (args) => {
  using folder = openFolder();
  const { code, stdout, stderr } = await folder.run(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: strata/);
});

test.each([
  [['--data'], "option '--data <dir>' argument missing"],
  [['--bogus'], "unknown option '--bogus'"],
  [['import', 'chat.jsonl'], "required option '--conversation <key>' not specified"],
])('wrong options are reported like other mistakes: %j', async (args, problem) => {
  using folder = openFolder();
  const stderr = `strata: ${problem}\n(use --help for details)\n`;
  expect(await folder.runProcess(args)).toEqual({ code: 2, stdout: '', stderr });
});

test('a role from a file with CRLF is understood', async () => {
  using folder = openFolder({ STRATA_ROLE: 'all\r\n' });
  expect(await folder.run(['start'], '')).toMatchObject({ code: 0 });
});
