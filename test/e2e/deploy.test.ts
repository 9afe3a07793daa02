import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { overrides } from '../../src/config/overrides.ts';
import { freePort, listening } from '../support/port.ts';

/** Checks the files of deploy/ as far as possible without a container engine. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const run = promisify(execFile);

const dockerfile = read('deploy/Dockerfile');
const unit = read('deploy/strata@.service');
const startSchema = z.object({ scripts: z.object({ start: z.string() }) });
const service = z.object({
  image: z.string(),
  command: z.array(z.string()),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.unknown()).optional(),
  deploy: z.object({ replicas: z.number() }).optional(),
  stop_grace_period: z.string().optional(),
});
const compose = z
  .object({
    services: z.object({
      gateway: service,
      worker: service,
      postgres: service.partial({ command: true }),
      redis: service,
    }),
    volumes: z.record(z.string(), z.unknown()),
  })
  .parse(parse(read('deploy/compose.yaml'), { merge: true }));

/** Every variable that the program knows by name. */
const known = new Set([...overrides.map(({ variable }) => variable), 'STRATA_ROLE']);

function variablesIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bSTRATA_[A-Z_]+/gu) ?? [])];
}

describe('deploy/', () => {
  it.each(['Dockerfile', 'compose.yaml', '.env.sample', 'strata@.service'])(
    '%s names only variables that exist',
    (name) => {
      expect(variablesIn(read(`deploy/${name}`)).filter((variable) => !known.has(variable))).toEqual([]);
    },
  );

  it('runs Node.js with the flags of `npm start`', () => {
    const { scripts } = startSchema.parse(JSON.parse(read('package.json')));
    const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'));
    expect(flags).not.toEqual([]);
    expect(unit).toContain(`/usr/bin/node ${flags.join(' ')} /`);
    const listed = flags.map((flag) => `"${flag}"`).join(', ');
    expect(dockerfile).toContain(`ENTRYPOINT ["node", ${listed}, "bin`);
    expect(read('create-stratabot/template/shared/Dockerfile')).toContain(`CMD ["node", ${listed}, "node_modules`);
  });

  it('returns freed memory to the system', () => {
    const settings = (name: string) => [...new Set(read(name).match(/\bMALLOC_\w+=\d+/gu))];
    const started = settings('package.json');
    expect(started.map((setting) => setting.split('=')[0])).toEqual([
      'MALLOC_ARENA_MAX',
      'MALLOC_MMAP_THRESHOLD_',
      'MALLOC_TRIM_THRESHOLD_',
    ]);
    expect(settings('deploy/Dockerfile')).toEqual(started);
    expect(settings('deploy/strata@.service')).toEqual(started);
    expect(settings('create-stratabot/template/shared/Dockerfile')).toEqual(started);
  });

  it.skipIf(process.platform === 'win32')('sets them in `npm start` too, and takes options', async () => {
    const { scripts } = startSchema.parse(JSON.parse(read('package.json')));
    const shown = '-p "[process.env.MALLOC_ARENA_MAX, ...process.argv.slice(1)].join()" start';
    const line = `${scripts.start.replace('bin/strata.js start', shown)} --data "a b"`;
    expect((await run('sh', ['-c', line])).stdout).toBe('2,start,--data,a b\n');
    // cmd.exe ends a command at each `&`. Before the first, it reads the name of a window.
    expect(line.split('&').map((command) => command.trim().slice(0, 7))).toEqual(['title=S', 'node --']);
  });

  it('names the tokens that the configuration takes', () => {
    const tokens = [...read('config.toml').matchAll(/"env:((?:DISCORD|SLACK)_\w+_TOKEN)"/gu)].map((match) => match[1]);
    expect(tokens).toHaveLength(3);
    for (const token of tokens) expect(read('deploy/.env.sample')).toContain(`\n${token}=`);
  });

  it('holds no secret', () => {
    for (const line of read('deploy/.env.sample').split('\n')) {
      if (/^\w*(?:KEY|TOKEN|PASSWORD)=/u.test(line)) expect(line).toMatch(/=$/u);
    }
  });
});

