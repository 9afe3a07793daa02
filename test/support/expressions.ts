import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { check } from 'recheck';
import { z } from 'zod';
import { cpuMsOf } from './cpu.ts';

/** A regular expression of the sources, with every place where it is written. */
export const expressionSchema = z.object({
  source: z.string(),
  flags: z.string(),
  places: z.array(z.string()).readonly(),
});
export type Expression = Readonly<z.infer<typeof expressionSchema>>;

export interface Found {
  readonly expressions: readonly Expression[];
  /** Places that build an expression at run time, which cannot be checked beforehand. */
  readonly late: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const files = globSync('{src,adapters}/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('.d.ts'))
  .sort();

/** A node of the syntax. A schema for each of them would take seconds: there are hundreds of thousands. */
type Node = object & { readonly type: string };
const regexSchema = z.object({ pattern: z.string(), flags: z.string() });

function isNode(value: object): value is Node {
  return 'type' in value && typeof value.type === 'string';
}

function startOf(node: Node): number {
  if (!('start' in node) || typeof node.start !== 'number') throw new Error(`${node.type} has no start`);
  return node.start;
}

function isNamed(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && 'name' in value && value.name === name;
}

/** Every literal of a file, and every `RegExp(…)` within a function. */
export function expressionsIn(path: string, text: string): Found {
  const expressions: Expression[] = [];
  const late: string[] = [];
  const placeOf = (node: Node) => `${path}:${text.slice(0, startOf(node)).split('\n').length}`;
  const visit = (value: unknown, isLate: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, isLate);
      return;
    }
    if (!isNode(value)) return;
    if ('regex' in value && value.regex !== null) {
      const { pattern, flags } = regexSchema.parse(value.regex);
      expressions.push({ source: pattern, flags, places: [placeOf(value)] });
    }
    if (isLate && 'callee' in value && isNamed(value.callee, 'RegExp')) late.push(placeOf(value));
    const isWithin = isLate || value.type.includes('Function') || value.type === 'MethodDefinition';
    for (const inner of Object.values(value)) visit(inner, isWithin);
  };
  visit(parseSync(path, text).program, false);
  return { expressions, late };
}

/** The expressions in the sources, file by file. */
export function writtenExpressions(): readonly Found[] {
  return files.map((path) => expressionsIn(path, readFileSync(join(root, path), 'utf8')));
}

/** The expressions that modules build from parts when they are loaded. */
export async function builtExpressions(): Promise<readonly Expression[]> {
  const built: Expression[] = [];
  const Original = RegExp;
  const recorder = new Proxy(Original, {
    construct(target, [source, flags]) {
      const made = new target(source, flags);
      const place = /\/((?:src|adapters)\/[^)?\s]+\.ts(?::\d+)?)/u.exec(
        new Error('where').stack?.split('\n')[2] ?? '',
      )?.[1];
      if (place !== undefined) built.push({ source: made.source, flags: made.flags, places: [place] });
      return made;
    },
  });
  globalThis.RegExp = recorder;
  try {
    for (const path of files) if (path !== 'src/main.ts') await import(join(root, path));
  } finally {
    globalThis.RegExp = Original;
  }
  return built;
}

export function merge(expressions: readonly Expression[]): readonly Expression[] {
  const known = new Map<string, Expression>();
  for (const { source, flags, places } of expressions) {
    const before = known.get(`/${source}/${flags}`)?.places ?? [];
    known.set(`/${source}/${flags}`, { source, flags, places: [...new Set([...before, ...places])] });
  }
  return [...known.values()];
}

const CHECKERS = 2;
const TIMEOUT_MS = 5_000;
const cacheSchema = z.array(z.string());

/**
 * The problem of each expression whose time may grow faster than the text. Results are cached between runs, because
 * analysing all of them takes a minute.
 */
export async function superLinear(expressions: readonly Expression[], cacheFile: string): Promise<readonly string[]> {
  const verdicts = new Map([...safeIn(KNOWN), ...safeIn(cacheFile)].map((expression) => [expression, 'safe']));
  const left = expressions.filter(({ source, flags }) => !verdicts.has(`/${source}/${flags}`));
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      verdicts.set(`/${next.source}/${next.flags}`, await verdictOf(next));
    }
  };
  await Promise.all(Array.from({ length: CHECKERS }, work));
  mkdirSync(dirname(cacheFile), { recursive: true });
  const safe = [...verdicts].filter(([, verdict]) => verdict === 'safe').map(([expression]) => expression);
  // Another run may read it now.
  writeFileSync(`${cacheFile}.${process.pid}`, JSON.stringify(safe));
  renameSync(`${cacheFile}.${process.pid}`, cacheFile);
  return expressions.flatMap(({ source, flags, places }) => {
    const verdict = verdicts.get(`/${source}/${flags}`);
    return verdict === 'safe' ? [] : [`/${source}/${flags} at ${places.join(', ')}: ${verdict}`];
  });
}

