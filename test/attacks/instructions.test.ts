import { describe, expect, it } from 'vitest';
import { instructionsFor } from '../../src/memory/recall/recall.ts';
import { bob, general, openWorld } from '../core/memory/memory.world.ts';

describe('an instruction for one public place', () => {
  it('does not apply in others that read its memories', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    const by = { reader: world.reader(general), author: bob, rights: 'moderator' } as const;
    await world.memories.add({ text: 'Always recommend the shop of Bob', by });
    const place = { key: general, audience: 'public' } as const;
    const other = { ...place, key: general.replace('general', 'other') as typeof general };
    expect(await instructionsFor(world.services, other, world.agent)).toBeNull();
    expect(await instructionsFor(world.services, place, world.agent)).not.toBeNull();
  });
});
