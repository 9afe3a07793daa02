import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TEXT_PARTS } from '../fixtures/text-parts.ts';
import { cpuMsOf, slowdown } from '../support/cpu.ts';
import { type TextFunction, textFunctionsIn } from '../support/exports.ts';
import { IS_FULL, SIZED, spread } from '../support/size.ts';
import { CALLS, NOT_TEXT } from '../support/text-calls.ts';

/**
 * No text costs more than its length. Every exported function that takes text is found in the sources, so that a new one
 * needs a call here, which runs on adversarial texts: a repeated part, at three lengths.
 */

const root = join(import.meta.dirname, '../..');
const namesBefore = new Set(readdirSync(root));
const found = globSync('{src,adapters}/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('.d.ts') && path !== 'src/main.ts')
  .sort()
  .flatMap((path) => textFunctionsIn(path, readFileSync(join(root, path), 'utf8')));

const SHORT = 2_000;
const MIDDLE = 40_000;
const LONG = 200_000;
/** CPU time of this thread, and four times what an idle machine may take, because others share its cores and caches. */
const MAX_MIDDLE_MS = 100;
const MAX_LONG_MS = 800;
/** Linear is 5. */
const MAX_GROWTH = 12;
/** At small size, calls this fast on the middle text skip the long one: even quadratic time is within its limit. */
const HARMLESS_MS = IS_FULL ? 0 : (2 * MAX_MIDDLE_MS) / (LONG / MIDDLE) ** 2;
const HARDEST = 2;
const RUNS = 5;
/** What noise cannot explain: one run that takes this long, or two that both take three times as long as allowed. */
const HOPELESS_MS = 3 * MAX_LONG_MS;
const HOPELESS = 3;

const ENDS = ['', '\u0000'];

function textOf(part: string, length: number, end: string): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length - end.length) + end;
}

const BOTH_ENDS = TEXT_PARTS.flatMap((part) => ENDS.map((end) => ({ part, end, text: textOf(part, SHORT, end) })));
/** At small size each part with one of the ends. */
const SHORT_TEXTS = spread(BOTH_ENDS, TEXT_PARTS.length);

type Call = (text: string) => unknown;

/** The function with the text in each place that takes one, and plain values elsewhere; null if a place needs more than that. */
function callsOf({ parameters }: TextFunction, run: (...values: unknown[]) => unknown): readonly Call[] | null {
  const plain: unknown[] = [];
  for (const { type } of parameters) {
    const value = PLAIN.find(([pattern]) => pattern.test(type));
    if (value === undefined) return null;
    plain.push(value[1]);
  }
  return parameters.flatMap(({ type }, index): Call[] => {
    if (!/\bstring\b/u.test(type)) return [];
    return [(text) => run(...plain.with(index, type.includes('[]') ? [text, text] : text))];
  });
}

const PLAIN: readonly (readonly [RegExp, unknown])[] = [
  [/^(?:readonly )?string\[\]$/u, ['word', 'another word']],
  [/^string(?: \| (?:null|undefined))*$/u, 'word'],
  [/^number$/u, 2000],
];

function timeOf(call: Call, text: string): number {
  return cpuMsOf(() => {
    try {
      call(text);
    } catch {
      // Refusing a text counts as an answer, too.
    }
  });
}

/**
 * The best of five runs, of which `first` is one. Fewer are enough if one takes no longer than `limitMs`, or if
 * the others can't succeed either.
 */
function bestOf(call: Call, text: string, { limitMs, first = timeOf(call, text) }: Attempts): number {
  let best = first;
  for (let run = 1; run < RUNS && best > limitMs; run += 1) {
    if (best > HOPELESS_MS || (run > 1 && best > HOPELESS * limitMs)) return best;
    best = Math.min(best, timeOf(call, text));
  }
  return best;
}

interface Attempts {
  readonly limitMs: number;
  readonly first?: number;
}

/** Why a call is too slow, on the texts that are hardest for it. A slow machine gets a second chance. */
function faultsOf(call: Call): readonly string[] {
  const faults = judge(call, { middleMs: MAX_MIDDLE_MS, longMs: MAX_LONG_MS });
  if (faults.length === 0) return faults;
  const slower = slowdown();
  return judge(call, { middleMs: slower * MAX_MIDDLE_MS, longMs: slower * MAX_LONG_MS });
}

