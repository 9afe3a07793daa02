import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/cli/names.ts';
import { knownPaths } from '../src/config/problems.ts';
import { configSchema, fileSchema, fileSections } from '../src/config/schema.ts';
import { headingsOf } from '../tools/api-docs.ts';
import { notShown, numbered, type Shown } from './support/shown.ts';

/**
 * Checks the documents' statements about tests, files, settings and commands. Paths in backticks: architecture.test.ts.
 */

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const documents = ['README.md', 'ARCHITECTURE.md', 'test/README.md', ...globSync('docs/*.md', { cwd: root })];

/** `| S1 | what it does | `file` |` */
function rowsOf(text: string): readonly Shown[] {
  const row = /^\| ([SOPQARW]\d+a?) \| [^|]+ \| `([^`]+)` \|$/gmu;
  return [...text.matchAll(row)].map(([, id = '', file = '']) => ({ id, file }));
}

/** `| O13 | why |` */
function openIn(text: string): readonly string[] {
  return [...text.matchAll(/^\| ([SOPQARW]\d+a?) \| [^|]+ \|$/gmu)].map(([, id = '']) => id);
}

interface PlatformRow {
  readonly id: string;
  readonly cells: readonly string[];
}

/** `| A | what it does | `file` for Discord | `file` for Slack |` */
function platformRowsOf(text: string): readonly PlatformRow[] {
  const row = /^\| ([A-N]|C\d+|R\d+) \| [^|]+ \| ((?:`|–)[^|]+) \| ((?:`|–)[^|]+) \|$/gmu;
  return [...text.matchAll(row)].map(([, id = '', ...cells]) => ({ id, cells }));
}

/** The files that the cells name. A cell with a dash says why there is none. */
function filesIn(rows: readonly PlatformRow[]): readonly Shown[] {
  return rows.flatMap(({ id, cells }) =>
    cells.filter((cell) => !cell.startsWith('– ')).map((cell) => ({ id, file: cell.slice(1, -1) })),
  );
}

/** Targets of links that are no addresses, from the document's own folder. */
function brokenLinks(path: string, text: string): readonly string[] {
  const targets = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/gu)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/u.test(target))
    .map((target) => relative(root, join(root, dirname(path), target)))
    .filter((target) => !existsSync(join(root, target)));
}

/** Links to a heading that its page does not have. */
function brokenAnchors(path: string, text: string): readonly string[] {
  const targets = [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/gu)];
  return targets.flatMap(([, file = '', anchor = '']) => {
    const target = file === '' ? text : readFileSync(join(root, dirname(path), file), 'utf8');
    return headingsOf(target).some((heading) => heading.anchor === anchor) ? [] : [`${file}#${anchor}`];
  });
}

const paths = new Set([...knownPaths(fileSchema), ...knownPaths(fileSections.prices.valueType, 'prices')]);
const known = new Set([...paths, ...knownPaths(configSchema)].flatMap((path) => path.split('.')));

/** Keys and tables of every TOML block that the configuration does not know. A platform's own table is its adapter's. */
function unknownKeys(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```toml\n([\s\S]*?)^```/gmu)].map(([, block = '']) => block);
  return blocks.flatMap((block) => {
    let table = '';
    return block.split('\n').flatMap((line) => {
      const header = /^\[\[?([\w.]+)(?:\."[^"]+")?\]\]?/u.exec(line)?.[1];
      table = header ?? table;
      const key = /^(\w+)\s*=/u.exec(line)?.[1];
      const path = header ?? (key === undefined ? null : [table, key].filter((part) => part !== '').join('.'));
      return path === null || /^(?:channels|plugins)/u.test(path) || paths.has(path) ? [] : [path];
    });
  });
}

/** Words in backticks with an underscore look like settings; `strata_…` are metrics. */
function unknownSettings(text: string): readonly string[] {
  const words = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/gu)].map(([, word = '']) => word);
  return [...new Set(words)].filter((word) => !known.has(word) && !elsewhere.has(word) && !word.startsWith('strata_'));
}

/** Tools, the keys of adapters, tables of the store, and what a README's example creates. */
const elsewhere = new Set([
  ...[
    'memory_save',
    'memory_recall',
    'transcript_search',
    'summary_open',
    'summary_save',
    'blob_read',
    'message_open',
    'tool_help',
    'roll_dice',
  ],
  ...globSync('adapters/channels/*/{settings,index}.ts', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/^\s*(\w+_\w+):/gmu)].map(([, key = '']) => key),
  ),
  ...[...read('adapters/stores/sql/schema/tables.ts').matchAll(/^ {2}(\w+_\w+): \w+Table;$/gmu)].map(
    ([, name = '']) => name,
  ),
]);

