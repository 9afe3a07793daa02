import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { channelProblems } from '../../../src/config/channels.ts';
import { agentDefaults, defaultAgent, generalDefaults } from '../../../src/config/defaults.ts';
import { describeOrigin } from '../../../src/config/layers.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../../src/config/load.ts';
import { isStrataError } from '../../../src/domain/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'strata-config-'));
let files = 0;

function write(text: string | Uint8Array): string {
  files += 1;
  const file = join(folder, `config-${files}.toml`);
  writeFileSync(file, text);
  return file;
}

type Given = Partial<Omit<LoadOptions, 'file' | 'explicit'>>;

function load(text: string | Uint8Array, given: Given = {}): LoadedConfig {
  return loadConfig({ file: write(text), explicit: true, environment: {}, flags: {}, ...given });
}

/** Every problem, with the file's name shortened to `config.toml`. */
function problemsOf(text: string | Uint8Array, given: Given = {}): readonly string[] {
  const file = write(text);
  try {
    loadConfig({ file, explicit: true, environment: {}, flags: {}, ...given });
  } catch (error) {
    if (isStrataError(error, 'CONFIG_INVALID')) {
      return error.data.problems.map((problem) => problem.replaceAll(file, 'config.toml'));
    }
    throw error;
  }
  return [];
}

function main(loaded: LoadedConfig) {
  const agent = loaded.config.agents[0];
  if (!agent) throw new Error('no agent');
  return agent;
}

describe('what is missing is at its default', () => {
  test('no file gives one agent, main, made of defaults', () => {
    const file = join(folder, 'none.toml');
    const loaded = loadConfig({ file, explicit: false, environment: {}, flags: {} });
    expect(loaded.config.agents).toEqual([{ id: 'main', default: true, routes: [], ...agentDefaults }]);
    expect(loaded.config).toMatchObject({
      ...generalDefaults,
      storage: { directory: join(folder, 'data') },
      channels: {},
    });
    expect(loaded.source.found).toBe(false);
  });

  test('a file that was named must exist', () => {
    const options = { file: join(folder, 'none.toml'), explicit: true, environment: {}, flags: {} };
    expect(() => loadConfig(options)).toThrow(/Cannot read the configuration .*none\.toml: it does not exist/);
    expect(() => loadConfig({ ...options, file: folder })).toThrow(/it is a directory/);
  });

  test('a link to a missing file is no missing file', () => {
    const file = join(folder, 'dangling.toml');
    symlinkSync('nowhere.toml', file);
    const options = { file, explicit: false, environment: {}, flags: {} };
    expect(() => loadConfig(options)).toThrow(/Cannot read the configuration .*dangling\.toml: it does not exist/);
  });

  test('accepts empty files, comments, byte order marks and CRLF', () => {
    expect(main(load(''))).toEqual(defaultAgent());
    expect(main(load('# nothing\r\n'))).toEqual(defaultAgent());
    expect(main(load('\ufeff[defaults]\r\nmax_steps = 3\r\n')).max_steps).toBe(3);
  });

  test('bytes that are not UTF-8 are refused', () => {
    const bytes = Buffer.from([...Buffer.from('[defaults]\npersona = "'), 0xff, 0xfe, ...Buffer.from('"\n')]);
    expect(() => load(bytes)).toThrow(/it is not valid UTF-8 text\. Save it as UTF-8\./);
  });
});

