import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeLine } from '../../adapters/channels/terminal/complete.ts';
import { builtInSpecs } from '../../src/commands/built-in/built-in-commands.ts';
import { runCommandLine } from '../../src/commands/lines/run-line.ts';
import { ADA, HERE } from '../support/bot-world.ts';
import { slowdown, threadCpuMs } from '../support/cpu.ts';
import { asyncTextFunctionsIn, classesIn } from '../support/exports.ts';

/**
 * Asynchronous functions wait for stores, files and networks. Their work on text is done by synchronous functions,
 * which linear.test.ts times, and loop.test.ts times whole bots. Those that read people's text themselves are timed
 * here.
 */

const root = join(import.meta.dirname, '../..');
const files = globSync('{src,adapters}/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('.d.ts') && path !== 'src/main.ts')
  .sort()
  .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);

/** What text of people is called in the sources. Other strings are ids, addresses, files and settings. */
const TEXT = /\b(?:text|line|query|question|content|said|body|words)\??: (?:readonly )?string\b/u;
/** They pass it on to functions that are timed. */
const PASSING = [
  'src/cli/memory/memory-records.ts#addMemoryOf',
  'src/cli/memory/memory-records.ts#searchOf',
  'src/conversation/children/child-turn.ts#tellChild',
  'src/inspection/memories.ts#changeMemory',
  'src/memory/admission/add.ts#othersNamedIn',
];

const who = { conversation: HERE, author: ADA, rights: 'member', audience: 'dm' } as const;
const plain = {
  title: '',
  text: '',
  fields: [],
  rows: null,
  page: null,
  actions: [],
  file: null,
  tone: 'info',
} as const;
const LOOKING: Readonly<Record<string, (line: string) => Promise<unknown>>> = {
  'adapters/channels/terminal/complete.ts#completeLine': (line) =>
    completeLine(line, { specs: builtInSpecs, suggest: async () => [{ value: line }] }),
  'src/commands/lines/run-line.ts#runCommandLine': (line) =>
    runCommandLine({ command: async () => ({ ...plain, ephemeral: true }), commandSpecs: builtInSpecs }, line, who),
};

const MAX_MIDDLE_MS = 100;
const MAX_GROWTH = 12;
const PARTS = ['a', '/', '/a ', ' ', '"', '=', 'a=', 'a="', '\\"', '「', '#1 ', '\u200b', '\n', '--', 'memory '];

async function timeOf(call: (line: string) => Promise<unknown>, text: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const before = threadCpuMs();
    await call(text).catch(() => undefined);
    best = Math.min(best, threadCpuMs() - before);
  }
  return best;
}

describe('every exported function that takes text and answers later', () => {
  it('is known here', () => {
    const found = files.flatMap(([path, source]) => asyncTextFunctionsIn(path, source));
    const reading = found.filter(({ parameters }) =>
      parameters.some(({ name, type }) => TEXT.test(`${name}: ${type}`)),
    );
    const names = reading.map(({ path, name }) => `${path}#${name}`).sort();
    expect(names).toEqual([...PASSING, ...Object.keys(LOOKING)].sort());
  });

  it.each(Object.keys(LOOKING))('%s takes linear time', async (name) => {
    const call = LOOKING[name] ?? (async () => undefined);
    for (const part of PARTS) {
      for (const head of ['', '/memory remember ']) {
        const textOf = (length: number) => head + part.repeat(Math.ceil(length / part.length)).slice(0, length);
        const middle = await timeOf(call, textOf(40_000));
        expect(middle, part).toBeLessThan(MAX_MIDDLE_MS * (middle < MAX_MIDDLE_MS ? 1 : slowdown()));
        const long = await timeOf(call, textOf(200_000));
        expect(long, part).toBeLessThan(Math.max(MAX_MIDDLE_MS, middle * MAX_GROWTH));
      }
    }
  });
});

it('no class but the errors is exported', () => {
  expect(files.flatMap(([path, source]) => classesIn(path, source))).toEqual([
    'src/domain/errors.ts#StrataError',
    'src/domain/errors.ts#ModelError',
  ]);
});
