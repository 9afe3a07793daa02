import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** Checks the rings on the actual imports, in addition to the lint rules. */

interface Source {
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly from: string;
  /** A path from the root for own files, a package's name, or `node:…`. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** Loaded when the code gets there, not with the file. */
  readonly late: boolean;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('{src,adapters}/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
  .map((path): Source => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const statement = /^(import|export)\s(?:(type)\s)?[^;'"]*?from\s'([^']+)'|^import\s'([^']+)'/gm;
const dynamic = /\b(?:import|require)\(\s*'([^']+)'\s*\)/g;

function importsOf({ path, text }: Source): readonly Import[] {
  const fixed = [...text.matchAll(statement)].map((match) => ({
    specifier: match[3] ?? match[4] ?? '',
    typeOnly: match[2] === 'type',
    late: false,
  }));
  const late = [...text.matchAll(dynamic)].map((match) => ({
    specifier: match[1] ?? '',
    typeOnly: false,
    late: true,
  }));
  return [...fixed, ...late].map(({ specifier, ...how }) => ({ from: path, to: resolve(path, specifier), ...how }));
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(dirname(from), specifier);
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const isOwn = (to: string): boolean => /^(src|adapters|test|bench)\//.test(to);
const isPackage = (to: string): boolean => !isOwn(to) && !to.startsWith('node:');

/** Third parties of the core, and the only places that may use them. */
const corePackages: Readonly<Record<string, RegExp>> = {
  zod: /^src\//,
  'smol-toml': /^src\/config\//,
  'toml-eslint-parser': /^src\/config\//,
  handlebars: /^src\/prompts\//,
  commander: /^src\/cli\//,
  'string-width': /^src\/util\//,
};

/** `adapters/stores/sqlite/index.ts` → `adapters/stores/sqlite`. */
const adapterOf = (path: string): string => path.split('/').slice(0, 3).join('/');
const sharedLibraries = ['adapters/stores/sql', 'adapters/channels/shared'];

/** For the author of a bot, and for authors of adapters. */
const doors = ['src/index.ts', 'src/adapter-kit.ts'];

function refusal({ from, to }: Import): string | null {
  if (from.startsWith('adapters/')) return refusalOfAdapter(from, to);
  if (isPackage(to)) return corePackages[to]?.test(from) ? null : 'the core does not use this package here';
  if (to.startsWith('adapters/')) {
    return ['src/main.ts', 'src/program.ts'].includes(from) && to === 'adapters/registry.ts'
      ? null
      : 'the core knows no adapter';
  }
  if (to === 'src/program.ts') return from === 'src/main.ts' ? null : 'the arrow turns back';
  if (to === 'src/main.ts') return 'the arrow turns back';
  if (doors.includes(to) && !doors.includes(from) && from !== 'src/main.ts') return 'the arrow turns back';
  if (from.startsWith('src/ports/')) return refusalOfPort(to);
  if (from.startsWith('src/domain/')) return to.startsWith('src/domain/') ? null : 'the domain imports nothing else';
  return null;
}

function refusalOfAdapter(from: string, to: string): string | null {
  if (isPackage(to)) return to === 'zod' || !(to in corePackages) ? null : 'this package belongs to the core';
  if (to.startsWith('src/'))
    return to === 'src/adapter-kit.ts' ? null : 'adapters enter the core by src/adapter-kit.ts only';
  if (!to.startsWith('adapters/')) return to.startsWith('node:') ? null : 'adapters do not use tests';
  const reachable = from === 'adapters/registry.ts' || adapterOf(to) === adapterOf(from);
  return reachable || sharedLibraries.includes(adapterOf(to)) ? null : 'no adapter imports another';
}

function refusalOfPort(to: string): string | null {
  const allowed = to.startsWith('src/ports/') || to.startsWith('src/domain/');
  return allowed ? null : 'ports import the domain and other ports only';
}

function violations(files: readonly Source[]): readonly string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap((found) => {
      const reason = refusal(found);
      return reason === null ? [] : [`${found.from} -> ${found.to}: ${reason}`];
    }),
  );
}

/** An SDK lives in one adapter. The stores count as one: they share their query builder. */
function sharedSdks(files: readonly Source[]): readonly string[] {
  const users = new Map<string, Set<string>>();
  for (const { from, to } of files.flatMap(importsOf)) {
    if (!from.startsWith('adapters/') || !isPackage(to) || to === 'zod') continue;
    const user = from.startsWith('adapters/stores/') ? 'adapters/stores' : adapterOf(from);
    users.set(to, (users.get(to) ?? new Set()).add(user));
  }
  return [...users].filter(([, found]) => found.size > 1).map(([name, found]) => `${name}: ${[...found].join(', ')}`);
}

/** The first circle of imports, types included: two files that know each other are one. */
function cycle(files: readonly Source[]): readonly string[] | null {
  const graph = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ to }) => isOwn(to))
        .map(({ to }) => to),
    ]),
  );
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return null;
    for (const next of graph.get(path) ?? []) {
      const found = visit(next, [...trail, path]);
      if (found) return found;
    }
    done.add(path);
    return null;
  };
  for (const path of graph.keys()) {
    const found = visit(path, []);
    if (found) return found;
  }
  return null;
}

