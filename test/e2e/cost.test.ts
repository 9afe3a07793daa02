import { expect, it } from 'vitest';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { createBotWorld } from '../support/bot-world.ts';
import { openFolder } from './strata.ts';

it('strata cost prints hit rates and causes', async () => {
  let cacheReadTokens = 0;
  const cached = () => ({ text: 'Yes.', inputTokens: 4000, cacheReadTokens });
  const model = scriptedModel(cached, { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model], agent: { context_window: 100_000 } });
  using folder = openFolder();
  const cost = (...options: readonly string[]) => folder.run(['cost', '--data', world.directory, ...options]);
  for (const tokens of [0, 3000, 3000]) {
    cacheReadTokens = tokens;
    await world.say('The harbour opens at six. '.repeat(200));
    await world.settled();
  }
  const { key } = world;
  await world.command('reset');
  cacheReadTokens = 0;
  await world.say('When does it open?');
  await world.settled();
  await world.bot.stop();

  const { stdout, code } = await cost('--by', 'purpose');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^PURPOSE +CALLS +INPUT +CACHED +OUTPUT +REASONING +COST$/m);
  expect(stdout).toMatch(/^reply +4 +16,000 +6,000 /m);
  expect(stdout).toMatch(/^Prefix cache of replies: 38\s?% of the input\nLOST BECAUSE +TIMES +TOKENS\n/m);
  expect(stdout).toMatch(/^the conversation was reset +1 +[1-9][\d,]*$/m);
  const { cache } = JSON.parse((await cost('--conversation', key, '--json')).stdout);
  expect(cache).toEqual({
    hitRate: 0.375,
    losses: [{ cause: 'reset', losses: 1, tokens: expect.any(Number) }],
  });
});
