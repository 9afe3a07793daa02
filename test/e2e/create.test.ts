import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ENVIRONMENT } from '../support/environment.ts';
import { type Packed, type Project, pack } from '../support/packed.ts';
import { firstOfEach, SIZED } from '../support/size.ts';

/** `npm create stratabot my-bot`, from the packed tarballs of both packages. */

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const scripts = z.object({ start: z.string() });
const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()), scripts });
const rootSchema = z.object({ version: z.string(), peerDependencies: z.record(z.string(), z.string()), scripts });

/** `script` runs a command in its own terminal. */
const hasScript = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

let packed: Packed;
let project: Project;
let creator: string;

beforeAll(async () => {
  creator = mkdtempSync(join(tmpdir(), 'strata-create-'));
  const args = ['pack', '--silent', '--workspace', 'create-stratabot', '--pack-destination', creator];
  const { stdout } = await run('npm', args, { cwd: root });
  await run('tar', ['-xzf', join(creator, stdout.trim().split('\n').at(-1) ?? ''), '-C', creator]);
  packed = await pack();
  project = packed.openProject(['@types/node', 'typescript']);
}, 360_000);

afterAll(() => {
  project[Symbol.dispose]();
  rmSync(creator, { recursive: true });
});

const create = (...args: readonly string[]) => project.node([join(creator, 'package/index.js'), ...args]);

const manifestOf = (folder: string) =>
  manifestSchema.parse(JSON.parse(readFileSync(join(project.path, folder, 'package.json'), 'utf8')));
const readRoot = () => rootSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

