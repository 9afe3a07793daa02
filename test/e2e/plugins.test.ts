import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, openFolder } from './strata.ts';

/** Plugins as a user writes them: files that config.toml names, run by the command itself. */

const DICE = `import { definePlugin, defineTool } from 'stratabot';
import { z } from 'zod';

export default definePlugin({
  name: 'dice',
  settings: z.strictObject({ faces: z.int().min(2).default(6), label: z.string().default('The die shows') }),
  tools: ({ faces, label }) => [
    defineTool({
      name: 'roll_dice',
      description: 'Rolls one die and returns the result.',
      input: z.object({ sides: z.int().min(2).describe('Number of sides') }),
      run: async () => \`\${label} \${faces}\`,
    }),
  ],
});
`;

const TOOLS = '[defaults]\ntools = ["roll_dice", "memory_save"]\n';

function write(folder: Folder, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder.path, 'plugins'), { recursive: true });
    writeFileSync(folder.file(name), text);
  }
}

describe('a plugin', () => {
  it('brings its tool to start and chat', async () => {
    using folder = openFolder();
    write(folder, { 'plugins/dice.ts': DICE, 'config.toml': `plugins = ["./plugins/dice.ts"]\n${TOOLS}` });
    for (const command of ['start', 'chat']) {
      const { stdout, stderr, code } = await folder.run([command], 'Roll a die with 6 sides.\n');
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('The die shows 6');
    }
  }, 120_000);

  it('may be compiled to CommonJS', async () => {
    using folder = openFolder();
    const compiled = DICE.replace('import { definePlugin, defineTool } from', 'const { definePlugin, defineTool } =')
      .replace('import { z } from', 'const { z } =')
      .replaceAll(/= '(.*)';/g, "= require('$1');")
      .replace('export default', 'exports.default =');
    const marked = `Object.defineProperty(exports, '__esModule', { value: true });\n${compiled}`;
    write(folder, { 'plugins/dice.cjs': marked, 'config.toml': `plugins = ["./plugins/dice.cjs"]\n${TOOLS}` });
    const { stdout, stderr } = await folder.run(['start'], 'Roll a die with 6 sides.\n');
    expect(stdout, stderr).toContain('The die shows 6');
  }, 120_000);

  it('reads its own table, the environment filled in', async () => {
    using folder = openFolder({ LABEL: 'You rolled' });
    const table = '[plugins.dice]\nfile = "./plugins/dice.ts"\nfaces = 20\nlabel = "env:LABEL"\n';
    write(folder, { 'plugins/dice.ts': DICE, 'config.toml': `${TOOLS}${table}` });
    const { stdout } = await folder.run(['start'], 'Roll a die with 6 sides.\n');
    expect(stdout).toContain('You rolled 20');
    const shown = await folder.run(['config', 'show', '--origin']);
    expect(shown.stdout).toMatch(/plugins\.dice\.faces +20 +config\.toml:5/);
    expect(shown.stdout).toMatch(/plugins\.dice\.label +"env:LABEL"/);
  }, 120_000);

  it('is known to config check, doctor, context and replay', async () => {
    using folder = openFolder();
    write(folder, {
      'plugins/dice.ts': DICE,
      'config.toml': `plugins = ["./plugins/dice.ts"]\n${TOOLS}`,
      'chat.jsonl': `${JSON.stringify({ id: 'a', author: 'Ada', text: 'Roll a die with 6 sides.' })}\n`,
    });
    expect((await folder.run(['config', 'check'])).stdout).toBe('config.toml is valid.\n');
    expect((await folder.run(['doctor'])).stdout).toContain('config.toml is valid');
    expect((await folder.run(['replay', 'chat.jsonl', '--reply'])).code).toBe(0);
    const key = ['--conversation', 'replay:local:chat'];
    expect((await folder.run(['transcript', ...key])).stdout).toContain('The die shows 6');
    expect(await folder.run(['context', ...key])).toMatchObject({ code: 0, stderr: '' });
  }, 180_000);
});