describe('layers', () => {
  const text = `
[defaults]
model = "openai:a"
max_steps = 4
[defaults.compaction]
background_threshold = 0.6
[[agents]]
id = "one"
tools = ["blob_read"]
[agents.compaction]
aggressive_threshold = 0.7
[[agents]]
id = "two"
max_steps = 5
`;

  // Shows: S32
  test('agents override defaults; tables merge, lists are replaced', () => {
    const [one, two] = load(text).config.agents;
    expect(one).toMatchObject({ model: 'openai:a', max_steps: 4, tools: ['blob_read'] });
    expect(one?.compaction).toMatchObject({
      background_threshold: 0.6,
      aggressive_threshold: 0.7,
      emergency_threshold: 0.95,
    });
    expect(two).toMatchObject({ model: 'openai:a', max_steps: 5, tools: agentDefaults.tools });
    expect(two?.compaction).toMatchObject({ background_threshold: 0.6, aggressive_threshold: 0.85 });
  });

  test('environment above the file, flags above the environment', () => {
    const environment = {
      STRATA_MODEL: 'openai:b',
      STRATA_LOG_LEVEL: 'debug',
      STRATA_DATA: '/tmp/from-environment',
      STRATA_QUEUE_URL: 'redis://localhost',
    };
    const fromEnvironment = load(text, { environment });
    expect(fromEnvironment.config.agents.map((agent) => agent.model)).toEqual(['openai:b', 'openai:b']);
    expect(fromEnvironment.config).toMatchObject({
      log: { level: 'debug' },
      storage: { directory: '/tmp/from-environment' },
      queue: { url: 'redis://localhost' },
    });
    const flags = { model: 'openai:c', data: '/tmp/from-flag', logLevel: 'error' };
    expect(load(text, { environment, flags }).config).toMatchObject({
      agents: [{ model: 'openai:c' }, { model: 'openai:c' }],
      log: { level: 'error' },
      storage: { directory: '/tmp/from-flag' },
      queue: { url: 'redis://localhost' },
    });
    expect(main(load(text, { environment: { STRATA_MODEL: '' } })).model).toBe('openai:a');
  });

  test('each value knows where it came from', () => {
    const loaded = load(text, { environment: { STRATA_DATA: '/d' }, flags: { model: 'openai:c' } });
    const origin = (...path: (string | number)[]) => describeOrigin(loaded.originOf(path), 'config.toml');
    expect(origin('agents', 0, 'compaction', 'background_threshold')).toBe('config.toml:6:24');
    expect(origin('agents', 0, 'compaction', 'aggressive_threshold')).toBe('config.toml:11:24');
    expect(origin('agents', 0, 'compaction', 'emergency_threshold')).toBe('default');
    expect(origin('agents', 1, 'max_steps')).toBe('config.toml:14:13');
    expect(origin('agents', 1, 'id')).toBe('config.toml:13:6');
    expect(origin('agents', 0, 'model')).toBe('--model');
    expect(origin('storage', 'directory')).toBe('environment STRATA_DATA');
    expect(origin('log', 'level')).toBe('default');
  });

  test('resolves folders from the file or from the command’s folder', () => {
    const loaded = load('[defaults]\nprompts = "mine"\n[storage]\ndirectory = "store"\n');
    expect(main(loaded).prompts).toBe(join(folder, 'mine'));
    expect(loaded.config.storage.directory).toBe(join(folder, 'store'));
    expect(load('', { flags: { data: 'here' } }).config.storage.directory).toBe(join(process.cwd(), 'here'));
  });

  test('the default agent is the marked one or the first', () => {
    const defaults = (text: string) => load(text).config.agents.map((agent) => agent.default);
    expect(defaults('[[agents]]\nid = "a"\n[[agents]]\nid = "b"\n')).toEqual([true, false]);
    expect(defaults('[[agents]]\nid = "a"\n[[agents]]\nid = "b"\ndefault = true\n')).toEqual([false, true]);
    expect(problemsOf('[[agents]]\nid="a"\ndefault=true\n[[agents]]\nid="b"\ndefault=true\n')).toEqual([
      'config.toml:6:9: agents[b].default: only one agent can be the default; a is already',
    ]);
  });
});

