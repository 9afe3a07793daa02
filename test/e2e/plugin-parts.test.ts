import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRedisMock } from 'js-redis-server';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../fixtures/discord/kit.ts';
import { ended, type Folder, openFolder } from './strata.ts';

/** The engine and the store of a plugin, in every command and role that uses them. */

vi.setConfig({ testTimeout: 240_000 });

const example = JSON.stringify(join(import.meta.dirname, '../../examples/own-engine.ts'));

/** The engine of the example, which leaves a line for each call; and a store at `shelf://PLACE`, around SQLite. */
const PLUGIN = `import { appendFileSync } from 'node:fs';
import { definePlugin } from 'stratabot';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';
import example from ${example};

const { newest } = example.open({}).engines;
const note = (what) => appendFileSync('calls.txt', what + ' ' + (process.env.ROLE ?? '') + '\\n');
const noted = {
  ...newest,
  info: { ...newest.info, id: 'noted', ownsCompaction: true },
  assemble: (request) => (note('assemble'), newest.assemble(request)),
  ingest: async () => ({ ingested: true, due: true }),
  afterTurn: () => ({ tier: 'background', due: true }),
  maintain: (request) => (note('maintain'), newest.maintain(request)),
  dispose: async () => note('dispose'),
};

async function openShelf({ url, shared, create }) {
  const directory = url.slice('shelf://'.length);
  const storage = await createSqliteStorage({ directory, shared, create });
  const finding = { checkId: 'shelf', severity: 'ok', message: 'the shelf is dry', fixHint: null };
  const check = async () => [...(await storage.upkeep.check()), finding];
  return { ...storage, upkeep: { ...storage.upkeep, place: 'the shelf ' + directory, check } };
}

export default definePlugin({ name: 'parts', engines: { noted }, stores: { shelf: openShelf } });
`;

function openWithPlugin(environment: Readonly<Record<string, string>> = {}, home?: Folder): Folder {
  const folder = openFolder(environment);
  const shelf = JSON.stringify(`shelf://${(home ?? folder).file('shelf')}`);
  writeFileSync(folder.file('parts.ts'), PLUGIN);
  writeFileSync(
    folder.file('config.toml'),
    `plugins = ["./parts.ts"]\n[defaults]\nengine = "noted"\nmodel = "offline:demo"\n[storage]\nurl = ${shelf}\n`,
  );
  return folder;
}

const callsIn = (folder: Folder) => {
  const file = folder.file('calls.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

describe("a plugin's engine and store", () => {
  it('serve strata start, and keep their data', async () => {
    using folder = openWithPlugin();
    const first = await folder.run(['start'], 'My name is Ada.\n');
    expect(first).toMatchObject({ code: 0 });
    expect(callsIn(folder).filter((line) => line.startsWith('assemble'))).not.toEqual([]);
    expect(callsIn(folder).at(-1)).toContain('dispose');
    expect(existsSync(folder.file('shelf'))).toBe(true);
    const second = await folder.run(['start'], 'What is my name?\n/status\n/privacy\n');
    expect(second.stdout).toContain('Ada');
    expect(second.stdout).toContain(`the shelf ${folder.file('shelf')}`);
    const shown = await folder.run(['transcript', '--conversation', 'terminal:local:main']);
    expect(shown.stdout).toContain('My name is Ada.');
  });

  it('serve a gateway and a worker', async () => {
    const redis = await createRedisMock();
    try {
      using gateway = openWithPlugin({ ROLE: 'gateway', STRATA_QUEUE_URL: redis.url });
      using worker = openWithPlugin({ ROLE: 'worker', STRATA_QUEUE_URL: redis.url }, gateway);
      const child = worker.start(['start', '--role', 'worker']);
      const end = ended(child);
      const { stdout, stderr, code } = await gateway.runProcess(['start', '--role', 'gateway'], 'My name is Ada.\n');
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('Ada');
      await until('the worker maintains', () => callsIn(worker).includes('maintain worker'), 90_000);
      child.kill('SIGTERM');
      expect((await end).code).toBe(0);
      expect(callsIn(gateway).filter((line) => line.startsWith('maintain'))).toEqual([]);
    } finally {
      await redis.close();
    }
  });

  it('are checked by doctor', async () => {
    using folder = openWithPlugin();
    const { stdout } = await folder.run(['doctor', '--offline']);
    expect(stdout).toContain(`data: the shelf ${folder.file('shelf')} is open and up to date`);
    expect(stdout).toContain('data.shelf: the shelf is dry');
    writeFileSync(folder.file('config.toml'), 'plugins = ["./parts.ts"]\n[storage]\nurl = "shelve://x"\n');
    const { stdout: broken } = await folder.run(['doctor', '--offline']);
    expect(broken).toContain('shelf');
    expect(broken).toContain('storage.url');
  });

  it('serve a replay', async () => {
    using folder = openWithPlugin();
    const lines = ['My name is Ada.', 'What is my name?'].map((text, index) =>
      JSON.stringify({ id: `m${index}`, author: 'Ada', text }),
    );
    writeFileSync(folder.file('talk.jsonl'), `${lines.join('\n')}\n`);
    const { code, stderr } = await folder.run(['replay', 'talk.jsonl', '--reply']);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(callsIn(folder).filter((line) => line.startsWith('assemble'))).toHaveLength(2);
    const shown = await folder.run(['transcript', '--conversation', 'replay:local:talk']);
    expect(shown.stdout).toContain('My name is Ada.');
  });
});
