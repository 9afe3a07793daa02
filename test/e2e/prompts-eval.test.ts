import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { evalRunSchema } from '../../src/cli/prompts/eval-case.ts';
import { openFolder } from './strata.ts';

const resultSchema = evalRunSchema.extend({ before: evalRunSchema.nullable() });

const lakes = [{ fact: 'A stop is a lake', words: ['lake|harbour'] }];

function said(about: string) {
  return Array.from({ length: 12 }, (_, index) => ({
    author: 'Ada',
    text: `We decided that stop ${index} of the ${about} is a lake with a small harbour and a good bakery.`,
  }));
}

it('scores what is kept, beside the last run', { timeout: 120_000 }, async () => {
  using folder = openFolder();
  writeFileSync(folder.file('config.toml'), '[defaults]\nmodel = "offline:demo"\nprompts = "./own"\n');
  mkdirSync(folder.file('own'));
  const evaluate = async () => {
    const { code, stdout } = await folder.run(['prompts', 'eval', '--json']);
    expect(code).toBe(0);
    return resultSchema.parse(JSON.parse(stdout));
  };
  const first = await evaluate();
  expect(first).toMatchObject({ agent: 'main', model: 'offline:demo', before: null });
  expect(first.scores.map(({ name, facts }) => [name, facts])).toEqual([
    ['trip', 10],
    ['release', 10],
  ]);
  for (const { inSummaries, inMemories, lost } of first.scores) {
    expect(inSummaries + inMemories).toBeGreaterThan(0);
    expect(lost.length).toBeLessThan(10);
  }
  writeFileSync(folder.file('own/condenser.md.hbs'), 'Condense these summaries in about {{targetWords}} words.');
  const text = (await folder.run(['prompts', 'eval'])).stdout;
  expect(text).toMatch(/^trip +10 +\d+ \(\d+\) +\d+ \(\d+\)/mu);
  expect(text).toContain('Changed since: the prompt condenser.');
  // The conversations leave nothing in the store of the bot.
  expect(readdirSync(folder.file('data'))).toEqual(['prompts-eval.json']);
  expect((await evaluate()).before?.scores.map(({ name }) => name)).toEqual(['trip', 'release']);
});

it('needs neither the server of the data nor the queue', { timeout: 120_000 }, async () => {
  const away = { STRATA_STORAGE_URL: 'postgres://127.0.0.1:9/strata', STRATA_QUEUE_URL: 'redis://127.0.0.1:9' };
  using folder = openFolder(away);
  writeFileSync(folder.file('trip.json'), JSON.stringify({ messages: said('trip'), facts: lakes }));
  const run = await folder.run(['prompts', 'eval', 'trip.json', '--model', 'offline:demo']);
  expect(run).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/^trip +1 +1 /mu) });
});

it('takes conversations of your own, and refuses broken ones', { timeout: 120_000 }, async () => {
  using folder = openFolder();
  writeFileSync(folder.file('tour.json'), JSON.stringify({ messages: said('tour'), facts: lakes }));
  writeFileSync(folder.file('broken.json'), '{}');
  const run = await folder.run(['prompts', 'eval', 'tour.json', '--model', 'offline:demo']);
  expect(run.stdout).toMatch(/^tour +1 +1 /mu);
  expect(run.stdout).toContain('There is no earlier run to compare with.');
  const refused = await folder.run(['prompts', 'eval', 'broken.json', '--model', 'offline:demo']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('broken.json cannot be used');
});
