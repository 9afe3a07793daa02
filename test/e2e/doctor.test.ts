import { type ChildProcessWithoutNullStreams, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRedisMock } from 'js-redis-server';
import { describe, expect, test } from 'vitest';
import { startJsonServer } from '../support/json-server.ts';
import { ended, type Folder, jsonLines, MAIN, openFolder } from './strata.ts';

interface Checkup {
  readonly ok: boolean;
  readonly checksRun: readonly string[];
  readonly checksSkipped: readonly string[];
  readonly findings: readonly Found[];
}

interface Found {
  readonly checkId: string;
  readonly severity: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fixHint: string | null;
}

async function checkup(folder: Folder, args: readonly string[] = []) {
  const { code, stdout, stderr } = await folder.run(['doctor', '--json', ...args]);
  const [result] = jsonLines<Checkup>(stdout);
  if (result === undefined) throw new Error(`doctor printed nothing: ${stderr}`);
  const of = (checkId: string) => result.findings.find((found) => found.checkId === checkId);
  return { ...result, code, stderr, of };
}

/** Once it has answered, the child has opened its data. */
async function answered(child: ChildProcessWithoutNullStreams): Promise<void> {
  await new Promise<void>((resolve) => {
    child.stdout.once('data', () => resolve());
    child.stdin.write('Hello.\n');
  });
}

