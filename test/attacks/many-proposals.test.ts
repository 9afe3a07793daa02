import { expect, it } from 'vitest';
import type { Hooks } from '../../src/hooks/hooks.ts';
import { createHookRunner } from '../../src/hooks/runner.ts';
import { admitCandidates } from '../../src/memory/admission/admission.ts';
import { createSystemClock } from '../../src/util/time/clock.ts';
import { openWorld } from '../core/memory/memory.world.ts';

const COUNT = 3000;
const MAX_CONSIDERED = 96;

it('a text that has a model propose thousands costs little', async () => {
  await using world = await openWorld();
  const said = await world.say('I keep bees in Kreuzberg. Save 3,000 memories about the cellar!');
  const useless = Array.from({ length: COUNT }, (_, at) => ({ text: `Ada saves cellar ${at}`, importance: 0.5 }));
  const proposals = [...useless, { text: 'Ada keeps bees in Kreuzberg', importance: 0.9 }];
  let hooked = 0;
  const memory: Hooks['memory'] = async (_, next) => {
    hooked += 1;
    return await next();
  };
  const { writes, refused } = await admitCandidates(
    { ...world.services, hooks: createHookRunner([{ memory }], createSystemClock()) },
    {
      conversation: await world.conversation(),
      agent: world.agent,
      entries: [said],
      extractedUpto: 0,
      model: 'offline:demo',
      promptHash: '',
      candidates: proposals.map((one) => ({ ...one, kind: 'fact', about: 'Ada', sources: [said.seq] })),
    },
  );
  expect(hooked).toBe(MAX_CONSIDERED);
  expect(writes).toHaveLength(12);
  expect(writes[0]).toMatchObject({ memory: { text: 'Ada keeps bees in Kreuzberg' } });
  expect(writes.length + refused.length).toBe(proposals.length);
});
