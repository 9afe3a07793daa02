import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CommandName } from '../../src/cli/names.ts';
import { jsonLines, openFolder } from './strata.ts';

const HERE = ['--conversation', 'terminal:local:main'];

/** How each command is called where there is no data. Null: it may create the data, or never opens them. */
const READING: Record<CommandName, readonly (readonly string[])[] | null> = {
  start: null,
  chat: null,
  send: null,
  import: [['import', 'missing.jsonl', ...HERE]],
  replay: [['replay', 'missing.jsonl']],
  recall: [['recall', ...HERE]],
  context: [
    ['context', ...HERE],
    ['context', ...HERE, '--ask', 'Who is Ada?'],
  ],
  why: [['why', ...HERE]],
  'what-if': [['what-if', ...HERE]],
  summaries: [
    ['summaries', 'list', ...HERE],
    ['summaries', 'open', 's1', ...HERE],
  ],
  transcript: [['transcript', ...HERE]],
  cost: [['cost']],
  memory: [
    ['memory', 'list', ...HERE],
    ['memory', 'search', 'tea', ...HERE],
    ['memory', 'show', '01jabc', ...HERE],
    ['memory', 'export', '--person', 'ada', ...HERE],
    ['memory', 'held', ...HERE, '--json'],
    ['memory', 'forget', 'tea', ...HERE],
    ['memory', 'add', 'Ada prefers tea.', ...HERE],
  ],
  config: null,
  prompts: null,
  backup: [['backup', 'backup.jsonl.gz']],
  restore: [['restore', 'missing.jsonl.gz']],
  inspect: [['inspect']],
  doctor: [['doctor', '--offline']],
};

const CALLS = Object.values(READING).flatMap((calls) => calls ?? []);

describe('a folder without data', () => {
  test.each(CALLS)('is not created by strata %s %s', async (...args) => {
    using folder = openFolder();
    const { stdout, stderr, code } = await folder.run([...args, '--data', 'typo']);
    expect(readdirSync(folder.path)).toEqual([]);
    expect(`${stdout}${stderr}`).toMatch(/here is no data at \S*typo|Cannot read missing|missing\.jsonl\.gz cannot be/);
    expect(code).toBe(args[0] === 'doctor' ? 0 : args[0] === 'restore' ? 1 : 2);
  });

  test('is a warning of the doctor only if named', async () => {
    using folder = openFolder();
    const dataOf = async (...args: readonly string[]) => {
      const { stdout } = await folder.run(['doctor', '--json', '--offline', ...args]);
      const [checkup] = jsonLines<{ readonly findings: readonly { readonly checkId: string }[] }>(stdout);
      return checkup?.findings.find(({ checkId }) => checkId === 'data');
    };
    expect(await dataOf('--data', 'typo')).toMatchObject({
      severity: 'warn',
      message: expect.stringContaining(`no data at ${folder.file('typo')} yet`),
      fixHint: expect.stringContaining('--data'),
    });
    expect(await dataOf()).toMatchObject({
      severity: 'ok',
      message: expect.stringContaining('first start creates it'),
    });
    writeFileSync(folder.file('note.txt'), 'not a folder');
    expect(await dataOf('--data', 'note.txt/data')).toMatchObject({
      severity: 'fail',
      message: expect.stringContaining('note.txt is not a directory'),
    });
    expect(existsSync(folder.file('data'))).toBe(false);
  });

  test('stays without data if it exists and is empty', async () => {
    using folder = openFolder();
    mkdirSync(folder.file('empty'));
    for (const args of [['cost'], ['doctor', '--offline']]) await folder.run([...args, '--data', 'empty']);
    expect(readdirSync(folder.file('empty'))).toEqual([]);
  });
});
