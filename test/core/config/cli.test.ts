import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { providers } from '../../../adapters/models/ai-sdk/providers/providers.ts';
import { adapters } from '../../../adapters/registry.ts';
import { checkConfig, showConfig } from '../../../src/cli/setup/config-report.ts';
import { builtInNames } from '../../../src/config/known.ts';

const environment = { KEY: 'sk-hidden-secret', WHO: 'Ada' };

function run(text: string) {
  const file = join(mkdtempSync(join(tmpdir(), 'strata-')), 'config.toml');
  writeFileSync(file, text);
  const written = { stdout: '', stderr: '' };
  const cli = {
    stdout: { write: (line: string) => (written.stdout += line) },
    stderr: { write: (line: string) => (written.stderr += line) },
  };
  return { file, written, cli, load: { file, explicit: true, environment, flags: { data: '/data' } } };
}

const good = `[defaults]
model = "openai:gpt"
persona = "I am \${WHO}"
[defaults.compaction]
background_threshold = 0.7
[providers.openai]
api_key = "env:KEY"
[channels.discord]
token = "plain-literal-token"
people = ["env:KEY"]
`;

test('show --origin prints every value with its origin, no secret', () => {
  const { cli, load, written, file } = run(good);
  expect(showConfig(cli, { load, json: false, origin: true, agent: null })).toBe(0);
  const lines = written.stdout.split('\n').map((line) => line.split(/ {2,}/));
  const row = (path: string) => lines.find(([name]) => name === path)?.slice(1);
  expect(row('agents[main].compaction.background_threshold')).toEqual(['0.7', `${file}:5:24`]);
  expect(row('agents[main].compaction.emergency_threshold')).toEqual(['0.95', 'default']);
  expect(row('agents[main].persona')).toEqual(['"I am ${WHO}"', `${file}:3:11`]);
  expect(row('storage.directory')).toEqual(['"/data"', '--data']);
  expect(row('providers.openai.api_key')).toEqual(['"env:KEY"', `${file}:7:11`]);
  expect(row('channels.discord.token')).toEqual(['"[secret]"', `${file}:9:9`]);
  expect(row('channels.discord.people')).toEqual(['["env:KEY"]', `${file}:10:10`]);
});

test('check names secrets that the file itself contains', async () => {
  const { cli, load, written, file } = run(`[[agents]]
id = "a"
sections = [{ key = "hours", text = "9 to 17" }]
[storage]
url = "postgres://bot:plain-literal-word@db/strata"
[queue]
url = "redis://:\${KEY}@cache"
[providers.openai]
api_key = "env:KEY"
[providers.local]
base_url = "http://local/v1"
api_key = ""
[channels.discord]
token = "plain-literal-token"
`);
  const schemas = new Map([['discord', z.looseObject({})]]);
  expect(await checkConfig(cli, { load, channels: async () => schemas, json: false })).toBe(0);
  expect(written.stderr.split('\n').map((line) => line.split(': ', 3).slice(0, 3))).toEqual([
    ['Warning', `${file}:5:7`, 'storage.url'],
    ['Warning', `${file}:14:9`, 'channels.discord.token'],
    [''],
  ]);
  expect(written.stderr).not.toContain('plain-literal');
});

test('in no form does show print a secret', () => {
  for (const json of [false, true]) {
    for (const origin of [false, true]) {
      const { cli, load, written } = run(good);
      showConfig(cli, { load, json, origin, agent: null });
      expect(written.stdout).not.toMatch(/sk-hidden|plain-literal/);
      expect(written.stdout).toContain('env:KEY');
      if (json) expect(JSON.parse(written.stdout)).toBeTruthy();
    }
  }
});

test('show can be narrowed to one agent', () => {
  const { cli, load, written } = run('[[agents]]\nid = "a"\n[[agents]]\nid = "b"\nmax_steps = 3\n');
  showConfig(cli, { load, json: true, origin: false, agent: 'b' });
  expect(JSON.parse(written.stdout)).toMatchObject({ id: 'b', max_steps: 3 });
  expect(() => showConfig(cli, { load, json: true, origin: false, agent: 'c' })).toThrow(/no agent "c". Known: a, b/);
});