describe('errors', () => {
  test('reports all at once, with positions and suggestions', () => {
    expect(
      problemsOf(`[default]
[defaults]
background_threshold = 0.5
[defaults.compaction]
  agressive_threshold = 0.9
  emergency_threshold = 1.5
[[agents]]
id = "a"
context_window = "x"
mode = "mentoin"
[agents.compaction]
background_threshold = "0.8"
[[agents]]
max_steps = 1.5
`),
    ).toEqual([
      'config.toml:1:2: default: unknown key; did you mean defaults?',
      'config.toml:3:24: defaults.background_threshold: unknown key; did you mean defaults.compaction.background_threshold?',
      'config.toml:5:25: defaults.compaction.agressive_threshold: unknown key; did you mean aggressive_threshold?',
      'config.toml:6:25: defaults.compaction.emergency_threshold: expected at most 1, got 1.5',
      'config.toml:9:18: agents[a].context_window: expected a whole number above 0, or "auto", got "x"',
      'config.toml:10:8: agents[a].mode: expected "mention", "active" or "observe", got "mentoin"; did you mean "mention"?',
      'config.toml:12:24: agents[a].compaction.background_threshold: expected a number, got "0.8"',
      'config.toml:13:3: agents[1].id: is missing',
      'config.toml:14:13: agents[1].max_steps: expected a whole number, got 1.5',
    ]);
  });

  test.each([
    [
      'storage.url',
      'postgres://strata:p#ss@db/strata',
      /is not a valid URL; .* write %23 for #.*"postgres:\/\/\*\*\*@db\/strata"$/,
    ],
    ['queue.url', 'redis://:p#ss@cache', /is not a valid URL; .* %40 for @$/],
    ['storage.url', 'postgres://u:secr@et/p#ss@db/strata', /is not a valid URL; .*"postgres:\/\/\*\*\*@db\/strata"$/],
    ['queue.url', 'redis://u:12/p#ss@cache', /is not a valid URL; .* %40 for @$/],
    ['queue.url', 'redis://u:12?secret@cache', /is not a valid URL; .* %40 for @$/],
    ['storage.url', 'postgres://u:secr@et?p%23ss@db/strata', /is not a valid URL; .*"postgres:\/\/\*\*\*@db\/strata"$/],
    [
      'storage.url',
      'postgres://u:1/2@db/strata?password=secret',
      /is not a valid URL; .*"postgres:\/\/\*\*\*@db\/strata\?password=\*\*\*"$/,
    ],
    ['queue.url', 'redis://one:1,two:2', /names several hosts.*one server/],
    ['queue.url', 'redis://:secret@one,two/0', /names several hosts.*one server/],
    ['storage.url', 'postgres://u:p@one:1,two:2/strata', /names several hosts.*one server/],
    ['queue.url', 'redis://cache/main', /expected a number as the database of Redis/],
    [
      'storage.directory',
      'postgres://strata:secret@db/strata',
      /expected a folder; for the URL.*"postgres:\/\/\*\*\*@db/,
    ],
    ['storage.directory', '~/strata', /expected a folder; write the path of the home folder/],
  ])('%s "%s" is refused', (path, value, problem) => {
    const [table, key] = path.split('.');
    const problems = problemsOf(`[${table}]\n${key} = "${value}"\n`);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems[0]).toMatch(/^config\.toml:2:\d+: /);
    expect(problems[0]).not.toMatch(/p#ss|secret/);
  });

  test.each([
    'redis://cache',
    'redis://:a%23b@cache/3',
    'postgresql:///strata?host=/run',
    'postgres://a:b%40c@[::1]/d',
    'postgres://db/strata?user=me@corp&host=/run/a@b',
  ])('a queue may be at "%s"', (url) => expect(problemsOf(`[queue]\nurl = "${url}"\n`)).toEqual([]));

  test.each([
    ['["a:1", "a:1"]', 'expected each model once'],
    ['["a:1", "a:2", "a:3", "a:4", "a:5", "a:6"]', 'a list of up to 5 models'],
  ])('the models %s are refused', (models, problem) => {
    expect(problemsOf(`[defaults]\nmodel = ${models}\n`)).toEqual([expect.stringContaining(problem)]);
  });

  test('broken TOML names line and column', () => {
    expect(problemsOf('[defaults]\nmodel = "a"\nmax_steps = 1_\n')).toEqual([
      expect.stringMatching(/^config\.toml:3:\d+: unfinished numeric value$/),
    ]);
    expect(problemsOf('[defaults]\nmodel = "openai:a"\nmodel = "openai:b"\n')).toEqual([
      expect.stringMatching(/^config\.toml:3:\d+: /),
    ]);
    expect(problemsOf('[defaults')).toHaveLength(1);
  });

  test('reports problems beside a date that no calendar has', () => {
    const loaded = load('[channels.discord]\nsince = 2026-02-30\n');
    const schema = z.strictObject({ token: z.string() });
    expect(channelProblems(loaded, new Map([['discord', schema]]))).toEqual([
      `${loaded.source.file}: channels.discord.token: is missing`,
      `${loaded.source.file}: channels.discord.since: unknown key`,
    ]);
  });

  test('locates keys in inline tables and dotted names', () => {
    expect(problemsOf('defaults = { compaction = { stack_shore = 0.1 } }\n')).toEqual([
      'config.toml:1:43: defaults.compaction.stack_shore: unknown key; did you mean stack_share?',
    ]);
    expect(problemsOf('defaults.compaction.stack_share = 2\n')).toEqual([
      'config.toml:1:35: defaults.compaction.stack_share: expected at most 1, got 2',
    ]);
  });

  test('locates a table that only longer headers name', () => {
    expect(problemsOf('[modles.local.deep]\nurl = "a"\n')).toEqual(['config.toml:1:2: modles: unknown key']);
    expect(problemsOf('[storge.a]\nurl = "a"\n[storge]\nurl = "a"\n')).toEqual([
      'config.toml:3:2: storge: unknown key; did you mean storage?',
    ]);
    expect(problemsOf('[[modles.local]]\nurl = "a"\n')).toEqual(['config.toml:1:3: modles: unknown key']);
  });

  test('[agents], __proto__ and odd types do no harm', () => {
    expect(problemsOf('[agents]\nid = "a"\n')).toEqual([
      'config.toml:1:2: agents: expected a list of tables: write each agent as [[agents]]',
    ]);
    expect(problemsOf('[__proto__]\nid = "a"\n')).toHaveLength(1);
    expect(problemsOf('[defaults]\nmodel = 1979-05-27\ntools = "x"\npersona = ["a"]\n')).toEqual([
      'config.toml:2:9: defaults.model: expected "auto", provider:model, or a list of up to 5 models, got a date',
      'config.toml:3:9: defaults.tools: expected a list, got "x"',
      'config.toml:4:11: defaults.persona: expected a string, got a list',
    ]);
    expect(problemsOf('channels = 3\n[[agents]]\nid = "a"\n[[agents]]\nid = "a"\n')).toEqual([
      'config.toml:1:12: channels: expected a table, got 3',
      'config.toml:5:6: agents[a].id: two agents have the id "a"',
    ]);
  });

  test.each(['general', '#general', 'discord:1', 'discord:1:2:3:4:5', ''])(
    'a route that no conversation can match is refused: "%s"',
    (pattern) => {
      const [problem] = problemsOf(`[[agents]]\nid = "a"\n[[agents.routes]]\nmatch = "${pattern}"\n`);
      expect(problem).toContain('config.toml:4:9: agents[a].routes[0].match: matches no conversation; expected a key');
    },
  );

  test.each(['*', '*:2', 'discord:1:2', 'slack:T1:C1:1.2', 'discord:helper@*'])('a route may match "%s"', (pattern) => {
    expect(problemsOf(`[[agents]]\nid = "a"\n[[agents.routes]]\nmatch = "${pattern}"\n`)).toEqual([]);
  });

  // Shows: T34
  test.each([
    ['max_output_tokens', '0'],
    ['max_output_tokens', '-1'],
    ['context_window', '0'],
    ['context_window', '-5'],
    ['context_window', '8.5'],
    ['model', '"gpt-4"'],
    ['model', '[]'],
    ['model', '["auto"]'],
    ['model', '["openai:a", "gpt-4"]'],
    ['model', '["openai:a", "openai:a"]'],
    ['temperature', '2.1'],
    ['temperature', '"warm"'],
    ['effort', '"strong"'],
    ['max_steps', '0'],
    ['timeout_seconds', '0'],
  ])('%s = %s is out of range', (key, value) => {
    expect(problemsOf(`[defaults]\n${key} = ${value}\n`)).toEqual([
      expect.stringMatching(new RegExp(`^config\\.toml:2:\\d+: defaults\\.${key}(\\[\\d\\])?: expected `)),
    ]);
  });

  test.each(['0', '-0.1', '1.01', 'nan', 'inf', '"0.5"'])('a threshold of %s is out of range', (value) => {
    expect(problemsOf(`[defaults.compaction]\nemergency_threshold = ${value}\n`)).toEqual([
      expect.stringContaining('defaults.compaction.emergency_threshold: expected '),
    ]);
  });

  // Shows: R15
  test('merged thresholds must rise, and each names its layer', () => {
    const text = `[defaults.compaction]
aggressive_threshold = 0.82
[[agents]]
id = "a"
[agents.compaction]
background_threshold = 0.9
[[agents]]
id = "b"
`;
    expect(problemsOf(text)).toEqual([
      'config.toml:6:24: agents[a].compaction: thresholds must rise: background_threshold 0.9 (config.toml:6:24) < aggressive_threshold 0.82 (config.toml:2:24) < emergency_threshold 0.95 (default)',
    ]);
    const equal = '[defaults.compaction]\nbackground_threshold = 0.85\n';
    expect(problemsOf(equal)).toHaveLength(1);
    expect(problemsOf('[defaults.compaction]\nbackground_threshold = 0.1\n')).toEqual([
      expect.stringContaining('the stack share must be below the first threshold'),
    ]);
  });

  test('shares of the window must leave room', () => {
    const text = '[defaults.compaction]\nfixed_share = 0.5\nstack_share = 0.2\n';
    expect(problemsOf(text)).toEqual([
      'config.toml:2:15: defaults.compaction: the shares must add up to less than the first threshold: fixed_share 0.5 (config.toml:2:15) + stack_share 0.2 (config.toml:3:15) + reserve_share 0.125 (default) < background_threshold 0.8 (default)',
    ]);
    expect(problemsOf('[defaults.compaction]\nfixed_share = 0.4\n')).toEqual([]);
    expect(problemsOf('[defaults.compaction]\ntail_share = 0.7\n')).toHaveLength(1);
  });

  test('what is recalled must fit the window', () => {
    const text = '[defaults]\ncontext_window = 8000\nrecall.tokens = 6000\n';
    expect(problemsOf(text)).toEqual([
      'config.toml:3:17: defaults.recall.tokens: recalled text must leave room in the window: tokens 6000 (config.toml:3:17) + stack_share 0.15 (default) + reserve_share 0.125 (default) < emergency_threshold 0.95 (default) of context_window 8000 (config.toml:2:18)',
    ]);
    expect(problemsOf('[defaults]\ncontext_window = 8000\nrecall.tokens = 2000\n')).toEqual([]);
  });

  test('a model that reranks needs the address of its server', () => {
    const text = '[defaults.recall]\nrerank_model = "local:m"\n';
    expect(problemsOf(text)).toEqual([
      'config.toml:2:16: defaults.recall.rerank_model: "local:m" needs the address of its server: set base_url in [providers.local]',
    ]);
    const provider = '[providers.local]\nbase_url = "http://127.0.0.1:8080/v1"\n';
    expect(problemsOf(text + provider)).toEqual([]);
    expect(problemsOf(`${text}${provider}api_key = "env:NOPE"\n`)).toHaveLength(1);
  });

  test('a section needs its own key, and one text', () => {
    const text = `[[agents]]
id = "a"
[[agents.sections]]
key = "policy"
text = "one"
[[agents.sections]]
key = "tea"
text = "two"
file = "tea.md"
[[agents.sections]]
key = "tea"
file = "missing.md"
[[agents.sections]]
key = "milk"
`;
    expect(problemsOf(text)).toEqual([
      'config.toml:4:7: agents[a].sections[0].key: "policy" is a part of every request',
      'config.toml:6:3: agents[a].sections[1]: a section needs either a text or a file',
      'config.toml:11:7: agents[a].sections[2].key: two sections have the key "tea"',
      'config.toml:12:8: agents[a].sections[2].file: missing.md: it does not exist',
      'config.toml:13:3: agents[a].sections[3]: a section needs either a text or a file',
    ]);
    expect(problemsOf('[[agents]]\nid = "a"\nsections = [{ key = "a b", text = "", priority = 101 }]\n')).toHaveLength(
      2,
    );
  });

  test('excerpts of tool results must be shorter', () => {
    expect(problemsOf('[defaults.tool_results]\nrecent_bytes = 9000\n')).toEqual([
      'config.toml:2:16: defaults.tool_results: an excerpt must be shorter than the result: recent_bytes 9000 (config.toml:2:16) < blob_bytes 8000 (default)',
    ]);
  });

  test('targets must be below the first threshold', () => {
    expect(problemsOf('[defaults.compaction]\naggressive_target = 0.8\n')).toEqual([
      'config.toml:2:21: defaults.compaction: a target must be below the first threshold: aggressive_target 0.8 (config.toml:2:21) < background_threshold 0.8 (default)',
    ]);
    expect(problemsOf('[defaults.compaction]\nbackground_target = "low"\n')).toEqual([
      'config.toml:2:21: defaults.compaction.background_target: expected a share above 0 and at most 1, or "auto", got "low"',
    ]);
  });

  test('judges a route’s overrides with the values of its agent', () => {
    const text = `[[agents]]
id = "a"
[[agents.routes]]
match = "discord:*"
compaction = { aggressive_threshold = 0.96 }
`;
    expect(problemsOf(text)).toEqual([
      'config.toml:5:39: agents[a].routes[0].compaction: thresholds must rise: background_threshold 0.8 (default) < aggressive_threshold 0.96 (config.toml:5:39) < emergency_threshold 0.95 (default)',
    ]);
  });

  // Shows: P3
  test('the answer must leave room in the window', () => {
    expect(problemsOf('[defaults]\ncontext_window = 4000\nmax_output_tokens = 5000\n')).toEqual([
      'config.toml:3:21: defaults.max_output_tokens: the answer must leave room in the window: max_output_tokens 5000 (config.toml:3:21) < context_window 4000 (config.toml:2:18)',
    ]);
  });

  test('a small window alone is accepted', () => {
    expect(problemsOf('[defaults]\ncontext_window = 1000\n')).toEqual([]);
    expect(problemsOf('[[agents]]\nid = "a"\ncontext_window = 2000\n')).toEqual([]);
  });

  test('names values from environment and flags, hiding no file error', () => {
    expect(
      problemsOf('[defaults]\nmax_steps = 0\n', {
        environment: { STRATA_LOG_LEVEL: 'loud' },
        flags: { model: 'gpt' },
      }),
    ).toEqual([
      'config.toml:2:13: defaults.max_steps: expected at least 1, got 0',
      '--model: expected "auto" or provider:model, for example openai:gpt-4.1-mini, got "gpt"',
      'environment STRATA_LOG_LEVEL: expected "debug", "info", "warn", "error" or "silent", got "loud"',
    ]);
    const url = { environment: { STRATA_QUEUE_URL: 'http://user:hidden@host' } };
    expect(problemsOf('', url).join()).not.toContain('hidden');
  });
});