describe('create-stratabot', () => {
  const choices = [
    { language: 'ts', platform: 'terminal', model: 'auto' },
    { language: 'js', platform: 'discord', model: 'openai:gpt-4.1-mini' },
    { language: 'ts', platform: 'slack', model: 'anthropic:claude-haiku-4-5' },
  ];
  it.each(firstOfEach(choices, ({ language }) => language))(
    'writes a project whose test passes: $language, $platform',
    { ...SIZED, timeout: 600_000 },
    async ({ language, platform, model }) => {
      const folder = `bot-${language}-${platform}`;
      const options = ['--language', language, '--platform', platform, '--model', model];
      expect(await create(folder, ...options)).toMatchObject({ code: 0, stderr: '' });
      const path = join(project.path, folder);
      for (const name of [
        'README.md',
        'Dockerfile',
        '.env.sample',
        '.gitignore',
        'config.toml',
        `plugins/dice.${language}`,
      ]) {
        expect(existsSync(join(path, name)), name).toBe(true);
      }
      const files = globSync('**', { cwd: path, withFileTypes: true }).filter((entry) => entry.isFile());
      const unfilled = files.filter((file) => readFileSync(join(file.parentPath, file.name), 'utf8').includes('{{'));
      expect(unfilled).toEqual([]);
      const tested = await project.node(['--test', `${folder}/test/bot.test.${language}`]);
      expect(tested.stdout).toMatch(/pass 1\n/);
      expect(tested.code).toBe(0);
      if (language === 'ts') {
        const tsc = join(project.path, 'node_modules/typescript/bin/tsc');
        expect(await project.node([tsc, '-p', folder, '--singleThreaded'])).toMatchObject({ code: 0, stdout: '' });
      }
    },
  );

  it('asks for the versions that this repository uses', async () => {
    const { version, peerDependencies } = readRoot();
    for (const provider of ['openai', 'anthropic', 'google', 'ollama', 'openrouter']) {
      for (const platform of ['discord', 'slack']) {
        const folder = `versions-${provider}-${platform}`;
        const { stdout } = await create(folder, '--platform', platform, '--model', `${provider}:x`);
        expect(stdout).toContain('cp .env.sample .env');
        const { stratabot, zod, ...sdks } = manifestOf(folder).dependencies;
        expect(stratabot).toBe(`^${version}`);
        expect(zod).toMatch(/^\^4\./);
        expect(Object.keys(sdks)).toHaveLength(3);
        expect(peerDependencies).toMatchObject(sdks);
      }
    }
  }, 120_000);

  it.each(['ts', 'js'])('runs the image with the flags of this repository: %s', async (language) => {
    const folder = `flags-${language}`;
    const { stdout } = await create(folder, '--language', language);
    expect(stdout).not.toContain('.env');
    const own = readRoot().scripts.start.replace('bin/strata.js', 'node_modules/stratabot/bin/strata.js');
    const [command, ...args] = own.slice(own.indexOf('node ')).split(' ');
    expect([command, args.at(-1)]).toEqual(['node', 'start']);
    const dockerfile = readFileSync(join(project.path, folder, 'Dockerfile'), 'utf8');
    expect(dockerfile).toContain(`CMD ${JSON.stringify([command, ...args]).replaceAll(',', ', ')}\n`);
    expect(await project.node([...args.slice(0, -1), '--version'])).toMatchObject({ code: 0, stderr: '' });
    // Other versions of Node.js may refuse these flags, and a project runs on the one of its user.
    expect(manifestOf(folder).scripts.start).toBe('strata start');
  });

  it('names what stands in the way of the folder', async () => {
    project.write('afile', '');
    for (const folder of ['afile', 'afile/x', 'afile/x/y']) {
      const { stderr, code } = await create(folder);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/is not a(n empty)? folder\. Choose/),
      });
    }
    mkdirSync(join(project.path, 'clone/.git'), { recursive: true });
    expect(await create('clone')).toMatchObject({ code: 0, stderr: '' });
  }, 60_000);

  it.each([
    ['my bot', 'cd "my bot"', 'my-bot'],
    ['Über', 'cd "Über"', 'uber'],
    ['$x', "cd '$x'", 'x'],
    ['漢字', 'cd "漢字"', 'my-bot'],
  ])('writes into the folder "%s"', async (folder, line, name) => {
    const { stdout, code } = await create(folder);
    expect(code).toBe(0);
    expect(stdout).toContain(`  ${line}\n`);
    expect(readFileSync(join(project.path, folder, 'README.md'), 'utf8')).toMatch(`# ${name}\n`);
  });

  it('says which Node.js a bot needs', async () => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`;
    const args = [
      '--import',
      `data:text/javascript,${encodeURIComponent(older)}`,
      join(creator, 'package/index.js'),
      'old',
    ];
    const { stderr, code } = await project.node(args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'create-stratabot: A bot needs Node.js 24 or newer; this is 20.20.2.\n',
    });
    // Names that older versions do not have would end it before that.
    const source = readFileSync(join(root, 'create-stratabot/index.js'), 'utf8');
    expect(source).not.toContain('globSync');
  });

  it.skipIf(!hasScript)(
    'asks again after an answer it cannot use',
    async () => {
      const command = `${process.execPath} ${join(creator, 'package/index.js')} asked`;
      const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: project.path, env: ENVIRONMENT });
      const answers = ['JS', 'js', 'discrod', 'discord', 'gpt', 'openai:gpt-4.1-mini'];
      let shown = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
        if (text.includes(']: ')) child.stdin.write(`${answers.shift()}\r`);
      });
      const [code] = await once(child, 'close');
      expect(code).toBe(0);
      expect(shown.match(/Expected /g)).toHaveLength(3);
      const config = readFileSync(join(project.path, 'asked/config.toml'), 'utf8');
      expect(config).toContain('./plugins/dice.js');
      expect(config).toContain('[channels.discord]');
    },
    60_000,
  );

  it.each([
    [[], 'Expected one folder.'],
    [[''], 'Expected one folder.'],
    [['.'], '. exists and is not an empty folder.'],
    [['x', '--platform', 'irc'], '--platform is "irc". Expected terminal, discord, slack.'],
    [['x', '--language', 'py'], '--language is "py". Expected ts, js.'],
    [['x', '--model', 'gpt"\n'], 'Expected auto, or provider:model'],
    [['x', '--js'], "Unknown option '--js'.\nUsage: npm create stratabot <folder>"],
    [['x', '--model'], '\nUsage: npm create stratabot <folder>'],
  ])('refuses %j', async (args, problem) => {
    const { stderr, code } = await create(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
    expect(existsSync(join(project.path, 'x'))).toBe(false);
  });
});