describe('settings of a plugin', () => {
  it('are checked with file, line and column', async () => {
    using folder = openFolder();
    const table = '[plugins.dice]\nfile = "./plugins/dice.ts"\nfaces = 1\nlable = "x"\n';
    write(folder, { 'plugins/dice.ts': DICE, 'config.toml': `[defaults]\nmax_steps = 0\n${table}` });
    const { stderr, code } = await folder.run(['config', 'check']);
    expect(code).toBe(2);
    expect(stderr.trim().split('\n')).toEqual([
      'config.toml:2:13: defaults.max_steps: expected at least 1, got 0',
      'config.toml:5:9: plugins.dice.faces: expected at least 2, got 1',
      'config.toml:6:9: plugins.dice.lable: unknown key; did you mean label?',
    ]);
    const started = await folder.run(['start'], 'Hello\n');
    expect(started.code).toBe(2);
    expect(started.stderr).toContain('config.toml:5:9: plugins.dice.faces');
  }, 120_000);
});

/** The problems, without the headline of a start. */
const linesOf = (stderr: string) => stderr.match(/config\.toml:\d.*$/gm);

describe('a plugin that fails to load', () => {
  const head = "import { definePlugin } from 'stratabot';\n";
  it.each([
    ['const a = ;\n', 'plugins/bad.ts:1', 'Expression expected'],
    [`${head}\nundefinedThing();\n`, 'plugins/bad.ts:3:1', 'ReferenceError: undefinedThing is not defined'],
    [
      "import x from 'no-such-package';\nexport default x;\n",
      'plugins/bad.ts:1',
      "Cannot find package 'no-such-package'",
    ],
    [`${head}import './absent.ts';\n`, 'plugins/bad.ts:2', 'absent.ts'],
    ['export const a = 1;\n', 'plugins/bad.ts', 'expected `export default definePlugin'],
    [
      `${head}export default definePlugin({ name: 'bad', tols: [] });\n`,
      'plugins/bad.ts:2:16',
      'unknown key tols, did you mean tools?',
    ],
    [`${head}export default definePlugin({ name: 'bad', tools: [{ name: 'x' }] });\n`, 'plugins/bad.ts', 'tools'],
    [
      `${head}export default definePlugin({\n  name: 'bad',\n  tools: () => {\n    throw new Error('boom');\n  },\n});\n`,
      'plugins/bad.ts:5:11',
      'boom',
    ],
  ])(
    'names file, line and cause of %j',
    async (text, place, cause) => {
      using folder = openFolder();
      write(folder, { 'plugins/bad.ts': text, 'config.toml': `plugins = ["./plugins/bad.ts"]\n${TOOLS}` });
      const { stdout, stderr, code } = await folder.run(['start'], 'Hello\n');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(`config.toml:1:12: plugins[0]: ./${place}`);
      expect(stderr).toContain(cause);
    },
    120_000,
  );

  it('is refused by the check when a name exists already', async () => {
    using folder = openFolder();
    const tool = "defineTool({ name: 'NAME', description: 'x', input: z.object({}), run: async () => 'x' })";
    const commands = (name: string) =>
      `commands: [defineCommand({ name: '${name}', description: 'x', run: () => 'x' })]`;
    const tools = (name: string) => `tools: [${tool.replace('NAME', name)}]`;
    const imports =
      "import { defineCommand, definePlugin, defineTool } from 'stratabot';\nimport { defineEngine } from 'stratabot/adapter-kit';\nimport { z } from 'zod';\n";
    const engine = (id: string) => `engines: { ${id}: defineEngine({ id: '${id}', assemble: async () => null }) }`;
    const plugin = (name: string, part: string) =>
      `${imports}export default definePlugin({ name: '${name}', ${part} });\n`;
    const models = (name: string) => `models: { ${name}: async () => null }`;
    const channel = (name: string) =>
      `channels: { ${name}: { settings: z.object({}), create: async () => null, check: async () => [], tasks: [] } }`;
    const store = (name: string) => `stores: { ${name}: async () => null }`;
    const builtIn = 'is built in; choose another name';
    const files = [
      ['a', tools('memory_save'), `it adds the tool "memory_save", which ${builtIn}`],
      ['b', tools('roll_dice'), null],
      ['c', tools('roll_dice'), 'it adds the tool "roll_dice", which ./plugins/b.ts adds, too; rename one of them'],
      ['d', tools('two words'), 'The tool "two words" cannot be used'],
      ['e', commands('memory'), `it adds the command "memory", which ${builtIn}`],
      ['f', [commands('poll'), models('acme'), engine('own'), channel('pager'), store('shelf')].join(', '), null],
      ['g', commands('poll'), 'it adds the command "poll", which ./plugins/f.ts adds, too'],
      ['h', models('acme'), 'it adds the model provider "acme", which ./plugins/f.ts adds, too'],
      ['i', engine('stacked'), `it adds the context engine "stacked", which ${builtIn}`],
      ['j', engine('own'), 'it adds the context engine "own", which ./plugins/f.ts adds, too'],
      ['k', models('openai'), `it adds the model provider "openai", which ${builtIn}`],
      ['l', channel('slack'), `it adds the channel "slack", which ${builtIn}`],
      ['m', channel('pager'), 'it adds the channel "pager", which ./plugins/f.ts adds, too'],
      ['n', store('sqlite'), `it adds the store "sqlite", which ${builtIn}`],
      ['o', store('shelf'), 'it adds the store "shelf", which ./plugins/f.ts adds, too'],
      [
        'p',
        `${commands('vote open').slice(0, -1)}, ${commands('vote open').slice('commands: ['.length)}`,
        'which it has added already',
      ],
      ['q', commands('poll close'), 'it adds the command "poll close", which ./plugins/f.ts adds, too'],
      ['r', commands('vote close'), null],
      ['s', commands('vote end'), null],
    ] as const;
    write(folder, {
      ...Object.fromEntries(files.map(([name, part]) => [`plugins/${name}.ts`, plugin(name, part)])),
      'config.toml': `plugins = ${JSON.stringify(files.map(([name]) => `./plugins/${name}.ts`))}\n`,
    });
    const { stderr, code } = await folder.run(['config', 'check']);
    expect(code).toBe(2);
    const started = await folder.run(['start']);
    expect({ code: started.code, lines: linesOf(started.stderr) }).toEqual({ code: 2, lines: linesOf(stderr) });
    const expected = files.flatMap(([name, , problem], index) => (problem === null ? [] : [{ name, problem, index }]));
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(expected.length);
    for (const [at, { name, problem, index }] of expected.entries()) {
      expect(lines[at]).toContain(`plugins[${index}]: ./plugins/${name}.ts: `);
      expect(lines[at]).toMatch(/^config\.toml:1:\d+: /);
      expect(lines[at]).toContain(problem);
    }
  }, 120_000);

  it('is named with its place when the file is missing', async () => {
    using folder = openFolder();
    write(folder, { 'config.toml': '[plugins.dice]\nfile = "./plugins/dice.ts"\n' });
    const { stderr, code } = await folder.run(['doctor']);
    expect(code).toBe(1);
    expect(stderr).toBe('');
    const checked = await folder.run(['config', 'check']);
    expect(checked.stderr).toContain('config.toml:2:8: plugins.dice.file: ./plugins/dice.ts');
    expect(checked.stderr).toContain('it does not exist');
  }, 120_000);
});