describe('values from the environment', () => {
  const environment = { KEY: 'sk-123456', NAME: 'Ada', EMPTY: '' };

  test('leaves out spaces and line breaks around variables', () => {
    const text = '[channels.discord]\ntoken = "env:TOKEN"\n[queue]\nurl = "redis://:${WORD}@cache"\n';
    const variables = { TOKEN: 'abc.def\r\n', WORD: 'word\n', STRATA_STORAGE_URL: ' postgres://db/strata\n' };
    const { config } = load(text, { environment: variables });
    expect(config.channels['discord']).toEqual({ token: 'abc.def' });
    expect([config.queue.url, config.storage.url]).toEqual(['redis://:word@cache', 'postgres://db/strata']);
    expect(problemsOf(text, { environment: { ...variables, TOKEN: ' \n' } })).toEqual([
      'config.toml:2:9: channels.discord.token: the environment variable TOKEN is not set',
    ]);
  });

  test('keys that no request can carry name their variable', () => {
    const text =
      '[defaults]\nmodel = "openai:x"\n[providers.openai]\napi_key = "env:KEY"\n[channels.discord]\ntoken = "env:TOKEN"\n[channels.slack]\nbot_token = "xoxb-\u200b1"\n';
    const variables = { KEY: '“sk-secret”', TOKEN: '"abc.def"', OPENAI_API_KEY: 'sk-\nsecret' };
    expect(problemsOf(text, { environment: variables })).toEqual([
      'config.toml:4:11: providers.openai.api_key: the environment variable KEY contains “ (U+201C), probably from copying: set it again',
      'config.toml:6:9: channels.discord.token: the environment variable TOKEN is in quotation marks: remove them',
      'config.toml:8:13: channels.slack.bot_token: it contains the invisible character U+200B, probably from copying: set it again',
      'environment OPENAI_API_KEY: its value contains a line break, probably from copying: set it again',
    ]);
    expect(
      load(text.replaceAll('openai:x', 'offline:demo').replace('\u200b', ''), {
        environment: { TOKEN: 'a', OPENAI_API_KEY: '"unused"' },
      }),
    ).toBeDefined();
  });

  test('addresses may have letters of any script, but nothing invisible', () => {
    const environment = { STRATA_STORAGE_URL: 'postgres://a:w\u200brd@db/strata' };
    expect(problemsOf('[queue]\nurl = "redis://:„word“@cache"\n', { environment })).toEqual([
      'config.toml:2:7: queue.url: it contains „ (U+201E), probably from copying: set it again',
      'environment STRATA_STORAGE_URL: it contains the invisible character U+200B, probably from copying: set it again',
    ]);
    expect(load('[queue]\nurl = "redis://:wört@cache"\n').config.queue.url).toBe('redis://:wört@cache');
  });

  test('resolves env:NAME, embedded variables, defaults and escapes', () => {
    const loaded = load(
      '[defaults]\npersona = "I am ${NAME}, ${NOBODY:-nobody}, ${EMPTY:-empty}, $${NAME}, ${lower} and env:KEY."\npolicy = "env:NAME"\n',
      { environment },
    );
    expect(main(loaded).persona).toBe('I am Ada, nobody, empty, ${NAME}, ${lower} and env:KEY.');
    expect(main(loaded).policy).toBe('Ada');
    expect(loaded.writtenAs(['agents', 0, 'policy'])).toBe('env:NAME');
    expect(loaded.writtenAs(['agents', 0, 'model'])).toBeNull();
  });

  test('text from the environment is not read again', () => {
    const loaded = load('[defaults]\npersona = "${A}"\n', { environment: { A: '${B}', B: 'no' } });
    expect(main(loaded).persona).toBe('${B}');
  });

  test('a missing or empty variable is named with its line', () => {
    const text = '[defaults]\nmodel = "env:NOPE"\npersona = "${EMPTY}"\n';
    expect(problemsOf(text, { environment })).toEqual([
      'config.toml:2:9: defaults.model: the environment variable NOPE is not set',
      'config.toml:3:11: defaults.persona: the environment variable EMPTY is not set',
    ]);
  });

  test('a missing variable of a channel is reported once', () => {
    const text = '[channels.chat]\ntoken = "env:NOPE"\nports = [0]\n';
    const chat = z.object({ token: z.string().min(1), ports: z.array(z.int().min(1)) });
    expect(problemsOf(text, { channels: new Map([['chat', chat]]) })).toEqual([
      'config.toml:2:9: channels.chat.token: the environment variable NOPE is not set',
      'config.toml:3:10: channels.chat.ports[0]: expected at least 1, got 0',
    ]);
  });

  test('an unknown key is reported although its variable is missing', () => {
    const chat = z.strictObject({ token: z.string() });
    expect(problemsOf('[channels.chat]\ntokn = "env:NOPE"\n', { channels: new Map([['chat', chat]]) })).toEqual([
      'config.toml:1:2: channels.chat.token: is missing',
      'config.toml:2:8: channels.chat.tokn: the environment variable NOPE is not set',
      'config.toml:2:8: channels.chat.tokn: unknown key; did you mean token?',
    ]);
    expect(problemsOf('[defaults]\nmodle = "env:NOPE"\n')).toEqual([
      'config.toml:2:9: defaults.modle: the environment variable NOPE is not set',
      'config.toml:2:9: defaults.modle: unknown key; did you mean model?',
    ]);
  });

  test('variables are required only where their section is used', () => {
    const channels = '[channels.discord]\nenabled = false\ntoken = "env:NOPE"\n';
    expect(load(channels).config.channels).toEqual({});
    expect(problemsOf(channels.replace('false', 'true'))).toEqual([
      'config.toml:3:9: channels.discord.token: the environment variable NOPE is not set',
    ]);
    const provider = '[providers.openai]\napi_key = "env:NOPE"\n';
    expect(load(provider).config.providers).toEqual({ openai: { base_url: '', api_key: '' } });
    expect(problemsOf(`${provider}[defaults]\nmodel = "openai:x"\n`)).toHaveLength(1);
    expect(problemsOf(`${provider}[defaults.compaction]\nmodel = "openai:x"\n`)).toHaveLength(1);
    expect(problemsOf(`${provider}[defaults]\nmodel = ["offline:demo", "openai:x"]\n`)).toHaveLength(1);
    const route = '[[agents]]\nid = "a"\n[[agents.routes]]\nmatch = "*"\ncompaction.model = "openai:x"\n';
    expect(problemsOf(`${provider}${route}`)).toHaveLength(1);
    expect(problemsOf(provider, { flags: { model: 'openai:x' } })).toHaveLength(1);
  });

  test('secrets are listed for redaction, ordinary text is not', () => {
    const loaded = load(
      `[defaults]
model = "openai:x"
persona = "\${NAME}-\${NAME}"
[queue]
url = "redis://user:pass%20word@host"
[providers.openai]
api_key = "env:KEY"
[channels.discord]
token = "a-literal-token"
people = ["env:NAME", "someone"]
`,
      { environment: { ...environment, NAME: 'Ada Lovelace' } },
    );
    expect([...loaded.secrets].sort()).toEqual(
      [
        'Ada Lovelace',
        'a-literal-token',
        'pass word',
        'pass%20word',
        'redis://user:pass%20word@host',
        'sk-123456',
      ].sort(),
    );
  });

  test('an error never repeats a value from the environment', () => {
    expect(problemsOf('[defaults]\nmode = "env:KEY"\n', { environment }).join()).not.toContain('sk-123456');
  });
});