/** What a bot on the terminal loads before it is ready; its adapters are loaded by name. */
const loadedAtStart = [
  'src/program.ts',
  'adapters/channels/terminal/index.ts',
  'adapters/logs/pino/index.ts',
  'adapters/models/ai-sdk/index.ts',
  'adapters/models/offline/index.ts',
  'adapters/queues/local/index.ts',
  'adapters/stores/sqlite/index.ts',
];
/** The beginnings of paths. Each file costs every process memory and time at the start. */
const filesNeededLater = [
  'src/compaction/maintenance.ts',
  'src/compaction/round/',
  'src/compaction/ask/',
  'src/memory/forget/',
  'src/memory/export.ts',
  'src/memory/admission/admission.ts',
  'src/requests/explain.ts',
  'src/requests/diff.ts',
  'src/requests/rebuild.ts',
  'src/search/specifics/losses.ts',
  'src/forecast/',
  'src/inspection/audit.ts',
  'adapters/models/ai-sdk/calls/stream.ts',
  'adapters/models/offline/reply.ts',
  'adapters/models/offline/summaries/maintenance.ts',
  'adapters/inspector/',
];
const packagesNeededLater = ['handlebars', 'pino', 'string-width', 'toml-eslint-parser'];
const isNeededLater = (path: string) =>
  packagesNeededLater.includes(path) || filesNeededLater.some((beginning) => path.startsWith(beginning));

/** The files that are loaded too early. */
function tooEarly(files: readonly Source[], entries: readonly string[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Set(entries);
  for (const path of loaded) {
    const file = byPath.get(path);
    for (const { to, typeOnly, late } of file === undefined ? [] : importsOf(file)) {
      if (!typeOnly && !late) loaded.add(to);
    }
  }
  return [...loaded].filter(isNeededLater);
}

/**
 * The folders that a file belongs to: `src/memory/recall/focus.ts` → `src/memory` and `src/memory/recall`;
 * `adapters/channels/slack/inbound/x.ts` → its own. A file beside folders is a room of its own.
 */
function roomOf(path: string, depth: number): string {
  const parts = path.split('/');
  return parts.length > depth ? parts.slice(0, depth).join('/') : path;
}

const outerRoom = (path: string) => roomOf(path, path.startsWith('src/') ? 2 : 4);
const innerRoom = (path: string) => roomOf(path, path.startsWith('src/') ? 3 : 4);

/** Pairs of folders that import each other, types included. */
function mutualImports(files: readonly Source[]): readonly string[] {
  const imports = files.flatMap(importsOf).filter(({ to }) => isOwn(to));
  const pairs = [outerRoom, innerRoom].flatMap((room) => {
    const arrows = new Set(imports.map(({ from, to }) => `${room(from)} ${room(to)}`));
    return [...arrows].flatMap((arrow) => {
      const [from = '', to = ''] = arrow.split(' ');
      return from < to && arrows.has(`${to} ${from}`) ? [`${from} <-> ${to}`] : [];
    });
  });
  return [...new Set(pairs)];
}

/** What may lie in the root of `src/`: the doors and the composition. */
const rootFiles = [...doors, 'src/main.ts', 'src/program.ts', 'src/services.ts'];

const strayFiles = (files: readonly Source[]): readonly string[] =>
  files.map(({ path }) => path).filter((path) => /^src\/[^/]+$/.test(path) && !rootFiles.includes(path));

/** The names that an entry point exports. A re-export of a whole file counts under a name of its own. */
function namesOf(text: string): readonly string[] {
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].map(([, list = '']) => list.split(','));
  const wholes = [...text.matchAll(/^export (?:type )?\* from '([^']+)'/gm)].flatMap(([, from = '']) =>
    Array.from({ length: 61 }, () => from),
  );
  return [
    ...lists
      .flat()
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    ...wholes,
  ];
}

