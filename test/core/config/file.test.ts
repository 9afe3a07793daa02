import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { discordAdapter } from '../../../adapters/channels/discord/index.ts';
import { slackAdapter } from '../../../adapters/channels/slack/index.ts';
import { channelProblems } from '../../../src/config/channels.ts';
import { agentDefaults, defaultAgent, generalDefaults } from '../../../src/config/defaults.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { overrides } from '../../../src/config/overrides.ts';
import { agentSchema, generalSchema } from '../../../src/config/schema.ts';
import { isTable } from '../../../src/config/toml/tree.ts';
import { isStrataError } from '../../../src/domain/errors.ts';

const file = fileURLToPath(new URL('../../../config.toml', import.meta.url));
const text = readFileSync(file, 'utf8');

/** `[table]` headings, and each key with its value and the comment above it, as the schema says they must be. */
function expectedLines(table: string, schema: z.ZodObject, values: object): readonly string[] {
  const keys = Object.entries(values).filter(([, value]) => !isTable(value));
  const tables = Object.entries(values).filter(([, value]) => isTable(value));
  const own = keys.flatMap(([name, value]) => [
    `# ${z.globalRegistry.get(schema.shape[name])?.description}`,
    `${name} = ${JSON.stringify(value).replaceAll('","', '", "')}`,
  ]);
  const inner = tables.flatMap(([name, value]) => {
    const field: unknown = schema.shape[name];
    return field instanceof z.ZodObject ? expectedLines(`${table}.${name}`, field, value) : [];
  });
  return [`[${table}]`, ...own, ...inner];
}

const plain = text.split('\n').filter((line) => line !== '');

// Shows: S31
test('the shipped file documents every key at its default', () => {
  const expected = [
    ...expectedLines('defaults', agentSchema, agentDefaults),
    ...Object.entries(generalDefaults).flatMap(([name, values]) => {
      const field: unknown = generalSchema.shape[name as keyof typeof generalDefaults];
      return field instanceof z.ZodObject ? expectedLines(name, field, values) : [];
    }),
  ];
  const start = plain.indexOf('[defaults]');
  expect(plain.slice(start, start + expected.length)).toEqual(expected);
  const rest = [...plain.slice(0, start - 1), ...plain.slice(start + expected.length)];
  expect(rest.every((line) => line.startsWith('#'))).toBe(true);
});

test('every key has a default, and every default a key', () => {
  const { id: _id, default: _default, routes: _routes, ...agentKeys } = agentSchema.shape;
  expect(Object.keys(agentDefaults)).toEqual(Object.keys(agentKeys));
  expect(Object.keys(agentDefaults.compaction)).toEqual(Object.keys(agentSchema.shape.compaction.shape));
  expect(Object.keys(agentDefaults.memory)).toEqual(Object.keys(agentSchema.shape.memory.shape));
  expect(Object.keys(generalDefaults)).toEqual(Object.keys(generalSchema.shape));
});

test('the shipped file is valid and equals no file', () => {
  const shipped = loadConfig({ file, explicit: true, environment: {}, flags: {} });
  expect(shipped.config.agents).toEqual([defaultAgent()]);
  const none = join(mkdtempSync(join(tmpdir(), 'strata-')), 'config.toml');
  const missing = loadConfig({ file: none, explicit: false, environment: {}, flags: {} });
  const { storage: _shipped, ...withFile } = shipped.config;
  const { storage: _missing, ...withoutFile } = missing.config;
  expect(withFile).toEqual(withoutFile);
});

