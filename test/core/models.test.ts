import { describe, expect, it } from 'vitest';
import { createBotWorld } from '../support/bot-world.ts';
import { createWorld, filler, scriptedModel } from './compaction.world.ts';

describe('settings of an agent', () => {
  it('go with every call of a reply', async () => {
    const model = scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' });
    const provider_options = { openai: { serviceTier: 'flex' } };
    const agent = { temperature: 0.2, effort: 'low', provider_options } as const;
    await using here = await createBotWorld({ models: [model], agent });
    await here.say('Hello?');
    await here.settled();
    expect(model.requests[0]).toMatchObject({ temperature: 0.2, effort: 'low', providerOptions: provider_options });
  });

  it('change no summary, save options of the provider', async () => {
    const provider_options = { openai: { serviceTier: 'flex' } };
    await using world = await createWorld({ agent: { temperature: 2, effort: 'none', provider_options } });
    for (let index = 1; index <= 12; index += 1) {
      await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
    }
    await world.run();
    expect(world.model.requests.length).toBeGreaterThan(0);
    for (const request of world.model.requests) {
      expect([request.temperature, request.effort]).toEqual([undefined, undefined]);
      expect(request.providerOptions).toEqual(provider_options);
    }
  });
});
