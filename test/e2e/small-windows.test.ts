import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Folder, openFolder } from './strata.ts';

vi.setConfig({ testTimeout: 60_000 });

const checkup = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ checkId: z.string(), severity: z.string(), message: z.string(), fixHint: z.unknown() })),
});
const checked = z.object({ ok: z.boolean(), problems: z.array(z.string()), warnings: z.array(z.string()) });

const LOW = [0.2, 0.3, 0.4] as const;
const USUAL = [0.8, 0.85, 0.95] as const;

function configure(folder: Folder, window: number, [background, aggressive, emergency]: readonly number[]): void {
  const thresholds = `background_threshold = ${background}\naggressive_threshold = ${aggressive}\nemergency_threshold = ${emergency}`;
  const own = `[[agents]]\nid = "tiny"\nmodel = "offline:demo"\ncontext_window = ${window}\n[agents.compaction]\n${thresholds}\n`;
  writeFileSync(folder.file('config.toml'), own);
}

async function windowFindings(folder: Folder) {
  const { code, stdout } = await folder.run(['doctor', '--json']);
  const { ok, findings } = checkup.parse(JSON.parse(stdout));
  return { code, ok, windows: findings.filter(({ checkId }) => checkId === 'window') };
}

async function check(folder: Folder) {
  const { code, stdout } = await folder.run(['config', 'check', '--json']);
  return { code, ...checked.parse(JSON.parse(stdout)) };
}

test.each([
  [1000, LOW, 'raise background_threshold to 0.55'],
  [2000, LOW, 'raise background_threshold to 0.4'],
  [4000, LOW, 'raise background_threshold to 0.35'],
  [4000, [0.3, 0.4, 0.5], 'raise background_threshold to 0.35'],
] as const)('a window of %i without room is named: %j', async (window, thresholds, remedy) => {
  using folder = openFolder();
  configure(folder, window, thresholds);
  const { code, ok, warnings } = await check(folder);
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  const says = /agent tiny: .*tools and system sections take \d+ .*leaves (?:nothing|only \d+ tokens) for messages/;
  expect(warnings).toEqual([expect.stringMatching(says)]);
  expect(warnings[0]?.toLowerCase()).toContain(remedy);
  const { windows } = await windowFindings(folder);
  expect(windows).toEqual([expect.objectContaining({ severity: 'warn', message: expect.stringMatching(says) })]);
  const { stderr } = await folder.run(['config', 'check']);
  expect(stderr).toMatch(/^Warning: agent tiny: /);
});

test.each([
  [1000, USUAL],
  [2000, USUAL],
  [2000, [0.4, 0.5, 0.6]],
  [4000, USUAL],
  [4000, [0.4, 0.5, 0.6]],
  [8000, [0.3, 0.4, 0.5]],
  [128_000, LOW],
])('a window of %i with room is fine: %j', async (window, thresholds) => {
  using folder = openFolder();
  configure(folder, window, thresholds);
  expect((await check(folder)).warnings).toEqual([]);
  expect((await windowFindings(folder)).windows).toMatchObject([{ severity: 'ok' }]);
});

test('the log of a start names the agent once', async () => {
  using folder = openFolder();
  configure(folder, 2000, LOW);
  await folder.runProcess(['chat'], 'Hello.\nThe tent is orange.\n');
  const lines = readFileSync(folder.file('data/strata.log'), 'utf8').split('\n');
  expect(lines.filter((line) => line.includes('window.small'))).toEqual([
    expect.stringContaining('agent tiny: in the window of 2,000 tokens'),
  ]);
});

test.each([50, 100, 125])('doctor fails for a window of %i', async (window) => {
  using folder = openFolder();
  configure(folder, window, USUAL);
  const { stderr } = await folder.run(['chat'], 'Hello.\nThe tent is orange.\n');
  expect(stderr).toContain('The reply failed: The newest message and the fixed part');
  const { code, ok, windows } = await windowFindings(folder);
  expect({ code, ok }).toEqual({ code: 1, ok: false });
  const says = /agent tiny: the window of \d+ tokens is too small to answer at all: .* need about \d+/;
  const fixHint = expect.stringMatching(/^Raise context_window to \d+/);
  expect(windows).toEqual([
    expect.objectContaining({ severity: 'fail', message: expect.stringMatching(says), fixHint }),
  ]);
});

test.each([220, 300])('a bot answers in a window of %i that passes', async (window) => {
  using folder = openFolder();
  configure(folder, window, USUAL);
  expect((await windowFindings(folder)).windows).toMatchObject([{ severity: 'warn' }]);
  const { code, stdout, stderr } = await folder.run(['chat'], 'I am Ada.\nHow are you?\nWhat is my name?\n');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('failed') });
  expect(stdout).toContain('Ada');
});