describe('channels', () => {
  const discord = z.strictObject({ token: z.string().min(1), guilds: z.array(z.string()).default([]) });
  const schemas = new Map<string, z.ZodType>([['discord', discord]]);

  test('the adapter parses its table without our own switch', () => {
    const loaded = load('[channels.discord]\nenabled = true\ntoken = "env:T"\n', { environment: { T: 'secret' } });
    expect(channelProblems(loaded, schemas)).toEqual([]);
    expect(discord.parse(loaded.config.channels['discord'])).toEqual({ token: 'secret', guilds: [] });
  });

  test('reports its errors like all others, and unknown channels', () => {
    const loaded = load('[channels.discord]\ntokn = "x"\nguilds = 3\n[channels.discrod]\na = 1\n');
    const shortened = channelProblems(loaded, schemas).map((line) => line.replace(loaded.source.file, 'config.toml'));
    expect(shortened).toEqual([
      'config.toml:1:2: channels.discord.token: is missing',
      'config.toml:2:8: channels.discord.tokn: unknown key; did you mean token?',
      'config.toml:3:10: channels.discord.guilds: expected a list, got 3',
      'config.toml:4:2: channels.discrod: unknown channel; did you mean discord?',
    ]);
  });

  test('suggests names in defaulted, nullable and open tables', () => {
    const list = z.strictObject({ allow: z.array(z.string()).default([]) });
    const schema = z
      .strictObject({
        catch_up: z.strictObject({ hours: z.number().default(72) }).prefault({}),
        roles: list.default({ allow: [] }),
        users: list.nullable().optional(),
        groups: list.readonly(),
        rooms: list.transform(({ allow }) => allow),
        bots: z.record(z.string(), z.strictObject({ token: z.string(), guilds: list.prefault({}) })).default({}),
      })
      .refine(() => true);
    const text = [
      '[channels.chat]',
      'catch_up = { hurs = 1 }',
      'roles = { alow = [] }',
      'users = { allw = [] }',
      'groups = { alllow = [] }',
      'rooms = { allow = [], alow = [] }',
      'bots.helper = { token = "x", tokn = "x", guilds = { alow = [] } }',
    ];
    const problems = channelProblems(load(text.join('\n')), new Map([['chat', schema]]));
    expect(
      problems.map((line) => line.replace(/^.*channels\.chat\./u, '').replace('unknown key; did you mean ', '')),
    ).toEqual([
      'catch_up.hurs: hours?',
      'roles.alow: allow?',
      'users.allw: allow?',
      'groups.alllow: allow?',
      'rooms.alow: allow?',
      'bots.helper.tokn: token?',
      'bots.helper.guilds.alow: allow?',
    ]);
  });
});

