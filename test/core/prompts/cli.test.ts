import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkPrompts, ejectPrompts, listPrompts } from '../../../src/cli/prompts/prompt-files.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { promptNames } from '../../../src/prompts/variables.ts';

function streams() {
  const written = { stdout: '', stderr: '' };
  return {
    written,
    cli: {
      stdout: { write: (text: string) => (written.stdout += text) },
      stderr: { write: (text: string) => (written.stderr += text) },
    },
  };
}

const temporary = () => mkdtempSync(join(tmpdir(), 'strata-eject-'));

test.runIf(existsSync('/proc/1'))('a folder that the system refuses to create is an error', () => {
  const { cli } = streams();
  const eject = () => ejectPrompts(cli, { names: ['clock'], folder: '/proc/1/nope', language: 'en', force: false });
  expect(eject).toThrow('Cannot write /proc/1/nope/clock.md.hbs: ENOENT');
});

test('a copied prompt equals the built-in one and is editable', () => {
  const folder = temporary();
  const { cli, written } = streams();
  expect(ejectPrompts(cli, { names: ['compactor', 'clock'], folder, language: 'en', force: false })).toBe(0);
  const files = ['clock', 'compactor'].map((name) => join(folder, `${name}.md.hbs`));
  expect(written.stdout.trim().split('\n').sort()).toEqual(files);
  const source = { language: 'en', folder };
  const library = createPromptLibrary({ sources: [source] });
  const english = { language: 'en', folder: '' };
  const variables = {
    tools: true,
    strict: '',
    instruction: '',
    targetWords: 100,
    maxMemories: 12,
    examples: false,
    structured: false,
  };
  expect(library.render('compactor', variables, source).text).toBe(
    library.render('compactor', variables, english).text,
  );
  expect(library.list(source).find((file) => file.name === 'compactor')).toMatchObject({
    origin: 'own',
    outdated: false,
  });
});

test('keeps existing copies unless forced, and reports unknown names', () => {
  const folder = temporary();
  const { cli } = streams();
  const eject = (names: readonly string[], force: boolean) =>
    ejectPrompts(cli, { names, folder, language: 'en', force });
  eject(['clock'], false);
  writeFileSync(join(folder, 'clock.md.hbs'), 'mine {{now}}');
  expect(() => eject([], false)).toThrow(/already exists. Add --force/);
  expect(readFileSync(join(folder, 'clock.md.hbs'), 'utf8')).toBe('mine {{now}}');
  expect(() => eject(['clok'], false)).toThrow(/Did you mean clock\?/);
  eject([], true);
  expect(readFileSync(join(folder, 'clock.md.hbs'), 'utf8')).toContain('Current time');
});

test('the list shows file, hash, origin and outdated copies', () => {
  const folder = temporary();
  ejectPrompts(streams().cli, { names: ['clock'], folder, language: 'en', force: false });
  const copy = join(folder, 'clock.md.hbs');
  writeFileSync(copy, readFileSync(copy, 'utf8').replace(/base [0-9a-f]{12}/, 'base 000000000000'));
  const { cli, written } = streams();
  const agents = [defaultAgent(), defaultAgent({ id: 'other', default: false, prompts: folder })];
  expect(listPrompts(cli, { agents, json: true })).toBe(0);
  const rows = written.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toHaveLength(2 * promptNames.length);
  expect(rows.find((row) => row.agent === 'other' && row.name === 'clock')).toMatchObject({
    file: copy,
    origin: 'own',
    outdated: true,
  });
  const text = streams();
  listPrompts(text.cli, { agents, json: false });
  expect(text.written.stdout).toMatch(/^agent +prompt +hash +origin +file\n/);
  expect(text.written.stdout).toContain('the built-in has changed since');
});

test('the check names every broken prompt and exits with 2', () => {
  const good = streams();
  expect(checkPrompts(good.cli, { agents: [defaultAgent()], json: false })).toBe(0);
  expect(good.written).toEqual({ stdout: `All ${promptNames.length} prompts are valid.\n`, stderr: '' });
  const folder = temporary();
  writeFileSync(join(folder, 'clock.md.hbs'), '{{later}}');
  writeFileSync(join(folder, 'persona.md.hbs'), '{{#if}}');
  const bad = streams();
  const agents = [defaultAgent({ prompts: folder }), defaultAgent({ id: 'other', default: false, prompts: folder })];
  expect(checkPrompts(bad.cli, { agents, json: true })).toBe(2);
  const answer = JSON.parse(bad.written.stdout);
  expect(answer).toMatchObject({ ok: false });
  expect(answer.problems).toHaveLength(2);
});