interface Port {
  readonly name: string;
  readonly members: readonly string[];
  readonly optional: readonly string[];
}

/** Interfaces with a method are ports for adapters to implement; the others are data. */
function portsIn({ text }: Source): readonly Port[] {
  return [...text.matchAll(/^export interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)].flatMap(([, name = '', body = '']) => {
    const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)(\??)(<[^>]*>)?[(:]/gm)];
    const isPort = /^ {2}\w+\??(<[^>]*>)?\(/m.test(body);
    const names = (marks: readonly string[]) =>
      members.filter((member) => marks.includes(member[2] ?? '')).map((member) => member[1] ?? '');
    return isPort ? [{ name, members: names(['', '?']), optional: names(['?']) }] : [];
  });
}

function portProblems(files: readonly Source[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('src/ports/'))
    .flatMap(portsIn)
    .flatMap(({ name, members, optional }) => [
      ...(members.length < 2 || members.length > 8 ? [`${name} has ${members.length} members`] : []),
      ...optional.map((member) => `${name}.${member} is optional`),
    ]);
}

function tooLong(files: readonly Source[]): readonly string[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > 300)
    .map(({ path, lines }) => `${path} has ${lines} lines`);
}

/** Paths in backticks that look like files of this project; patterns with `*`, `<` or `{` are not judged. */
function missingPaths(text: string): readonly string[] {
  const paths = [...text.matchAll(/`((?:\.\/)?(?:src|adapters|prompts|test|bench|docs|\.ci)\/[^`\s]*)`/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !/[*<{…]/.test(path));
  // The tables of tests name files as they lie under `test/`.
  const isThere = (path: string) => [root, join(root, 'test')].some((base) => existsSync(join(base, path)));
  return [...new Set(paths)].filter((path) => !isThere(path.replace(/:\d+$/, '')));
}

describe('the sources', () => {
  test('are all seen, with their imports', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(sources.length);
    const counted = sources.flatMap(({ text }) => [...text.matchAll(/^(?:import|\} from|export .* from)\b/gm)]).length;
    const multiline = sources.flatMap(({ text }) => [...text.matchAll(/^(?:import|export)[^;']*\{\n/gm)]).length;
    const found = sources.flatMap(importsOf).length;
    expect(found).toBeGreaterThanOrEqual(counted - multiline);
  });

  test('import inwards only: adapters, door, core, ports, domain', () => {
    expect(violations(sources)).toEqual([]);
  });

  test("name at most 60 things in the author's door", () => {
    expect(namesOf(readFileSync(join(root, 'src/index.ts'), 'utf8')).length).toBeLessThanOrEqual(60);
  });

  test('keep each SDK within one adapter', () => {
    expect(sharedSdks(sources)).toEqual([]);
  });

  test('import nothing in a circle, types included', () => {
    expect(cycle(sources)).toBeNull();
  });

  test('have no two folders that import each other', () => {
    expect(mutualImports(sources)).toEqual([]);
  });

  test('keep the root of src to doors and composition', () => {
    expect(strayFiles(sources)).toEqual([]);
  });

  test('have ports of two to eight members, all required', () => {
    expect(sources.filter(({ path }) => path.startsWith('src/ports/')).flatMap(portsIn).length).toBeGreaterThan(10);
    expect(portProblems(sources)).toEqual([]);
  });

  test('load what a start does not need on first use', () => {
    expect(tooEarly(sources, loadedAtStart)).toEqual([]);
  });

  test.each(filesNeededLater)('have %s, which a start does not need', (beginning) => {
    expect(sources.filter(({ path }) => path.startsWith(beginning)).length).toBeGreaterThan(0);
  });

  test('have at most 300 lines a file', () => {
    expect(tooLong(sources)).toEqual([]);
  });

  test.each(['README.md', 'ARCHITECTURE.md', 'docs/features.md', 'test/README.md'])(
    'are where %s says that they are',
    (file) => {
      const path = join(root, file);
      expect(existsSync(path) ? missingPaths(readFileSync(path, 'utf8')) : []).toEqual([]);
    },
  );
});

describe('each check can fail', () => {
  const seeded = (path: string, text: string) => violations([{ path, text }]);

  test.each([
    ['src/bot/bot.ts', "import { x } from '../../adapters/queues/local/index.ts';"],
    ['src/bot/bot.ts', "const x = await import('../../adapters/registry.ts');"],
    ['src/bot/bot.ts', "import type { Pool } from 'better-sqlite3';"],
    ['src/context/view/view.ts', "import {\n  a,\n  b,\n} from '@ai-sdk/openai';"],
    ['src/bot/bot.ts', "import Handlebars from 'handlebars';"],
    ['src/bot/bot.ts', "const library = require('handlebars');"],
    ['src/bot/bot.ts', "import { main } from '../main.ts';"],
    ['src/memory/recall/recall.ts', "export { createBot } from '../../index.ts';"],
    ['src/memory/recall/recall.ts', "import type { Store } from '../../adapter-kit.ts';"],
    ['adapters/queues/local/index.ts', "import type { Queue } from '../../../src/index.ts';"],
    ['src/main.ts', "import { x } from '../adapters/stores/sqlite/index.ts';"],
    ['src/program.ts', "import { x } from '../adapters/stores/sqlite/index.ts';"],
    ['src/bot/bot.ts', "import { openApp } from '../program.ts';"],
    ['src/ports/queue.ts', "import type { Config } from '../config/schema.ts';"],
    ['src/ports/queue.ts', "import { z } from '../tools/define.ts';"],
    ['src/domain/message.ts', "import type { Tier } from '../ports/engine.ts';"],
    ['adapters/queues/local/index.ts', "import type { Queue } from '../../../src/ports/queue.ts';"],
    ['adapters/queues/local/index.ts', "import { x } from '../../stores/sqlite/index.ts';"],
    ['adapters/queues/local/index.ts', "import { x } from '../../../test/contracts/queue.ts';"],
    ['adapters/models/offline/index.ts', "import Handlebars from 'handlebars';"],
  ])('%s must not hold %s', (path, text) => {
    expect(seeded(path, text)).toHaveLength(1);
  });

  test('and passes what is allowed', () => {
    expect(seeded('src/main.ts', "import { registry } from '../adapters/registry.ts';")).toEqual([]);
    expect(seeded('src/main.ts', "import { createBot } from './index.ts';")).toEqual([]);
    expect(seeded('src/main.ts', "import { openApp } from './program.ts';")).toEqual([]);
    expect(seeded('src/config/load.ts', "import { parse } from 'smol-toml';\nimport { z } from 'zod';")).toEqual([]);
    expect(seeded('src/ports/store.ts', "import type { Entry } from '../domain/message.ts';")).toEqual([]);
    expect(seeded('adapters/stores/sqlite/index.ts', "import { x } from '../sql/schema.ts';")).toEqual([]);
    expect(
      seeded('adapters/stores/sqlite/index.ts', "import type { Store } from '../../../src/adapter-kit.ts';"),
    ).toEqual([]);
    expect(seeded('adapters/registry.ts', "const x = () => import('./queues/local/index.ts');")).toEqual([]);
  });

  test('an SDK that two adapters use is found', () => {
    const user = (path: string) => ({ path, text: "import { generateText } from 'ai';" });
    const [one, two] = [user('adapters/models/ai-sdk/index.ts'), user('adapters/models/offline/index.ts')];
    expect(sharedSdks([one, two])).toEqual(['ai: adapters/models/ai-sdk, adapters/models/offline']);
    expect(sharedSdks([user('adapters/stores/sqlite/a.ts'), user('adapters/stores/sql/b.ts')])).toEqual([]);
  });

  test('finds circles through any number of files and types', () => {
    const a = { path: 'src/a.ts', text: "import { b } from './b.ts';" };
    const b = { path: 'src/b.ts', text: "import {\n  c,\n} from './c.ts';" };
    const c = { path: 'src/c.ts', text: "export { a } from './a.ts';" };
    const circle = ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts'];
    expect(cycle([a, b, c])).toEqual(circle);
    expect(cycle([a, b, { ...c, text: "import type { a } from './a.ts';" }])).toEqual(circle);
    expect(cycle([a, b, { ...c, text: '' }])).toBeNull();
  });

  test('finds two folders that import each other', () => {
    const one = { path: 'src/memory/a.ts', text: "import type { B } from '../context/b.ts';" };
    const two = { path: 'src/context/c.ts', text: "import { d } from '../memory/d.ts';" };
    expect(mutualImports([one, two])).toEqual(['src/context <-> src/memory']);
    expect(mutualImports([one])).toEqual([]);
    const recall = { path: 'src/memory/recall/a.ts', text: "import { b } from '../rights/b.ts';" };
    const rights = { path: 'src/memory/rights/b.ts', text: "import type { A } from '../recall/c.ts';" };
    expect(mutualImports([recall, rights])).toEqual(['src/memory/recall <-> src/memory/rights']);
    const slack = 'adapters/channels/slack';
    const inbound = { path: `${slack}/inbound/a.ts`, text: "import { b } from '../outbound/b.ts';" };
    const outbound = { path: `${slack}/outbound/b.ts`, text: "import type { A } from '../inbound/c.ts';" };
    expect(mutualImports([inbound, outbound])).toEqual([`${slack}/inbound <-> ${slack}/outbound`]);
  });

  test('finds a file that a start loads too early', () => {
    const program = { path: 'src/program.ts', text: "import { createBot } from './bot/bot.ts';" };
    const bot = (text: string) => ({ path: 'src/bot/bot.ts', text });
    const early = bot("import { forget } from '../memory/forget/forget.ts';");
    expect(tooEarly([program, early], ['src/program.ts'])).toEqual(['src/memory/forget/forget.ts']);
    const late = bot("const { forget } = await import('../memory/forget/forget.ts');");
    expect(tooEarly([program, late], ['src/program.ts'])).toEqual([]);
  });

  test('finds a package that a start loads too early', () => {
    const wrap = (text: string) => ({ path: 'src/util/text/cells.ts', text });
    const early = wrap("import stringWidth from 'string-width';");
    expect(tooEarly([early], [early.path])).toEqual(['string-width']);
    const late = wrap("import type { Logger } from 'pino';\nconst tables = () => require('string-width');");
    expect(tooEarly([late], [late.path])).toEqual([]);
  });

  test('the names of a door are counted', () => {
    expect(namesOf("export { a, type B } from './a.ts';\nexport type {\n  C,\n} from './c.ts';\n")).toHaveLength(3);
    expect(namesOf("export type * from './ports/store.ts';\n").length).toBeGreaterThan(60);
  });

  test('finds a file in the root of src', () => {
    const at = (path: string) => ({ path, text: '' });
    expect(strayFiles([at('src/helpers.ts'), at('src/main.ts'), at('src/util/text/text.ts')])).toEqual([
      'src/helpers.ts',
    ]);
  });

  test('finds ports too wide, too narrow or with optional members', () => {
    const port = (name: string, members: readonly string[]) => ({
      path: 'src/ports/x.ts',
      text: `export interface ${name} {\n${members.map((member) => `  ${member}\n`).join('')}}\n`,
    });
    const methods = Array.from({ length: 9 }, (_, index) => `m${index}(): void;`);
    expect(portProblems([port('Wide', methods)])).toEqual(['Wide has 9 members']);
    expect(portProblems([port('Narrow', ['run(): void;'])])).toEqual(['Narrow has 1 members']);
    expect(portProblems([port('Loose', ['a?(): void;', 'readonly b: string;'])])).toEqual(['Loose.a is optional']);
    expect(portProblems([port('Data', ['readonly a: string;'])])).toEqual([]);
  });

  test('finds long files and paths that do not exist', () => {
    expect(tooLong([{ path: 'src/x.ts', text: 'x\n'.repeat(301) }])).toEqual(['src/x.ts has 301 lines']);
    expect(tooLong([{ path: 'src/x.ts', text: 'x\n'.repeat(300) }])).toEqual([]);
    expect(missingPaths('See `src/nowhere.ts`, `src/domain/message.ts`, `adapters/*/x.ts` and `npm test`.')).toEqual([
      'src/nowhere.ts',
    ]);
  });
});