describe('a huge or odd file gets a short answer', () => {
  test('the first fifty unknown keys are named, more are counted', () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => `k${index} = 1\n`);
    const problems = problemsOf(`[defaults]\nmax_steps = 0\n${keys.join('')}`);
    expect(problems).toHaveLength(52);
    expect(problems).toContain('config.toml:3:6: defaults.k0: unknown key');
    expect(problems).toContainEqual(expect.stringMatching(/^config\.toml:\d+:\d+: defaults: 1950 more unknown keys$/));
    expect(problems).toContainEqual(expect.stringContaining('defaults.max_steps: expected'));
  });

  test('a long name is shortened', () => {
    const [problem = ''] = problemsOf(`[defaults]\n${'a'.repeat(100_000)} = 1\n`);
    expect(problem).toContain(`: defaults.${'a'.repeat(80)}…: unknown key`);
    expect(problem.length).toBeLessThan(150);
  });

  test.each([
    ['keys', Array.from({ length: 20_000 }, () => 'a').join('.')],
    ['lists', `a = ${'['.repeat(200)}${']'.repeat(200)}\nb`],
  ])('%s within each other have a limit', (_, text) => {
    expect(problemsOf(`${text} = 1`)).toEqual(['config.toml: expected at most 100 tables and lists within each other']);
  });
});

test('refuses a port that no server can have', () => {
  const listen = (port: number) => problemsOf(`[operations]\nlisten = "127.0.0.1:${port}"`);
  expect(listen(65_535)).toEqual([]);
  expect(listen(65_536)).toEqual([expect.stringContaining('operations.listen: expected')]);
});