describe('compose.yaml', () => {
  const { gateway, worker, postgres, redis } = compose.services;

  it('runs a gateway and two workers from one image', () => {
    expect(gateway.command).toEqual(['start', '--role', 'gateway']);
    expect(worker.command).toEqual(['start', '--role', 'worker']);
    expect(worker.deploy?.replicas).toBe(2);
    expect(worker.image).toBe(gateway.image);
    expect(worker.environment).toEqual(gateway.environment);
    expect(gateway.environment?.['STRATA_STORAGE_URL']).toContain('@postgres:5432/');
    expect(gateway.environment?.['STRATA_QUEUE_URL']).toBe('redis://redis:6379');
  });

  it('waits for the store, and not for the queue', () => {
    expect(Object.keys(gateway.depends_on ?? {})).toEqual(['postgres']);
  });

  it('keeps what Redis was told, and lets it evict nothing', () => {
    const flags = redis.command.join(' ');
    expect(flags).toContain('--appendonly yes');
    expect(flags).toContain('--maxmemory-policy noeviction');
  });

  it('declares its data volumes and mounts only existing files', () => {
    const mounts = [gateway, worker, postgres, redis].flatMap(({ volumes }) => volumes ?? []);
    for (const mount of mounts) {
      const [source = ''] = mount.split(':');
      if (source.startsWith('.')) expect(existsSync(join(root, 'deploy', source))).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    expect(existsSync(join(root, 'deploy', gateway.build?.context ?? '', gateway.build?.dockerfile ?? ''))).toBe(true);
  });
});

describe('the image', () => {
  /** The files that the second stage copies from the build folder. */
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gmu)].flatMap((match) =>
    (match[1] ?? '').split(' '),
  );

  it('copies only files that exist and are not ignored', () => {
    const allowed = read('deploy/Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    for (const name of copied) {
      expect(existsSync(join(root, name))).toBe(true);
      expect(allowed).toContain(`!${name}`);
    }
  });

  it('does not run as root', () => {
    expect(dockerfile).toMatch(/^USER node$/mu);
    expect(dockerfile.indexOf('USER node')).toBeLessThan(dockerfile.indexOf('ENTRYPOINT'));
  });

  // Shows: W35
  it('starts from the copied files, is healthy and stops', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strata-image-'));
    const port = await freePort();
    let child: ChildProcess | null = null;
    try {
      for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true });
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
      const [program = '', ...given] = commandOf('ENTRYPOINT');
      expect(program).toBe('node');
      const environment = {
        PATH: process.env['PATH'],
        STRATA_DATA: join(folder, 'data'),
        STRATA_LISTEN: `127.0.0.1:${port}`,
        STRATA_QUEUE_URL: 'redis://127.0.0.1:1',
        OLLAMA_HOST: 'http://127.0.0.1:9',
      };
      const args = [...given, ...commandOf('CMD'), '--role', 'worker'];
      child = spawn(process.execPath, args, { cwd: folder, env: environment, stdio: 'ignore' });
      await listening(port);
      const [, ...check] = commandOf('HEALTHCHECK').map((part) => part.replace('9464', `${port}`));
      await run(process.execPath, check);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect((await ended)[0]).toBe(0);
      await expect(run(process.execPath, check)).rejects.toMatchObject({ code: 1 });
    } finally {
      child?.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);
});

/** The words of an instruction in its list form. */
function commandOf(instruction: 'ENTRYPOINT' | 'CMD' | 'HEALTHCHECK'): readonly string[] {
  const flat = dockerfile.replaceAll('\\\n', ' ');
  const line = flat.split('\n').find((candidate) => candidate.startsWith(`${instruction} `)) ?? '';
  return z.array(z.string()).parse(JSON.parse(line.slice(line.indexOf('['))));
}

describe('strata@.service', () => {
  it('runs the entry with its role and options that exist', async () => {
    const start = /^ExecStart=(.+)$/mu.exec(unit)?.[1] ?? '';
    expect(start).toContain('/bin/strata.js start --role %i');
    const help = await run(process.execPath, [join(root, 'bin/strata.js'), 'start', '--help']);
    // The arguments before the entry are for Node.
    const [, given = ''] = start.split('strata.js');
    for (const option of given.match(/--[a-z-]+/gu) ?? []) expect(help.stdout).toContain(option);
  });

  it('allows enough time to stop and keeps data private', () => {
    expect(Number(/^TimeoutStopSec=(\d+)$/mu.exec(unit)?.[1])).toBeGreaterThan(15);
    expect(unit).toMatch(/^StateDirectory=strata$/mu);
    expect(unit).toMatch(/^User=strata$/mu);
  });

  const verifier = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'systemd-analyze'))
    .find((file) => existsSync(file));

  if (verifier === undefined) it.skip('skipped: no systemd-analyze on the path');
  else {
    it('is understood by systemd', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'strata-unit-'));
      const file = join(folder, 'strata@worker.service');
      // Node and the program have other paths on this machine, which this test does not check.
      const here = unit.replace('/usr/bin/node', process.execPath).replaceAll('/opt/strata', root.replace(/\/$/u, ''));
      await writeFile(file, here);
      const { stdout, stderr } = await run(verifier, ['verify', file]);
      await rm(folder, { recursive: true });
      // It also judges the machine's own units.
      expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('strata@'))).toEqual([]);
    });
  }

  it('names a page that exists', () => {
    const page = /^Documentation=file:\/opt\/strata\/(\S+)$/mu.exec(unit)?.[1] ?? '';
    expect(existsSync(join(root, page))).toBe(true);
  });
});