/** What `strata …` is followed by, in code. Platforms bring commands of their own. */
function unknownCommands(text: string): readonly string[] {
  const platforms = globSync('adapters/channels/*', { cwd: root }).map((path) => path.split(/[\\/]/u).at(-1) ?? '');
  const code = [...text.matchAll(/`([^`\n]+)`/gu)].map(([, inline = '']) => inline);
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gmu)].flatMap(([, block = '']) => block.split('\n'));
  const called = [...code, ...blocks].flatMap((line) => /(?:^|npx |\| )strata ([a-z][a-z-]*)/u.exec(line)?.[1] ?? []);
  return [...new Set(called)].filter((word) => ![...COMMANDS, ...platforms].some((name) => name === word));
}

/** `npm start` is `strata start` already: what follows are its options, never another command. */
function commandsAfterStart(text: string): readonly string[] {
  return [...text.matchAll(/npm start (?:--silent )?-- ([a-z]\w*)/gu)].map(([, name = '']) => name);
}

/** The first column of README's table of commands. */
function commandsInTable(text: string): readonly string[] {
  const table = text.slice(text.indexOf('| command |'));
  const cells = [...table.slice(0, table.indexOf('\n\n')).matchAll(/^\| (`[^|]+) \|/gmu)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)/gu)].map(([, name = '']) => name));
}

describe('the table of features', () => {
  const text = read('docs/features.md');
  const rows = rowsOf(text);

  it('has every row of every list once, shown or open', () => {
    const wanted = [
      ...numbered('S', 36),
      ...numbered('O', 46),
      ...numbered('P', 32),
      ...numbered('Q', 30),
      ...numbered('A', 34),
    ];
    const found = [...rows.map(({ id }) => id), ...openIn(text)];
    const required = [...numbered('R', 26), 'R31', 'R32', 'R33', 'R34'];
    expect(found.toSorted()).toEqual([...wanted, 'P5a', ...required, ...numbered('W', 35)].toSorted());
  });

  it('leaves no behaviour of compaction and no requirement open', () => {
    expect(openIn(text).filter((id) => /^[SRW]/u.test(id))).toEqual([]);
  });

  it('names files whose tests name the row', () => {
    expect(notShown(rows)).toEqual([]);
  });

  it('has a tested row for each duty of channels', () => {
    const wanted = [...'ABCDEFGHIJKLMN', ...numbered('C', 11), 'R27', 'R28', 'R29', 'R30'];
    const found = platformRowsOf(text);
    expect(found.map(({ id }) => id)).toEqual(wanted);
    expect(notShown(filesIn(found))).toEqual([]);
    expect(filesIn(found).length).toBeGreaterThan(wanted.length);
  });

  it('would be found wrong', () => {
    const rot = '| S1 | x | `core/nothing.test.ts` |\n| S2 | x | `docs.test.ts` |\n| S3 | open |\n';
    expect(notShown(rowsOf(rot))).toHaveLength(2);
    expect(openIn(rot)).toEqual(['S3']);
    const cells = '| A | x | `docs.test.ts` | – a reason |\n| R27 | x | `core/nothing.test.ts` | nothing |\n';
    expect(platformRowsOf(cells)).toHaveLength(1);
    expect(notShown(filesIn(platformRowsOf(cells)))).toHaveLength(1);
  });
});

describe.each(documents)('%s', (path) => {
  const text = read(path);

  it('links to files that exist', () => {
    expect(brokenLinks(path, text)).toEqual([]);
  });

  it('links to headings that exist', () => {
    expect(brokenAnchors(path, text)).toEqual([]);
  });

  it('names settings that exist', () => {
    expect([...unknownKeys(text), ...unknownSettings(text)]).toEqual([]);
  });

  it('names commands that exist', () => {
    expect(unknownCommands(text)).toEqual([]);
    expect(commandsAfterStart(text)).toEqual([]);
  });
});

describe('what is published', () => {
  // Shows: R34
  it('the figures cover replies, estimates and recall', () => {
    const figures = read('docs/benchmarks.md');
    for (const word of ['p50', 'p99', 'summary', 'estimate', 'recall@']) expect(figures).toContain(word);
  });
});

describe('the README', () => {
  it('lists every command of the program', () => {
    expect(commandsInTable(read('README.md')).toSorted()).toEqual([...COMMANDS].toSorted());
  });
});

describe('each check can fail', () => {
  it('for links, settings and commands that are not there', () => {
    expect(brokenLinks('docs/x.md', '[a](nowhere.md) [b](../README.md) [c](https://example.org/x)')).toEqual([
      'docs/nowhere.md',
    ]);
    const anchors = '# A (`b`)\n[a](#a-b) [b](#a) [c](../README.md#license) [d](../README.md#licence)';
    expect(brokenAnchors('docs/x.md', anchors)).toEqual(['#a', '../README.md#licence']);
    const toml = '```toml\n[defaults]\nmodle = "x"\n[defaults.compaction]\nstack_share = 0.1\n[nothing]\n```\n';
    expect(unknownKeys(toml)).toEqual(['defaults.modle', 'nothing']);
    expect(unknownSettings('`stack_share` and `stack_shore`')).toEqual(['stack_shore']);
    expect(unknownCommands('`strata chat`, `strata chatter` and\n```sh\nnpx strata frob\n```\n')).toEqual([
      'chatter',
      'frob',
    ]);
    expect(commandsAfterStart('`npm start -- doctor` and `npm start -- --model x`')).toEqual(['doctor']);
  });
});
