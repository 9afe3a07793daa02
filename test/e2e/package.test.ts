import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMANDS } from '../../src/cli/names.ts';
import { type Packed, type Project, pack } from '../support/packed.ts';
import { SIZED, spread } from '../support/size.ts';

/** The package as strangers use it: packed, unpacked elsewhere, without a network, an SDK or this repository. */

const root = join(import.meta.dirname, '../..');
const MAX_INSTALLED_BYTES = 80_000_000;

let packed: Packed;
let project: Project;

beforeAll(async () => {
  packed = await pack();
  project = packed.openProject(['@types/node']);
}, 360_000);

afterAll(() => project[Symbol.dispose]());

function readmeProgram(): string {
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  if (program === undefined) throw new Error('README.md shows no program');
  return program;
}

describe('the tarball', () => {
  it('exports every adapter, and nothing that is missing', () => {
    const names = Object.keys(packed.manifest.exports);
    const adapters = globSync('adapters/*/*/index.ts', { cwd: root }).map((file) => `./${dirname(file)}`);
    expect(names.filter((name) => name.startsWith('./adapters/')).sort()).toEqual(
      adapters.filter((name) => name !== './adapters/stores/sql').sort(),
    );
    const files = Object.values(packed.manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : [entry.types, entry.default],
    );
    const missing = files.filter((file) => !existsSync(join(project.path, 'node_modules/stratabot', file)));
    expect(missing).toEqual([]);
  });

  it('brings documents and prompts, but neither sources nor a Node', () => {
    const installed = join(project.path, 'node_modules/stratabot');
    for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'config.toml', 'docs/discord.md', 'prompts/en']) {
      expect(existsSync(join(installed, name)), name).toBe(true);
    }
    expect(globSync('{src,adapters,test,deploy}', { cwd: installed })).toEqual([]);
    expect(packed.manifest).not.toHaveProperty('optionalDependencies');
  });

  it('declares what its entry points show, and nothing else', () => {
    const dist = join(project.path, 'node_modules/stratabot/dist');
    expect(existsSync(join(dist, 'src/ports/store.d.ts'))).toBe(true);
    expect(existsSync(join(dist, 'src/main.d.ts'))).toBe(false);
  });

  it('has a map with the source for every script', () => {
    const dist = join(project.path, 'node_modules/stratabot/dist');
    const scripts = globSync('**/*.js', { cwd: dist });
    expect(scripts.length).toBeGreaterThan(300);
    for (const script of scripts) {
      const map: unknown = JSON.parse(readFileSync(join(dist, `${script}.map`), 'utf8'));
      expect(map).toMatchObject({ sourcesContent: [expect.any(String)] });
    }
  });

  it('takes less than 80 MB of disk with its dependencies', () => {
    const bytes = packed.installedBytes();
    expect(bytes).toBeGreaterThan(20_000_000);
    expect(bytes).toBeLessThan(MAX_INSTALLED_BYTES);
  });
});

const exampleNames = () => globSync('*.ts', { cwd: join(root, 'examples'), exclude: ['clone.ts'] });

/** As the package brings it. */
function example(name: string): string {
  return readFileSync(join(project.path, 'node_modules/stratabot/examples', name), 'utf8');
}

