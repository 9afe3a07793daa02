import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeKey } from '../../../src/adapter-kit.ts';
import { estimateParts } from '../../../src/context/measure/tokens.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { SIZED, sized } from '../../support/size.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

/** Of 4 kB each: 20 MB at full size. */
const ENTRIES = sized({ small: 1500, full: 5000 });
const ENTRY_BYTES = 4000;
const AT_ONCE = 250;
const ELSEWHERE = makeKey({ platform: 'test', workspace: 'here', channel: 'elsewhere' });

/** Generous: many times what an idle machine needs. It detects quadratic growth, not a slow machine. */
const MAX_BLOCK_MS = 2000;

/** Few long words: this is about reading a history, not about indexing it. */
function longText(index: number): string {
  const word = `${index}-`.padEnd(60, 'abcdefghij');
  return `${word} `.repeat(Math.ceil(ENTRY_BYTES / (word.length + 1))).slice(0, ENTRY_BYTES);
}

/** An imported conversation of many years that was never summarised. */
async function appendHistory({ bot, key, clock }: BotWorld): Promise<void> {
  const { transcript } = bot.services.store;
  for (let from = 1; from <= ENTRIES; from += AT_ONCE) {
    const appends = Array.from({ length: AT_ONCE }, (_, offset) => {
      const parts = [{ kind: 'text', text: longText(from + offset) }] as const;
      const message = {
        externalId: `past-${from + offset}`,
        role: 'user',
        parts,
        replyTo: null,
        mentions: [],
        author: { id: 'u-old', name: 'Olga', kind: 'person' },
        tokens: estimateParts(parts),
        at: clock.now(),
      } as const;
      const rest = { wantsReply: false, claimLeaseMs: null, idleExtractMs: 600_000, now: clock.now() };
      return transcript.append({ conversation: key, audience: 'private', message, ...rest });
    });
    await Promise.all(appends);
  }
}

// Shows: B21
it('opens a huge history without blocking the process', { ...SIZED, timeout: 900_000 }, async () => {
  const model = scriptedModel(() => ({ text: 'Here I am.' }), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model], agent: { context_window: 32_000 } });
  await appendHistory(world);
  const blocks = monitorEventLoopDelay({ resolution: 5 });
  blocks.enable();
  await delay(20);
  await Promise.all([
    world.say('Are you there?'),
    world.say('And you, over here?', { key: ELSEWHERE, id: 'elsewhere' }),
    world.settled(),
  ]);
  await world.settled();
  await delay(20);
  blocks.disable();
  expect([...world.channel.posts.values()].map(({ conversation }) => conversation).sort()).toEqual(
    [world.key, ELSEWHERE].sort(),
  );
  expect(blocks.max / 1e6).toBeLessThan(MAX_BLOCK_MS);
});
