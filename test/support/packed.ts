import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { z } from 'zod';
import { ENVIRONMENT } from './environment.ts';

const root = join(import.meta.dirname, '../..');
const modules = join(root, 'node_modules');
const run = promisify(execFile);

export const manifestSchema = z.looseObject({
  version: z.string(),
  bin: z.record(z.string(), z.string()),
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string(), default: z.string() })])),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()).optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The package as a stranger has it: unpacked from its tarball, outside this repository. */
export interface Packed {
  readonly manifest: Manifest;
  /** Disk blocks, in bytes, of the unpacked package and of all that it depends on according to the lock file. */
  installedBytes(): number;
  openProject(packages?: readonly string[]): Project;
}

/** A folder with the package, its dependencies and `packages` in `node_modules`, and nothing else. */
export interface Project extends Disposable {
  readonly path: string;
  write(name: string, text: string): void;
  /** Runs Node here. */
  node(args: readonly string[], input?: string): Promise<Ended>;
  /** Runs `strata` as `npx strata` does. */
  strata(args: readonly string[], input?: string): Promise<Ended>;
  /** The compiler's complaints; empty when there are none. */
  typeCheck(options: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Builds and packs the current state of the repository, once for all test files of a run: they share `dist`. */
export async function pack(): Promise<Packed> {
  const folder = join(inject('runFolder'), 'packed');
  const done = join(folder, 'done');
  const isFirst = mkdirSync(folder, { recursive: true }) !== undefined;
  if (isFirst) {
    await packInto(folder).finally(() => writeFileSync(done, ''));
  }
  while (!existsSync(done)) await delay(100);
  const unpacked = join(folder, 'package');
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')));
  return {
    manifest,
    installedBytes: () => bytesIn(unpacked) + dependencyFolders(manifest).reduce((sum, path) => sum + bytesIn(path), 0),
    openProject: (packages = []) => openProject(unpacked, manifest, packages),
  };
}

async function packInto(folder: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  await run('tar', ['-xzf', join(folder, stdout.trim().split('\n').at(-1) ?? ''), '-C', folder]);
}

function openProject(unpacked: string, manifest: Manifest, packages: readonly string[]): Project {
  const path = mkdtempSync(join(tmpdir(), 'strata-stranger-'));
  const own = join(path, 'node_modules');
  mkdirSync(join(own, '.bin'), { recursive: true });
  // Not a link: Node would follow it, and find packages next to it that a stranger does not have.
  cpSync(unpacked, join(own, 'stratabot'), { recursive: true });
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    mkdirSync(dirname(join(own, name)), { recursive: true });
    symlinkSync(join(modules, name), join(own, name));
  }
  const entry = join(own, 'stratabot', manifest.bin['strata'] ?? '');
  chmodSync(entry, 0o755);
  symlinkSync(entry, join(own, '.bin/strata'));
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }\n');
  return {
    path,
    write(name, text) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    },
    node: (args, input) => ended(path, [process.execPath, ...args], input),
    strata: (args, input) => ended(path, [join(own, '.bin/strata'), ...args], input),
    async typeCheck(options) {
      const compilerOptions = { strict: true, noEmit: true, target: 'es2024', types: ['node'], ...options };
      writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      return (await ended(path, [join(modules, '.bin/tsc'), '-p', path, '--singleThreaded'])).stdout;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

function ended(cwd: string, [program = '', ...args]: readonly string[], input = ''): Promise<Ended> {
  const PATH = [dirname(process.execPath), ENVIRONMENT['PATH']].join(delimiter);
  // The paths of a project are new in every run.
  const NODE_COMPILE_CACHE = join(inject('runFolder'), 'compiled');
  const child = spawn(program, args, {
    cwd,
    env: { ...ENVIRONMENT, PATH, HOME: cwd, TMPDIR: tmpdir(), NODE_COMPILE_CACHE },
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text;
  });
  // A process that refuses to start does not read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...texts }));
  });
}

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies: z.record(z.string(), z.string()).optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      peerDependencies: z.record(z.string(), z.string()).optional(),
      peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).optional(),
    }),
  ),
});

/** The folders that npm installs for the package's dependencies, found by walking the lock file as Node resolves. */
function dependencyFolders({ dependencies }: Manifest): readonly string[] {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const found = new Set<string>();
  const visit = (from: string, name: string): void => {
    for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
      const path = `${base === '' ? '' : `${base}/`}node_modules/${name}`;
      const entry = packages[path];
      if (entry !== undefined && !found.has(path)) {
        found.add(path);
        for (const next of requiredBy(entry)) visit(path, next);
      }
      if (entry !== undefined || base === '') return;
    }
  };
  for (const name of Object.keys(dependencies)) visit('', name);
  return [...found].map((path) => join(root, path));
}

type LockedPackage = z.infer<typeof lockSchema>['packages'][string];

function requiredBy(entry: LockedPackage): readonly string[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry;
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers];
}

const BLOCK_BYTES = 4096;

/** Files and folders, as `du` counts them, without packages installed inside: those count by themselves. */
function bytesIn(folder: string): number {
  const found = globSync('**', { cwd: folder, withFileTypes: true, exclude: (entry) => entry.name === 'node_modules' });
  return found.reduce((sum, { parentPath, name }) => {
    const { size } = statSync(join(parentPath, name));
    return sum + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }, 0);
}