describe('a program', () => {
  it('runs the sample of the README: talk, a tool, memory', async () => {
    const program = readmeProgram();
    expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30);
    project.write('bot.ts', program);
    const input = 'My name is Ada.\nRoll a die with 6 sides.\nWhat is my name?\n';
    const { stdout, stderr, code } = await project.node(['bot.ts'], input);
    // A busy machine holds up every process, and the built-in model has a small window.
    expect(stderr.replaceAll(/^.* (?:loop\.stalled|context\.cut) .*\n/gm, '')).toBe('');
    expect(stdout).toMatch(/The die shows [1-6]/);
    expect(stdout.trim().split('\n').at(-1)).toContain('Ada');
    expect(code).toBe(0);
  }, 120_000);

  it('starts what the configuration describes in five lines', async () => {
    using folder = packed.openProject();
    const dice = "import { definePlugin, defineTool } from 'stratabot';\nimport { z } from 'zod';\n";
    const tool =
      "{ name: 'roll_dice', description: 'Rolls a die.', input: z.object({}), run: async () => 'It shows 4' }";
    folder.write('dice.ts', `${dice}export default definePlugin({ name: 'dice', tools: [defineTool(${tool})] });\n`);
    folder.write('config.toml', 'plugins = ["./dice.ts"]\n[defaults]\ntools = ["roll_dice"]\n');
    const lines = ['await app.start();', 'await app.ended;', 'await app.close();'];
    const open = "import { openApp } from 'stratabot/program';\nconst app = await openApp();\n";
    folder.write('program.ts', `${open}${lines.join('\n')}\n`);
    const { stdout, stderr, code } = await folder.node(['program.ts'], 'Roll a die.\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('It shows 4');
    folder.write('config.toml', '[defaults]\nmax_stps = 1\n');
    folder.write('check.ts', "import { loadConfig } from 'stratabot/program';\nawait loadConfig();\n");
    expect((await folder.node(['check.ts'])).stderr).toContain('did you mean max_steps?');
    folder.write('config.toml', '[channels.discord]\ntoekn = "x"\n');
    expect((await folder.node(['check.ts'])).stderr).toContain('did you mean token?');
  }, 120_000);

  it('serves the files of the inspector and of uPlot', async () => {
    using folder = packed.openProject();
    folder.write(
      'inspect.ts',
      `import { openApp } from 'stratabot/program';
const app = await openApp();
const server = await app.inspect();
const cookie = (await fetch(server.url)).headers.get('set-cookie') ?? '';
const page = await (await fetch(new URL('/costs', server.url), { headers: { cookie: cookie.split(';')[0] ?? '' } })).text();
for (const [, path = ''] of page.matchAll(/"([^"]*assets[^"]+)"/g)) {
  console.log((await fetch(new URL(path, server.url))).status, path);
}
await server.close();
await app.close();
`,
    );
    const { stdout, stderr, code } = await folder.node(['inspect.ts']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const files = stdout.trim().split('\n');
    for (const name of ['style.css', 'script.js', 'uplot-', 'charts.js'])
      expect(stdout).toContain(`200 /assets/${name}`);
    expect(files.filter((line) => !line.startsWith('200 '))).toEqual([]);
  }, 120_000);

  it('imports every entry in plain JavaScript without any SDK', async () => {
    const names = Object.keys(packed.manifest.exports).filter(
      (name) => !/json$|bullmq$|postgres$|contracts$/.test(name),
    );
    const imports = names.map((name) => `await import('stratabot${name.slice(1)}');`);
    project.write('imports.mjs', `${imports.join('\n')}\nconsole.log('all there');\n`);
    expect(await project.node(['imports.mjs'])).toEqual({ code: 0, stdout: 'all there\n', stderr: '' });
  }, 120_000);

  const resolutions = [
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ];
  it.each(spread(resolutions, 1))(
    'type-checks every entry with $moduleResolution',
    { ...SIZED, timeout: 360_000 },
    async (resolution) => {
      const names = Object.keys(packed.manifest.exports).filter((name) => !name.endsWith('.json'));
      const imports = names.map((name, index) => `import * as entry${index} from 'stratabot${name.slice(1)}';`);
      const uses = names.map((_, index) => `entry${index}`).join(', ');
      project.write('entries.ts', `${imports.join('\n')}\nconsole.log(${uses});\n`);
      project.write('bot.ts', readmeProgram());
      for (const name of exampleNames()) project.write(name, example(name));
      project.write('wrong.ts', "import { createBot } from 'stratabot';\ncreateBot({});\n");
      const strict = { skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
      const complaints = (await project.typeCheck({ ...resolution, ...strict })).split('\n');
      expect(complaints.filter((line) => line.includes('error TS'))).toEqual([
        expect.stringMatching(/^wrong\.ts\(2,11\): error TS2739/),
      ]);
    },
  );
});

describe('the contracts', () => {
  const suite = (name: string, change: string) => `import { searchContract, storeContract } from 'stratabot/contracts';
import { createOwnStorage } from './own-store.ts';

async function create() {
  const storage = await createOwnStorage(':memory:');
  const { transcript } = storage.store;
  const changed = { ...storage, store: { ...storage.store, transcript: { ...transcript, ${change} } } };
  return { storage: changed, dispose: () => storage.store.close() };
}

storeContract('${name}', { create });
searchContract('${name}', { create });
`;

  const examples = `import { connect } from 'node:net';
import { channelContract, engineContract } from 'stratabot/contracts';
import { createNewest } from './own-engine.ts';
import { createTcpChannel } from './tcp-channel.ts';

engineContract('newest', createNewest);

let port = 17_000 + (process.pid % 10_000);
channelContract('tcp', {
  platform: 'tcp',
  async open() {
    port += 1;
    const channel = createTcpChannel(port);
    let shown = '';
    let socket = null;
    const write = (text) => {
      socket ??= connect(port, '127.0.0.1').on('data', (data) => (shown += data)).on('error', () => undefined);
      socket.write(text + '\\n');
    };
    const dispose = async () => void socket?.destroy();
    return { channel, say: write, command: () => write('/status'), shown: () => shown, dispose };
  },
});
`;

  it('run against the examples in a foreign project', async () => {
    using folder = packed.openProject(['vitest', 'fast-check']);
    folder.write('own-store.ts', example('own-store.ts'));
    folder.write('whole.test.js', suite('whole', ''));
    const forgetful = 'append: (given) => transcript.append({ ...given, wantsReply: false })';
    folder.write('forgetful.test.js', suite('forgetful', forgetful));
    folder.write('own-engine.ts', example('own-engine.ts'));
    const [channel] = example('tcp-channel.ts').split('const bot = ');
    folder.write('tcp-channel.ts', `${channel}export { createTcpChannel };\n`);
    folder.write('examples.test.js', examples);
    // A sample of the store's suite: `kysely.test.ts` runs all of it.
    const alone = ['--maxWorkers=1', '--no-isolate', '--testTimeout=120000'];
    const options = [
      ...alone,
      '--reporter=json',
      '--outputFile=result.json',
      '-t',
      'append|claims|compaction|(channel|engine) contract',
    ];
    const { stderr } = await folder.node(['node_modules/vitest/vitest.mjs', 'run', ...options]);
    expect(stderr).toBe('');
    const { testResults } = resultSchema.parse(JSON.parse(readFileSync(join(folder.path, 'result.json'), 'utf8')));
    const statuses = (name: string) =>
      testResults.find((file) => file.name.endsWith(`${name}.test.js`))?.assertionResults.map(({ status }) => status);
    expect(statuses('whole')?.filter((status) => status === 'passed').length).toBeGreaterThan(30);
    expect(statuses('whole')).not.toContain('failed');
    expect(statuses('forgetful')).toContain('failed');
    expect(new Set(statuses('examples'))).toEqual(new Set(['passed']));
  }, 360_000);
});

const resultSchema = z.object({
  testResults: z.array(z.object({ name: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

describe('the command line', () => {
  let folder: Project;
  beforeAll(() => {
    folder = packed.openProject();
  });
  afterAll(() => folder[Symbol.dispose]());

  const lines = [
    { id: 'm1', author: 'Ada', text: 'I prefer tea.' },
    { id: 'm2', author: 'Ada', text: 'My workshop is in Berlin.' },
  ].map((line) => JSON.stringify(line));
  const main = ['--conversation', 'terminal:local:main'];
  // Some read what an earlier one wrote.
  const calls: Readonly<Record<(typeof COMMANDS)[number], readonly string[]>> = {
    import: ['import', 'chat.jsonl', ...main],
    start: ['start'],
    send: ['send', 'The tea is ready.', ...main],
    chat: ['chat'],
    replay: ['replay', 'chat.jsonl'],
    recall: ['recall', ...main],
    context: ['context', ...main],
    why: ['why', ...main],
    'what-if': ['what-if', ...main],
    summaries: ['summaries', ...main],
    transcript: ['transcript', ...main],
    cost: ['cost'],
    memory: ['memory', 'list', ...main],
    config: ['config', 'check'],
    prompts: ['prompts', 'check'],
    // It runs until it is stopped.
    inspect: ['inspect', '--help'],
    backup: ['backup', 'all.jsonl.gz'],
    restore: ['restore', 'all.jsonl.gz', '--data', 'again'],
    doctor: ['doctor'],
  };

  it('runs every command', { ...SIZED, timeout: 600_000 }, async () => {
    folder.write('chat.jsonl', `${lines.join('\n')}\n`);
    expect(Object.keys(calls).sort()).toEqual([...COMMANDS].sort());
    for (const [name, args] of spread(Object.entries(calls), 5)) {
      const { code, stderr } = await folder.strata(args, 'Hello!\n/quit\n');
      expect({ name, code, stderr: code === 0 ? '' : stderr }).toEqual({ name, code: 0, stderr: '' });
    }
    expect((await folder.strata(['--version'])).stdout.trim()).toBe(packed.manifest.version);
  });

  const missing = [
    ['[channels.discord]\ntoken = "x"', 'npm install discord.js@14'],
    ['[storage]\nurl = "postgres://127.0.0.1:1/x"', 'npm install pg@8'],
    ['[queue]\nurl = "redis://127.0.0.1:1"', 'npm install bullmq@6 ioredis@6'],
    ['[queue]\nurl = "postgres://127.0.0.1:1/x"', 'npm install bullmq@6 ioredis@6 pg@8'],
    ['[defaults]\nmodel = "ollama:x"', 'npm install ai@7 ollama-ai-provider-v2@4'],
  ] as const;
  it.each(spread(missing, 2))(
    'start names the missing package for %j',
    { ...SIZED, timeout: 360_000 },
    async (config, command) => {
      folder.write('config.toml', `${config}\n`);
      const { stderr, code } = await folder.strata(['start']);
      expect(stderr).toContain(`Run: ${command}\n`);
      expect(code).toBe(1);
    },
  );

  it('doctor names all missing packages; config check needs none', async () => {
    const models = ['openai', 'anthropic', 'google', 'ollama', 'own'];
    const tables = [
      ...models.map((name) => `[[agents]]\nid = "${name}"\nmodel = "${name}:x"`),
      ...models.map((name) => `[providers.${name}]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "x"`),
      '[channels.discord]\ntoken = "x"',
      '[channels.slack]\nbot_token = "xoxb-x"\napp_token = "xapp-x"',
    ];
    folder.write('config.toml', `${tables.join('\n')}\n`);
    const { stdout, code } = await folder.strata(['doctor']);
    expect(code).toBe(1);
    expect([...stdout.matchAll(/Run: npm install (.+)$/gm)].map((match) => match[1])).toEqual([
      'ai@7 @ai-sdk/openai@4',
      'ai@7 @ai-sdk/anthropic@4',
      'ai@7 @ai-sdk/google@4',
      'ai@7 ollama-ai-provider-v2@4',
      'ai@7 @ai-sdk/openai-compatible@3',
      'discord.js@14',
      '@slack/bolt@5',
    ]);
    expect((await folder.strata(['config', 'check'])).code).toBe(0);
  }, 120_000);
});