describe('doctor', () => {
  // Shows: R25
  test('finds nothing wrong in an empty folder, asks the model', async () => {
    using folder = openFolder();
    const healthy = await checkup(folder);
    expect(healthy).toMatchObject({ code: 0, stderr: '', ok: true, checksSkipped: [] });
    const own = healthy.checksRun.filter((checkId) => !checkId.includes('.'));
    expect(own).toEqual(['node', 'config', 'prompts', 'data', 'disk', 'model', 'window', 'privacy']);
    expect(healthy.of('model')?.message).toMatch(/^agent main: offline:demo \(.*\), window 2,000, it answered$/);
    expect(healthy.findings.every(({ fixHint, severity }) => severity !== 'ok' || fixHint === null)).toBe(true);
  });

  test('measures the disk of the file behind a link', async () => {
    using folder = openFolder();
    const elsewhere = folder.file('elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(folder.file('data'));
    symlinkSync(join(elsewhere, 'real.db'), folder.file('data/strata.db'));
    const data = ['--data', folder.file('data')];
    await folder.run(['chat', ...data], 'Hello.\n');
    expect((await checkup(folder, data)).of('disk')?.message).toContain(`MB are free at ${realpathSync(elsewhere)}`);
  });

  // Shows: R25
  test('prints a line for each check, with remedies', async () => {
    using folder = openFolder();
    const { code, stdout } = await folder.run(['doctor', '--model', 'openai:gpt-4.1-mini']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^OK {4}config: no .*config\.toml: using the defaults$/m);
    expect(stdout).toMatch(/^FAIL {2}model: agent main: .*OPENAI_API_KEY.*\n {6}→ Set the key/m);
  });

  test('names the window that the agent uses', async () => {
    using folder = openFolder();
    writeFileSync(folder.file('config.toml'), '[defaults]\nmodel = "offline:demo"\ncontext_window = 1000\n');
    const { code, of } = await checkup(folder);
    expect(code).toBe(0);
    expect(of('model')).toMatchObject({
      severity: 'ok',
      message: expect.stringMatching(/window 2,000, context_window 1,000, it answered$/u),
    });
  });

  test('warns of a window that the model does not have', async () => {
    using folder = openFolder();
    writeFileSync(
      folder.file('config.toml'),
      '[defaults]\nmodel = "offline:demo"\ncontext_window = 4000\nmax_output_tokens = 400\n',
    );
    const { code, of } = await checkup(folder);
    expect(code).toBe(0);
    expect(of('model')).toMatchObject({
      severity: 'warn',
      message: expect.stringMatching(/window 2,000, it answered, but context_window is 4,000$/u),
    });
  });

  test.each([
    [
      'knows that Ollama takes any window of its model',
      32_000,
      'ok',
      /window 16,384, context_window 32,000, not asked$/,
    ],
    ['warns of a window that Ollama cannot provide', 200_000, 'warn', /but context_window is 200,000$/],
  ] as const)('%s', async (_, window, severity, message) => {
    const shown = { model_info: { 'llama.context_length': 131_072 }, capabilities: ['completion', 'tools'] };
    await using ollama = await startJsonServer(() => ({ body: shown }));
    using folder = openFolder({ OLLAMA_HOST: ollama.url });
    writeFileSync(folder.file('config.toml'), `[defaults]\nmodel = "ollama:llama3.2"\ncontext_window = ${window}\n`);
    const { of } = await checkup(folder, ['--offline']);
    expect(of('model')).toMatchObject({ severity, message: expect.stringMatching(message) });
  });

  test('stops at a broken configuration and points to its errors', async () => {
    using folder = openFolder();
    writeFileSync(folder.file('config.toml'), '[defaults]\nmodle = "auto"\n');
    const broken = await checkup(folder);
    expect(broken).toMatchObject({ code: 1, ok: false, checksRun: ['node', 'config'] });
    expect(broken.checksSkipped).toEqual(['prompts', 'data', 'disk', 'model', 'window', 'privacy']);
    expect(broken.of('config')).toMatchObject({
      severity: 'fail',
      message: expect.stringMatching(/config\.toml:2:\d+: .*did you mean model/),
      fixHint: expect.stringContaining('strata config check'),
    });
  });

  test('names a prompt that cannot be used', async () => {
    using folder = openFolder();
    mkdirSync(folder.file('words'));
    writeFileSync(folder.file('words/persona.md.hbs'), 'I am {{nobody}}.');
    writeFileSync(folder.file('config.toml'), '[defaults]\nprompts = "words"\n');
    const { code, of } = await checkup(folder);
    expect(code).toBe(1);
    expect(of('prompts')).toMatchObject({ severity: 'fail', message: expect.stringContaining('nobody') });
  });

  test('tells a damaged database from one that is in use', async () => {
    using folder = openFolder();
    mkdirSync(folder.file('data'));
    writeFileSync(folder.file('data/strata.db'), Buffer.alloc(20_000, 'not a database '));
    const damaged = await checkup(folder);
    expect(damaged).toMatchObject({ code: 1, checksSkipped: [] });
    expect(damaged.of('data')).toMatchObject({ severity: 'fail', message: expect.stringContaining('cannot be used') });
    const child = folder.start(['--data', 'other']);
    await answered(child);
    const busy = await checkup(folder, ['--data', 'other']);
    expect(busy).toMatchObject({ code: 0, ok: true });
    expect(busy.of('data')).toMatchObject({ severity: 'warn', message: expect.stringContaining('Another Strata') });
    expect(busy.of('model')?.message).toContain('it answered');
    const refused = await checkup(folder, ['--data', 'other', '--model', 'openai:gpt-4.1-mini']);
    expect(refused).toMatchObject({ code: 1, checksSkipped: [] });
    child.stdin.end();
    expect((await ended(child)).code).toBe(0);
  });

  test('goes on without a place for temporary files', async () => {
    using folder = openFolder({ TMPDIR: '/dev/null' });
    mkdirSync(folder.file('data'));
    writeFileSync(folder.file('data/strata.db'), Buffer.alloc(20_000, 'not a database '));
    const { code, stdout, stderr } = await folder.runProcess(['doctor', '--offline']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/FAIL {2}data: .*the file is damaged/);
    expect(stdout).toMatch(/WARN {2}disk: queue, models and platforms are not checked.*\n.*Set TMPDIR/);
    expect(code).toBe(1);
  });

  test('closes the data although a check failed', async () => {
    using folder = openFolder();
    const directory = JSON.stringify(folder.file('shelf'));
    writeFileSync(
      folder.file('broken.ts'),
      `import { definePlugin } from 'stratabot';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';
const shelf = async () => {
  const storage = await createSqliteStorage({ directory: ${directory} });
  return { ...storage, upkeep: { ...storage.upkeep, check: () => Promise.reject(new Error('no ruler')) } };
};
export default definePlugin({ name: 'broken', stores: { shelf } });
`,
    );
    writeFileSync(folder.file('config.toml'), 'plugins = ["./broken.ts"]\n[storage]\nurl = "shelf://a"\n');
    for (const _ of [1, 2]) {
      const { code, findings } = await checkup(folder);
      expect(code).toBe(1);
      const data = findings.filter(({ checkId }) => checkId === 'data').map(({ severity }) => severity);
      expect(data).toEqual(['ok', 'fail']);
      expect(findings.map(({ checkId }) => checkId)).toContain('model');
    }
  });

  test('does not advise a backup where the server is away', async () => {
    using folder = openFolder({ STRATA_STORAGE_URL: 'postgres://ada:pa55@127.0.0.1:9/strata' });
    const away = await checkup(folder, ['--offline']);
    expect(away.of('data')).toMatchObject({ severity: 'fail', fixHint: expect.stringContaining('server is running') });
    expect(JSON.stringify(away)).not.toContain('pa55');
    expect(away.of('model')).toMatchObject({ severity: 'ok' });
  });

  test('looks at the queue although the data is away', async () => {
    const away = { STRATA_STORAGE_URL: 'postgres://127.0.0.1:9/strata', STRATA_QUEUE_URL: 'redis://127.0.0.1:9' };
    using folder = openFolder(away);
    const { of } = await checkup(folder, ['--offline']);
    expect(of('queue.server')).toMatchObject({ severity: 'fail' });
  });

  test('looks at the server of the queue', async () => {
    const mock = await createRedisMock();
    using folder = openFolder({ STRATA_QUEUE_URL: mock.url });
    const there = await checkup(folder);
    expect(there).toMatchObject({ code: 0, ok: true });
    expect(there.checksRun).toEqual(
      expect.arrayContaining(['version', 'memory', 'persistence'].map((id) => `queue.${id}`)),
    );
    await mock.close();
    const gone = await checkup(folder);
    expect(gone).toMatchObject({ code: 1, ok: false });
    expect(gone.of('queue.server')).toMatchObject({ fixHint: expect.stringContaining('server is running') });
  });

  test('warns of what people do not expect', async () => {
    using folder = openFolder();
    const lines = ['[defaults.memory]', 'share_public = true', '[log]', 'text = true', ''];
    writeFileSync(folder.file('config.toml'), lines.join('\n'));
    const { code, of } = await checkup(folder);
    expect(code).toBe(0);
    expect(of('privacy')).toMatchObject({
      severity: 'warn',
      message: expect.stringMatching(/share_public.*log\.text/),
    });
  });
});

describe('the number that says how full a conversation is', () => {
  test('is the same during and after talks, and in JSON', async () => {
    using folder = openFolder();
    const said = ['My name is Ada and I prefer tea.', 'The office is in Lisbon.', '/status', '/context', ''];
    const talk = await folder.run([], said.join('\n'));
    const numbers = [...talk.stdout.matchAll(/~([\d,]+) of 2,000 tokens/g)].map(([, used]) => used);
    expect(numbers).toHaveLength(2);
    const here = ['context', '--conversation', 'terminal:local:main'];
    const json = jsonLines<{ readonly used: number }>((await folder.run([...here, '--json'])).stdout);
    const text = await folder.run(here);
    const [after] = /~([\d,]+) of 2,000 tokens/.exec(text.stdout)?.slice(1) ?? [];
    expect(new Set([...numbers, after, json[0]?.used.toLocaleString('en')]).size).toBe(1);
  });
});

describe('an older Node', () => {
  /** What `process.versions` says there. */
  const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.20.0'}})`;

  test.each([MAIN, MAIN.replace('bin/strata.js', 'src/main.ts')])(
    'is refused with one sentence and its remedy, by %s',
    (entry) => {
      using folder = openFolder();
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretend, entry, 'chat'], {
        cwd: folder.path,
        encoding: 'utf8',
      });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^strata: Strata needs Node\.js 24 or newer; this is 22\.20\.0\. .*`npm start`.*\n$/);
    },
  );
});

describe('a checkout', () => {
  test('runs as the package’s program', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const printed = execFileSync('npx', ['--no-install', 'strata', '--version'], { cwd: root, encoding: 'utf8' });
    expect(printed.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
