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