test('its examples are valid when uncommented', () => {
  const examples = text.replaceAll(/^#(?=[^ #])/gm, '');
  expect(examples).toContain('\n[[agents]]\n');
  const filled = join(mkdtempSync(join(tmpdir(), 'strata-')), 'config.toml');
  writeFileSync(filled, examples);
  const environment = {
    LOCAL_API_KEY: 'a',
    DISCORD_BOT_TOKEN: 'b',
    HELPER_BOT_TOKEN: 'e',
    SLACK_APP_TOKEN: 'c',
    SLACK_BOT_TOKEN: 'd',
  };
  const loaded = loadConfig({ file: filled, explicit: true, environment, flags: {} });
  const schemas = Object.entries({ discord: discordAdapter, slack: slackAdapter });
  expect(channelProblems(loaded, new Map(schemas.map(([name, { settings }]) => [name, settings])))).toEqual([]);
  const { config } = loaded;
  expect(config.agents[0]?.compaction).toMatchObject({ background_threshold: 0.7, emergency_threshold: 0.9 });
  expect(Object.keys(config.channels)).toEqual(['discord', 'slack']);
  expect(Object.keys(config.providers)).toEqual(['local']);
});

test('the variables that override it are named in it', () => {
  for (const { variable } of overrides) expect(text).toContain(variable);
});

function problemOf(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'strata-config-')), 'config.toml');
  writeFileSync(file, text);
  try {
    loadConfig({ file, explicit: true, environment: {}, flags: {} });
  } catch (error) {
    if (isStrataError(error, 'CONFIG_INVALID')) return error.data.problems.join(' ').replace(file, 'config.toml');
    throw error;
  }
  throw new Error(`valid: ${text}`);
}

test('a table below the list of plugins is explained', () => {
  expect(problemOf('plugins = ["./dice.ts"]\n[plugins.dice]\nsides = 3\n')).toMatch(
    /^config\.toml:2:2: .*the list `plugins`, .* in this table: file = /,
  );
});

const LIST = 'a comma or a closing ] or } is missing before this';
const BARE = 'put texts into quotes: "…"';
const STRAIGHT = `write straight quotes: " or '`;

test.each([
  ['a = .8', '1:5: invalid value, got .8; write 0.8'],
  ['a = .8 # of the window', '1:5: invalid value, got .8; write 0.8'],
  ['a = 1.', '1:5: unfinished numeric value, got 1.; write 1.0'],
  ['a = +.5', '1:5: invalid value, got +.5; write +0.5'],
  ['a = -.5', '1:5: invalid value, got -.5; write -0.5'],
  ['a = 0,8', '1:5: illegal leading zero, got 0,8; write 0.8'],
  ['a = 80%', '1:7: illegal character in numeric literal, got 80%; write 0.8'],
  ['a = 16,000', '1:7: illegal character in numeric literal, got 16,000; write 16000'],
  ['a = 08', '1:5: illegal leading zero; write the number without it, or put a text into quotes'],
  ['a = [\n  .8,\n]', '2:3: invalid value, got .8; write 0.8'],
  ['a = True', '1:5: invalid value, got True; write true'],
  ['a = [No]', '1:6: invalid value, got No; write false'],
  ['a = null', '1:5: invalid value, got null; leave the key out for its default'],
  ['a =', '1:4: invalid value; a value is missing after ='],
  ['a = hello', `1:5: invalid value; ${BARE}`],
  ['a = ["x", ./y.ts]', `1:11: invalid value; ${BARE}`],
  ['a = “hello”', `1:5: invalid value; ${STRAIGHT}`],
  ['a = [‘hello’]', `1:6: invalid value; ${STRAIGHT}`],
  ['a = "hello', '1:11: control characters are not allowed in strings; the closing quote is missing'],
  [
    "a = 'it's'",
    "1:9: each key-value declaration must be followed by an end-of-line; a text with ' in it needs double quotes",
  ],
  [
    'a = "C:\\users"',
    "1:10: invalid non-hex character in unicode escape; write each backslash twice, or put the text into '…'",
  ],
  ['[defaults\na = 1', '1:10: illegal character in key; write [defaults]'],
  ['[[agents]\nid = "a"', '1:10: expected end of table array declaration; write [[agents]]'],
  ['[agents]]', '1:9: each key-value declaration must be followed by an end-of-line; write [[agents]] or [agents]'],
  ['a = ["x"\nb = 1', `2:1: expected comma or end of structure; ${LIST}`],
  ['a: 1', '1:2: illegal character in key; write = after the key: a = …'],
  ['// x', '1:1: illegal character in key; comments begin with #'],
])('%j says what to write instead', (written, says) => {
  expect(problemOf(`${written}\n`)).toBe(`config.toml:${says}`);
});

test.each([
  'a = sk-4711-secret',
  'a = [x, 4711-secret]',
  'a = 04711471147114711',
  'a = "4711-secret',
  'a = 4711 secret',
])('%j may be a secret, which is not shown', (written) => {
  expect(problemOf(`${written}\n`)).not.toContain('4711');
});