describe('hooks of plugins', () => {
  const hook = (name: string, hooks: string) =>
    `import { definePlugin } from 'stratabot';\nexport default definePlugin({ name: '${name}', hooks: { ${hooks} } });\n`;
  const FILES = {
    'plugins/ping.ts': hook(
      'ping',
      "inbound: ({ text }, next) => (text === 'ping' ? { kind: 'answer', text: 'pong' } : next())",
    ),
    'plugins/mark.ts': hook('mark', 'post: ({ text }, next) => next({ text: `${text} (beta)` })'),
    'plugins/bad.ts': hook('bad', "model: () => { throw new Error('no ink'); }"),
  };
  const listed = (...names: readonly string[]) =>
    `plugins = [${names.map((name) => `"./plugins/${name}.ts"`).join(', ')}]\n`;

  it('surround each other in the order of the list', async () => {
    using folder = openFolder();
    write(folder, { ...FILES, 'config.toml': listed('mark', 'ping') });
    const { stdout, code } = await folder.run(['start'], 'ping\n');
    expect([code, stdout.includes('pong (beta)')]).toEqual([0, true]);
  }, 120_000);

  it('fail with their name, and what was said is kept', async () => {
    using folder = openFolder();
    write(folder, { ...FILES, 'config.toml': listed('bad') });
    const { stdout, stderr } = await folder.run(['start'], 'Hello\n');
    expect(stdout).toContain('One of my plugins failed');
    expect(stderr).toContain('The model hook of the plugin bad failed: no ink.');
    const key = ['--conversation', 'terminal:local:main'];
    expect((await folder.run(['transcript', ...key])).stdout).toContain('Hello');
  }, 120_000);

  it('leave nobody waiting for a reply held back', async () => {
    using folder = openFolder();
    const quiet = hook('quiet', "post: () => ({ kind: 'hold', reason: 'quiet hours' })");
    write(folder, { 'plugins/quiet.ts': quiet, 'config.toml': listed('quiet') });
    expect(await folder.run(['start'], 'Hello\nAnd again\n')).toMatchObject({ code: 0, stdout: '' });
    const { stdout } = await folder.run(['transcript', '--conversation', 'terminal:local:main']);
    expect(stdout.match(/A message was held back: quiet hours/g)).toHaveLength(2);
  }, 60_000);

  it('are refused when they have no place', async () => {
    using folder = openFolder();
    write(folder, { 'plugins/odd.ts': hook('odd', 'inbounds: () => null'), 'config.toml': listed('odd') });
    const { stderr, code } = await folder.run(['config', 'check']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no hook "inbounds"; did you mean inbound?')]);
  }, 120_000);
});

describe('parts of a plugin', () => {
  const PARTS = `import { createSystemClock, definePlugin } from 'stratabot';
import { z } from 'zod';

const model = {
  id: 'acme:parrot',
  traits: { windowTokens: 8000, tools: false, images: false },
  async *stream() {
    yield { kind: 'text', text: 'Squawk!' };
    yield { kind: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 } };
  },
};

export default definePlugin({
  name: 'parts',
  models: { acme: async () => model },
  channels: {
    beacon: {
      settings: z.strictObject({ light: z.string() }),
      create: async () => ({}),
      check: async () => [{ checkId: 'lamp', severity: 'ok', message: 'The lamp is lit.', fixHint: null }],
      tasks: [{ name: 'shine', description: 'Shines.', run: async ({ light }) => \`shines \${light}\` }],
    },
  },
  start: ({ log }) => log.info('parts.started', { at: createSystemClock().now() }),
  stop: ({ signal }) => process.stderr.write(\`stopped \${signal.aborted}\\n\`),
});
`;

  it('serve models, tasks and channel checks around the bot', async () => {
    using folder = openFolder();
    const config = `plugins = ["./plugins/parts.ts"]\n[defaults]\nmodel = "acme:parrot"\n[channels.beacon]\nlight = "red"\n`;
    write(folder, { 'plugins/parts.ts': PARTS, 'config.toml': config });
    const talked = await folder.runProcess(['chat'], 'Hello\n');
    expect(talked.stdout).toContain('Squawk!');
    expect(talked.stderr).toMatch(/stopped true\n$/);
    expect((await folder.run(['beacon', 'shine'])).stdout).toBe('shines red\n');
    expect((await folder.run(['doctor'])).stdout).toContain('channel.beacon.lamp: The lamp is lit.');
    write(folder, { 'config.toml': config.replace('light = "red"', 'ligth = "red"') });
    const { stderr } = await folder.run(['config', 'check']);
    expect(stderr).toContain('config.toml:5:9: channels.beacon.ligth: unknown key; did you mean light?');
  }, 180_000);

  it('refuse the start when start rejects', async () => {
    using folder = openFolder();
    const text =
      "import { definePlugin } from 'stratabot';\nexport default definePlugin({\n  name: 'late',\n  start: async () => {\n    throw new Error('no lamp');\n  },\n});\n";
    write(folder, { 'plugins/late.ts': text, 'config.toml': 'plugins = ["./plugins/late.ts"]\n' });
    const { stderr, code } = await folder.run(['start'], 'Hello\n');
    expect(code).toBe(1);
    expect(stderr).toContain('The plugin late failed to start: ./plugins/late.ts:5:11: no lamp');
  }, 120_000);
});