/** How many of them the checkout does not list yet: a fresh machine analyses each for a sixth of a second. */
export function unlisted(expressions: readonly Expression[]): number {
  const listed = new Set(safeIn(KNOWN));
  return expressions.filter(({ source, flags }) => !listed.has(`/${source}/${flags}`)).length;
}

function safeIn(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  // An older checkout may have written the cache in another format.
  return cacheSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data ?? [];
}

/** The checker does not know the flag `v`. Classes alone, with nothing repeated outside of them, cannot backtrack. */
function isClassesOnly(source: string): boolean {
  let depth = 0;
  for (const token of source.match(/\\.|[\s\S]/gu) ?? []) {
    if (token === '[') depth += 1;
    else if (token === ']') depth -= 1;
    else if (depth === 0 && token !== '|') return false;
  }
  return true;
}

/**
 * An analysis of the automaton is a proof. If the checker only tried texts, or ran out of time, the expression is run
 * on its attack, and on texts made of its own words, at two lengths.
 */
async function verdictOf({ source, flags }: Expression): Promise<string> {
  if (flags.includes('v') && isClassesOnly(source)) return 'safe';
  const result = await check(source, flags, { timeout: TIMEOUT_MS });
  if (result.status === 'safe') return 'safe';
  if (result.status === 'unknown' && result.error.kind !== 'timeout')
    return `could not be judged: ${result.error.kind}`;
  const attack = result.status === 'vulnerable' ? result.attack : null;
  if (result.status === 'vulnerable' && result.checker === 'automaton')
    return describe(result.complexity.summary, attack);
  const pumps =
    attack === null ? [] : attack.pumps.map(({ prefix, pump }) => ({ prefix, pump, suffix: attack.suffix }));
  const slow = [...pumps, ...ownWords(source)].find((one) => growsTooFast(new RegExp(source, flags), one));
  return slow === undefined ? 'safe' : `super-linear when measured, on ${JSON.stringify(slow)}`;
}

interface Pump {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

/** The expression's own words, alone and in pairs, repeated. */
function ownWords(source: string): readonly Pump[] {
  const words = [...new Set(source.match(/[\p{L}' ]{2,}|[^\p{L}\s]/gu) ?? []), ' ', 'a', '1', '\n'].slice(0, 60);
  return words.flatMap((word, index) => {
    const next = words[(index + 1) % words.length] ?? '';
    return [word, `${word} `, `${word}${next}`].map((pump) => ({ prefix: '', pump, suffix: '\u0000' }));
  });
}

const SHORT = 4_000;
const GROWTH = 5;
/** Of a linear expression on a text this long, generously. */
const MAX_LONG_MS = 25;

function growsTooFast(expression: RegExp, pump: Pump): boolean {
  const long = timeOn(expression, pump, SHORT * GROWTH);
  return long > MAX_LONG_MS && long > timeOn(expression, pump, SHORT) * GROWTH * 2.5;
}

/** Milliseconds of this thread alone, whatever else the machine does; the best of three. */
function timeOn(expression: RegExp, { prefix, pump, suffix }: Pump, length: number): number {
  const text = prefix + pump.repeat(Math.ceil(length / Math.max(1, pump.length))) + suffix;
  const times = [1, 2, 3].map(() => cpuMsOf(() => text.replace(expression, '')));
  return Math.min(...times);
}

function describe(complexity: string, attack: { readonly pattern: string } | null): string {
  return `${complexity}, for example on ${attack?.pattern.slice(0, 200)}`;
}

/** Outside the checkout: expressions found safe here since. */
export const CACHE = join(homedir(), '.cache/strata/safe-expressions.json');
/** Written by `node tools/safe-expressions.ts`, so that a fresh machine analyses only new expressions. */
export const KNOWN = join(import.meta.dirname, '../fixtures/safe-expressions.json');
