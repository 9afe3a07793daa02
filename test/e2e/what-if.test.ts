import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Folder, jsonLines, openFolder } from './strata.ts';

const HERE = ['--conversation', 'replay:local:trip'] as const;
const TOPICS = ['the harbour', 'our trip to Lisbon', 'the budget of 2,400 euros', 'a new bicycle', 'the garden fence'];

/** Every tenth message may ask for an earlier one. */
function lines(count: number, isAsking: boolean): string {
  const texts = Array.from({ length: count }, (_, index) => {
    const [topic, reason] = [TOPICS[index % 5], TOPICS[(index + 2) % 5]];
    const when = index % 4 === 0 ? `Carla calls at ${index % 12}:30` : 'it is late';
    const option = `we took option ${(index * 7) % 13}`;
    const said = `About ${topic}: ${option} because ${reason} depends on it, and ${when}.`;
    const text = isAsking && index % 10 === 9 ? `Which option did we take for ${topic} when ${when}?` : said;
    return JSON.stringify({ id: `m${index}`, author: index % 3 === 0 ? 'Ben' : 'Ada', text });
  });
  return texts.join('\n');
}

interface Column {
  readonly settings: string | null;
  readonly engine: string;
  readonly windowTokens: number;
  readonly messages: number;
  readonly compactions: number;
  readonly condensations: number;
  readonly requests: number;
  readonly cacheBreaks: number;
  readonly emergencies: number;
  readonly inputTokens: number;
  readonly summariserTokens: { readonly input: number };
  readonly peakTokens: number;
  readonly evidence: { readonly questions: number; readonly messages: number; readonly inView: number };
  readonly view: readonly { readonly seq: number; readonly usedTokens: number }[];
}

interface Happened {
  readonly event: string;
  readonly run?: { readonly work: string; readonly inputTokens: number };
}

async function replayed(folder: Folder, count: number, ...options: readonly string[]): Promise<readonly Happened[]> {
  return await replayedLines(folder, lines(count, false), ...options);
}

async function replayedLines(
  folder: Folder,
  text: string,
  ...options: readonly string[]
): Promise<readonly Happened[]> {
  writeFileSync(folder.file('trip.jsonl'), text);
  const { stdout } = await folder.run(['replay', 'trip.jsonl', '--json', ...options]);
  return jsonLines<Happened>(stdout);
}

async function whatIf(folder: Folder, ...options: readonly string[]): Promise<readonly Column[]> {
  const { code, stdout, stderr } = await folder.run(['what-if', ...HERE, '--json', ...options]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return jsonLines<Column>(stdout);
}

describe('strata what-if', () => {
  it.each([
    [120, []],
    [100, ['--reply']],
  ])('agrees with a real run of %i messages %j', async (count, options) => {
    using folder = openFolder();
    const happened = await replayed(folder, count, ...options);
    const runs = happened.flatMap(({ run }) => (run === undefined || run.work === 'extract' ? [] : [run]));
    const compactions = runs.filter(({ work }) => work === 'compact').length;
    const read = runs.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
    const [now] = await whatIf(folder);
    expect(now).toMatchObject({ settings: null, engine: 'stacked' });
    expect(compactions).toBeGreaterThan(5);
    expect(Math.abs((now?.compactions ?? 0) - compactions)).toBeLessThanOrEqual(1);
    expect(Math.abs((now?.condensations ?? 0) - (runs.length - compactions))).toBeLessThanOrEqual(1);
    expect(Math.abs((now?.summariserTokens.input ?? 0) / read - 1)).toBeLessThanOrEqual(0.1);
  });

  it('puts several settings side by side and stores nothing', async () => {
    using folder = openFolder();
    await replayedLines(folder, lines(60, true), '--reply');
    const before = (await folder.run(['context', ...HERE, '--json'])).stdout;
    const small = 'context_window=1400,max_output_tokens=400';
    const columns = await whatIf(folder, '--try', 'engine=sliding', '--try', small);
    const [now, sliding, narrow] = columns;
    expect(columns.map(({ settings }) => settings)).toEqual([null, 'engine=sliding', small]);
    expect(sliding).toMatchObject({ engine: 'sliding', compactions: 0, requests: 60, messages: 120 });
    expect(sliding?.cacheBreaks).toBeGreaterThan(now?.cacheBreaks ?? Number.NaN);
    expect(narrow?.windowTokens).toBe(1400);
    expect(narrow?.compactions).toBeGreaterThan(now?.compactions ?? Number.NaN);
    expect(narrow?.inputTokens).toBeLessThan(now?.inputTokens ?? Number.NaN);
    for (const { view, peakTokens, windowTokens } of columns) {
      expect(Math.max(...view.map(({ usedTokens }) => usedTokens))).toBe(peakTokens);
      expect(peakTokens).toBeLessThanOrEqual(windowTokens);
    }
    expect((await folder.run(['context', ...HERE, '--json'])).stdout).toBe(before);
    const { stdout } = await folder.run(['what-if', ...HERE, '--try', 'engine=sliding']);
    expect(stdout).toMatch(/^ +NOW +engine=sliding\nEngine +stacked +sliding\n/);
    expect(stdout).toMatch(/^Compactions +\d+ +0$/m);
    expect(stdout).toMatch(/^Calls for replies +\d+ +\d+$/m);
    expect(stdout).toMatch(/^Evidence in view +\d+\s% of (\d+) +\d+\s% of \1$/m);
    const { questions = 0, messages = 0, inView = 0 } = narrow?.evidence ?? {};
    expect(questions).toBe(6);
    expect(messages).toBeGreaterThanOrEqual(questions);
    expect(messages).toBeGreaterThan(inView);
    expect(inView).toBeGreaterThan(0);
    expect(now?.evidence).toMatchObject({ questions, messages });
    expect(now?.evidence.inView).toBeGreaterThan(inView);
    expect(stdout).toMatch(/\n\nView over time, .*\nNOW +[▁▂▃▄▅▆▇█]{60}\nengine=sliding +[▁▂▃▄▅▆▇█]{60}\n$/);
  });

  it('counts emergencies, and the summaries that fill them', async () => {
    using folder = openFolder();
    const text = 'We took the harbour road. '.repeat(140);
    const roles = ['user', 'assistant', 'user', 'assistant'];
    const said = roles.map((role, index) =>
      JSON.stringify({ id: `m${index}`, author: role, role, text: role === 'user' ? text : 'I see.' }),
    );
    writeFileSync(folder.file('long.jsonl'), said.join('\n'));
    await folder.run(['import', 'long.jsonl', ...HERE]);
    const [now, large] = await whatIf(folder, '--try', 'context_window=16000');
    expect(now).toMatchObject({ emergencies: 1, compactions: 1, requests: 2 });
    expect(large).toMatchObject({ emergencies: 0, compactions: 0, requests: 2, cacheBreaks: 0 });
  });

  it.each([
    ['persona=x', 'It takes engine, context_window'],
    ['context_window', 'It takes engine, context_window'],
    ['context_window=small', 'context_window'],
    ['context_window=-5', 'context_window: expected more than 0.'],
    ['compaction.stack_share=7', 'compaction.stack_share: expected at most 1.'],
    ['engine=own', 'expected stacked or sliding'],
    ['compaction.background_threshold=0.99', 'thresholds must rise: background_threshold 0.99 (--try)'],
  ])('refuses --try %s', async (settings, expected) => {
    using folder = openFolder();
    writeFileSync(folder.file('trip.jsonl'), lines(2, false));
    await folder.run(['replay', 'trip.jsonl']);
    const { code, stdout, stderr } = await folder.run(['what-if', ...HERE, '--try', settings]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });
});
