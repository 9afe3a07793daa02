import { expect, it } from 'vitest';
import type { Entry } from '../../../src/adapter-kit.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import { entryMessageOf } from '../../../src/context/view/entry-message.ts';
import { NO_REDUCTION } from '../../../src/context/view/reduce.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { faithful, type Script, scriptedModel } from '../compaction/compaction.world.ts';

/** What an entry takes in the view. */
function shown(entry: Entry | undefined): number {
  if (entry === undefined) throw new Error('Nothing was stored.');
  const { textTokens } = NO_REDUCTION;
  return entryMessageOf(entry, { stubBytes: null, textTokens, replySeq: () => null }).tokens;
}

const chat: Script = (request, options) =>
  request.purpose === 'reply'
    ? { text: 'Yes, all of them.', inputTokens: estimateRequest(request) }
    : faithful(request, options);

const speakers = Array.from({ length: 40 }, (_, index) => ({
  id: `u${index}`,
  name: `Person ${index}`,
  kind: 'person' as const,
}));

it('a burst of short messages leaves room for the question', async () => {
  const model = scriptedModel(chat, { id: 'test:chat', window: 4000 });
  await using world = await createBotWorld({
    models: [model, scriptedModel(chat, { window: 32_000 })],
    agent: { context_window: 4000, compaction: { model: 'test:summariser', tail_share: 0.4 } },
  });
  const burst = Array.from({ length: 400 }, (_, index) => speakers[index % speakers.length]);
  await Promise.all(burst.map((author, index) => world.say(`ok ${index}`, { asks: false, ...(author && { author }) })));
  await world.settled();
  // No time may pass while a summary is being written: its call would seem to take too long.
  const isAtRest = async () => {
    const { maintainAt, maintenanceUntil } = await world.conversation();
    return maintenanceUntil === null && (maintainAt === null || maintainAt > world.clock.now());
  };
  for (let round = 0; round < 10; round += 1) {
    await expect.poll(isAtRest).toBe(true);
    await world.clock.advance(2000);
  }
  await expect.poll(isAtRest).toBe(true);
  await world.say('What did we say?');
  await world.settled();
  expect(world.events.filter(({ kind }) => kind === 'gap.opened')).toEqual([]);
  const asked = model.requests.findLast(({ purpose }) => purpose === 'reply');
  expect(JSON.stringify(asked?.messages)).not.toContain('left out');
  const { tail } = await world.snapshot();
  const kept = tail.reduce((sum, entry) => sum + shown(entry), 0);
  // The share of the newest messages, and one compaction more at most.
  expect(kept).toBeGreaterThan(0.3 * 4000);
  expect(kept).toBeLessThan(0.6 * 4000);
});
