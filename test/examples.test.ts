import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ended, openFolder } from './e2e/strata.ts';
import { ENVIRONMENT } from './support/environment.ts';
import { freePort, listening } from './support/port.ts';

/** Every example runs as its first lines say, in its own process, without a network. */

const folder = join(import.meta.dirname, '../examples');
const names = globSync('*.ts', { cwd: folder }).filter((name) => name !== 'clone.ts');
const exampleFile = (name: string) => JSON.stringify(join(folder, name));
const MAX_LINES = 60;
const LIMIT_MS = 120_000;

interface Program extends Disposable {
  readonly child: ReturnType<typeof start>;
}

function start(cwd: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const [program = '', ...rest] = args;
  const env = { ...ENVIRONMENT, ...environment };
  return spawn(process.execPath, ['--import', join(folder, 'clone.ts'), join(folder, program), ...rest], { cwd, env });
}

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Program {
  const cwd = mkdtempSync(join(tmpdir(), 'strata-example-'));
  const child = start(cwd, args, environment);
  return {
    child,
    [Symbol.dispose]() {
      child.kill('SIGKILL');
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

async function serve(answer: RequestListener) {
  const port = await freePort();
  const server = createServer(answer).listen(port, '127.0.0.1');
  await listening(port);
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => server.close() };
}

describe('the examples', () => {
  it('are nine, each short and with its command', () => {
    expect(names).toHaveLength(9);
    for (const name of names) {
      const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
      expect(lines.length, name).toBeLessThanOrEqual(MAX_LINES);
      expect(lines.slice(0, 8).join('\n'), name).toMatch(/^\/\/ [\s\S]*(?:node [a-z-]+\.ts|npx strata start)/u);
      expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`(${name})`);
    }
  });

  it(
    'minimal-bot.ts remembers a name',
    async () => {
      using program = run(['minimal-bot.ts']);
      const { stdout, code } = await ended(program.child, 'My name is Ada.\nWhat is my name?\n');
      expect(code).toBe(0);
      expect(stdout.trim().split('\n').at(-1)).toContain('Ada');
    },
    LIMIT_MS,
  );

  it(
    'two-agents.ts routes conversations to their agents',
    async () => {
      for (const [channel, agent] of [
        ['kitchen', 'cook'],
        ['garden', 'gardener'],
      ] as const) {
        using program = run(['two-agents.ts', channel]);
        const { stdout } = await ended(program.child, 'Hello\n/status\n');
        expect(stdout).toMatch(new RegExp(`Agent +${agent}`));
      }
    },
    LIMIT_MS,
  );

  it(
    'weather-tool.ts asks its API',
    async () => {
      const asked: string[] = [];
      using api = await serve((request, response) => {
        asked.push(request.url ?? '');
        const results = [{ name: 'Bern', latitude: 46.9, longitude: 7.4 }];
        const current = { temperature_2m: 12.5, wind_speed_10m: 7 };
        response.end(JSON.stringify(request.url?.startsWith('/search') ? { results } : { current }));
      });
      using bot = openFolder();
      const settings = `geocoding_url = "${api.url}/search"\nforecast_url = "${api.url}/forecast"\n`;
      writeFileSync(
        bot.file('config.toml'),
        `[defaults]\ntools = ["weather"]\n[plugins.weather]\nfile = ${exampleFile('weather-tool.ts')}\n${settings}`,
      );
      const { stdout, stderr } = await bot.run(['start'], 'Please use the weather tool for "Bern".\n');
      expect(stdout, stderr).toContain('12.5 °C, wind 7 km/h');
      expect(asked[0]).toContain('name=Bern');
      expect(asked[1]).toContain('latitude=46.9');
    },
    LIMIT_MS,
  );

  it(
    'poll-command.ts asks, votes and lists',
    async () => {
      using bot = openFolder();
      writeFileSync(bot.file('config.toml'), `plugins = [${exampleFile('poll-command.ts')}]\n`);
      const lines = ['/poll start', 'Who brings tea?', '/poll vote 1 maybe', '/poll list'];
      const { stdout, stderr } = await bot.run(['start'], `${lines.join('\n')}\n`);
      expect(stdout, stderr).toContain('Answer with the command poll vote, number 1.');
      expect(stdout).toContain('yes: /poll vote 1 yes');
      expect(stdout).toMatch(/1 +Who brings tea\? +0 +0 +1/);
    },
    LIMIT_MS,
  );

  it(
    'own-model.ts streams from its server, and reports a failure',
    async () => {
      const prompts: string[] = [];
      using model = await serve(async (request, response) => {
        prompts.push(await text(request));
        response.write('Hello ');
        await sleep(10);
        response.end('from the llama.');
      });
      using bot = openFolder();
      const config = (url: string) =>
        `[defaults]\nmodel = "llama:local"\n[plugins.llama]\nfile = ${exampleFile('own-model.ts')}\nurl = "${url}"\n`;
      writeFileSync(bot.file('config.toml'), config(model.url));
      const { stdout, stderr } = await bot.run(['start'], 'Good morning\n');
      expect(stdout, stderr).toContain('Hello from the llama.');
      expect(prompts[0]).toContain('Good morning');
      writeFileSync(bot.file('config.toml'), config('http://127.0.0.1:9'));
      expect((await bot.run(['start'], 'Are you there?\n')).code).toBe(1);
    },
    LIMIT_MS,
  );

  it(
    'own-engine.ts shows the newest messages only',
    async () => {
      using bot = openFolder();
      writeFileSync(
        bot.file('config.toml'),
        `plugins = [${exampleFile('own-engine.ts')}]\n[defaults]\nengine = "newest"\n`,
      );
      const talk = Array.from({ length: 15 }, (_, index) => `Message number ${index}.\n`).join('');
      const { stdout, stderr, code } = await bot.run(['start'], `My name is Ada.\nWhat is my name?\n${talk}/status\n`);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('Ada');
      const asked = await bot.run(['context', '--conversation', 'terminal:local:main', '--json']);
      expect(asked.stdout, asked.stderr).not.toContain('Message number 0.');
    },
    LIMIT_MS,
  );

  it(
    'own-store.ts remembers in its own file',
    async () => {
      using bot = openFolder();
      const store = '[storage]\nurl = "node-sqlite://bot.db"\n';
      writeFileSync(bot.file('config.toml'), `plugins = [${exampleFile('own-store.ts')}]\n${store}`);
      await bot.run(['start'], 'My name is Ada.\n');
      const { stdout, stderr } = await bot.run(['start'], 'What is my name?\n');
      expect(stdout, stderr).toContain('Ada');
      expect(existsSync(bot.file('bot.db'))).toBe(true);
    },
    LIMIT_MS,
  );

  it(
    'tcp-channel.ts answers lines over TCP',
    async () => {
      const port = await freePort();
      using _program = run(['tcp-channel.ts'], { PORT: String(port) });
      await listening(port, { limitMs: LIMIT_MS });
      const socket = connect(port, '127.0.0.1');
      const lines = createInterface(socket)[Symbol.asyncIterator]();
      socket.write('My name is Ada.\n');
      expect((await lines.next()).value).toContain('Ada');
      socket.write('What is my name?\n');
      expect((await lines.next()).value).toContain('Ada');
      socket.write('/help status\n');
      expect((await lines.next()).value).toContain('/status');
      socket.destroy();
    },
    LIMIT_MS,
  );

  it(
    'web-app.ts serves a page and answers through it',
    async () => {
      const port = await freePort();
      using _program = run(['web-app.ts'], { PORT: String(port) });
      const url = `http://127.0.0.1:${port}`;
      await listening(port, { limitMs: LIMIT_MS });
      expect(await (await fetch(`${url}/?as=Ada`)).text()).toContain('<form>');
      const events = await fetch(`${url}/events?as=Ada`);
      const said = await fetch(`${url}/say?as=Ada`, { method: 'POST', body: 'My name is Ada.' });
      expect(await said.json()).toEqual({ stored: true, willReply: true });
      const read = await events.body?.pipeThrough(new TextDecoderStream()).getReader().read();
      expect(read?.value).toMatch(/^data: ".*Ada/u);
    },
    LIMIT_MS,
  );

  it(
    'web-app.ts keeps replies for closed pages, ends with open ones',
    async () => {
      const port = await freePort();
      using program = run(['web-app.ts'], { PORT: String(port) });
      const url = `http://127.0.0.1:${port}`;
      await listening(port, { limitMs: LIMIT_MS });
      const left = new AbortController();
      await fetch(`${url}/events?as=Ada`, { signal: left.signal });
      left.abort();
      await fetch(`${url}/say?as=Ada`, { method: 'POST', body: 'My name is Ada.' });
      await sleep(500);
      const events = (await fetch(`${url}/events?as=Ada`)).body?.pipeThrough(new TextDecoderStream()).getReader();
      expect((await events?.read())?.value).toMatch(/^data: ".*Ada/u);
      const exited = once(program.child, 'exit');
      program.child.kill('SIGTERM');
      // A browser connects again as soon as its stream has ended.
      while ((await events?.read().catch(() => null))?.done === false);
      await fetch(`${url}/events?as=Ada`).catch(() => null);
      expect(await exited).toEqual([0, null]);
    },
    LIMIT_MS,
  );
});