test('check confirms a valid file or prints every error', async () => {
  const schemas = new Map<string, z.ZodType>([
    ['discord', z.strictObject({ token: z.string(), people: z.array(z.string()) })],
  ]);
  const channels = async () => schemas;
  const fine = run(good.replace('plain-literal-token', 'env:KEY'));
  expect(await checkConfig(fine.cli, { load: fine.load, channels, json: false })).toBe(0);
  expect(fine.written).toEqual({ stdout: `${fine.file} is valid.\n`, stderr: '' });

  const none = run('');
  const absent = { ...none.load, file: 'no-such-config.toml', explicit: false };
  expect(await checkConfig(none.cli, { load: absent, channels, json: false })).toBe(0);
  expect(none.written.stdout).toBe('There is no no-such-config.toml; all settings have their defaults.\n');

  const bad = run('[defaults]\nmax_stps = 1\n[channels.discrod]\n[channels.discord]\ntokn = "x"\n[log]\nlevel = "x"\n');
  expect(await checkConfig(bad.cli, { load: bad.load, channels, json: false })).toBe(2);
  expect(bad.written.stderr.trim().split('\n')).toEqual([
    expect.stringContaining('max_stps: unknown key'),
    expect.stringContaining('discrod: unknown channel; did you mean discord?'),
    expect.stringContaining('discord.token: is missing'),
    expect.stringContaining('discord.people: is missing'),
    expect.stringContaining('discord.tokn: unknown key; did you mean token?'),
    expect.stringContaining('log.level: expected'),
  ]);
  expect(bad.written.stdout).toBe('');

  const broken = run('[defaults]\nprompts = "nowhere"\n[channels.discord]\ntokn = "x"\n');
  expect(await checkConfig(broken.cli, { load: broken.load, channels, json: true })).toBe(2);
  const answer = JSON.parse(broken.written.stdout);
  expect(answer.ok).toBe(false);
  expect(answer.problems.join('\n')).toMatch(
    /did you mean token\?[\s\S]*nowhere cannot be used: there is no such folder/,
  );
});

test('an unreadable file is an error of its own', async () => {
  const { cli, load } = run('');
  const missing = { ...load, file: '/no/such/config.toml' };
  await expect(checkConfig(cli, { load: missing, channels: async () => new Map(), json: false })).rejects.toThrow(
    /does not exist/,
  );
});

test('check refuses unknown tools and engines, suggesting the nearest name', async () => {
  const text =
    '[defaults]\ntools = ["memory_save", "memory_recal"]\n[[agents]]\nid = "a"\n[[agents]]\nid = "b"\nengine = "stack"\n';
  const { cli, load, written, file } = run(text);
  expect(await checkConfig(cli, { load, channels: async () => new Map(), json: false })).toBe(2);
  expect(written.stderr.trim().split('\n')).toEqual([
    `${file}:2:9: defaults.tools: there is no tool "memory_recal"; did you mean memory_recall?`,
    `${file}:7:10: agents[b].engine: there is no context engine "stack"; did you mean stacked?`,
  ]);
});

test('check refuses unknown providers wherever a model is named', async () => {
  const text = `[defaults]
model = ["opneai:gpt", "away:m", "offline:demo"]
[defaults.compaction]
model = "antropic:claude"
[[agents]]
id = "a"
[[agents.routes]]
match = "*:1"
compaction = { model = "olama:qwen" }
[[agents]]
id = "b"
model = "auto"
[providers.away]
base_url = "https://models.example/v1"
`;
  const { cli, load, written, file } = run(text);
  expect(await checkConfig(cli, { load, channels: async () => new Map(), json: false })).toBe(2);
  expect(written.stderr.trim().split('\n')).toEqual([
    `${file}:2:10: defaults.model[0]: there is no provider "opneai"; did you mean openai?`,
    `${file}:4:9: defaults.compaction.model: there is no provider "antropic"; did you mean anthropic?`,
    `${file}:9:24: agents[a].routes[0].compaction.model: there is no provider "olama"; did you mean ollama?`,
  ]);
  const outside = { ...run('').load, environment: { STRATA_MODEL: 'opneai:gpt' } };
  expect(await checkConfig(cli, { load: outside, channels: async () => new Map(), json: false })).toBe(2);
  expect(written.stderr).toContain('environment STRATA_MODEL: there is no provider "opneai"; did you mean openai?');
});

test('the configuration knows every provider that opens models', () => {
  expect(builtInNames.providers.toSorted()).toEqual(
    [...Object.keys(providers), ...Object.keys(adapters.builtInModels)].toSorted(),
  );
});

test.each([
  'https://ada:hunter22@models.example/v1',
  'https://hunter22@models.example/v1',
  'https://models.example/v1?api_key=hunter22',
  'https://ada:hunt%65r22@models.example/v1',
])('show hides secrets in %s', (url) => {
  for (const json of [false, true]) {
    for (const origin of [false, true]) {
      const { cli, load, written } = run(
        `[providers.local]\nbase_url = "${url}"\n[storage]\nurl = "postgres://s:hunter22@db/x"`,
      );
      expect(showConfig(cli, { load, json, origin, agent: null })).toBe(0);
      expect(written.stdout).not.toMatch(/hunter22|hunt%65r22/);
      expect(written.stdout).toContain('models.example');
    }
  }
});

test('a mistyped address is reported without its password', async () => {
  const { cli, load, written } = run('[providers.local]\nbase_url = "htps://ada:hunter22@models.example"');
  expect(await checkConfig(cli, { load, channels: async () => new Map(), json: false })).not.toBe(0);
  expect(written.stdout + written.stderr).toContain('models.example');
  expect(written.stdout + written.stderr).not.toContain('hunter22');
});