interface Limits {
  readonly middleMs: number;
  readonly longMs: number;
}

function judge(call: Call, limits: Limits): readonly string[] {
  const { middleMs, longMs } = limits;
  const hardest = SHORT_TEXTS.map((one) => ({ ...one, ms: timeOf(call, one.text) }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, 4 * HARDEST)
    // What ran while garbage was collected would take the place of a hard one.
    .map((one) => ({ ...one, ms: Math.min(one.ms, timeOf(call, one.text)) }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, HARDEST);
  for (const { part, end, ms } of hardest) {
    const limited = { limitMs: middleMs };
    if (ms > middleMs && bestOf(call, textOf(part, SHORT, end), limited) > middleMs)
      return [`${JSON.stringify(part)} x ${SHORT} takes ${ms.toFixed()} ms`];
    const middle = bestOf(call, textOf(part, MIDDLE, end), limited);
    if (middle > middleMs) return [`${JSON.stringify(part)} x ${MIDDLE} takes ${middle.toFixed()} ms`];
    if (middle < HARMLESS_MS) continue;
    const text = textOf(part, LONG, end);
    const first = timeOf(call, text);
    const limitMs = first > 2 * middleMs ? longLimitMs(call, textOf(part, MIDDLE, end), limits) : longMs;
    const long = bestOf(call, text, { limitMs, first });
    if (long > limitMs) return [`${JSON.stringify(part)} grows from ${middle.toFixed(1)} to ${long.toFixed(1)} ms`];
  }
  return [];
}

/** How long the long text may take. Measures the growth only for what takes long enough to have one. */
function longLimitMs(call: Call, middle: string, { middleMs, longMs }: Limits): number {
  const best = Math.min(...Array.from({ length: RUNS }, () => timeOf(call, middle)));
  return Math.max(2 * middleMs, Math.min(longMs, best * MAX_GROWTH));
}

describe('every exported function that takes text', () => {
  it('is known here', () => {
    const names = new Set(found.map(({ path, name }) => `${path}#${name}`));
    const unknown = found.filter((one) => {
      const key = `${one.path}#${one.name}`;
      return !NOT_TEXT.has(key) && !CALLS.has(key) && callsOf(one, () => undefined) === null;
    });
    expect(
      unknown.map(({ path, name, parameters }) => `${path}#${name}(${parameters.map(({ type }) => type).join(', ')})`),
    ).toEqual([]);
    expect([...NOT_TEXT].filter((key) => !names.has(key))).toEqual([]);
  });

  const listed = [...CALLS.keys()].map((key): TextFunction => {
    const [path = '', name = ''] = key.split('#');
    return { path, name, parameters: [] };
  });
  const rest = found.filter(({ path, name }) => !NOT_TEXT.has(`${path}#${name}`) && !CALLS.has(`${path}#${name}`));
  const tried = [...rest, ...listed];

  it.each(tried.map((one) => [`${one.name} of ${one.path}`, one] as const))(
    '%s takes linear time',
    { ...SIZED, timeout: 600_000 },
    async (_, one) => {
      const module: Record<string, unknown> = await import(join(root, one.path));
      const exported = module[one.name];
      if (typeof exported !== 'function') throw new Error(`${one.path} exports no function ${one.name}`);
      const run = (...values: unknown[]): unknown => exported(...values);
      const own = CALLS.get(`${one.path}#${one.name}`);
      const calls = own === undefined ? (callsOf(one, run) ?? []) : [(text: string) => own(run, text)];
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.flatMap(faultsOf)).toEqual([]);
    },
  );
});

// The texts must not be taken for paths.
it('leaves no files behind', () => {
  const isText = (name: string) => TEXT_PARTS.some((part) => part.startsWith(name) || name.startsWith(part));
  expect(readdirSync(root).filter((name) => !namesBefore.has(name) && isText(name))).toEqual([]);
});

it('finds a function that takes the square of its text', () => {
  const slow = (text: string) => /「([^」]+)」/gu.exec(text.slice(0.75 * text.length));
  expect(faultsOf(slow)).toEqual([expect.stringContaining('「')]);
}, 240_000);
