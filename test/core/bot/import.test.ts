import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import { storeMessage } from '../../../src/cli/transfer/import.ts';
import { makeKey } from '../../../src/domain/key.ts';
import { openWorld } from '../memory/memory.world.ts';

const channel = makeKey({ platform: 'discord', workspace: '1', channel: '2' });
const line = (id: string) => ({ id, author: 'ada', role: 'user', text: `text of ${id}`, at: null }) as const;

describe('importing', () => {
  it('keeps a channel’s audience as the platform reported', async () => {
    await using world = await openWorld();
    const app = { services: world.services } as unknown as App;
    await storeMessage(app, channel, line('new'));
    expect((await world.store.conversations.find(channel))?.audience).toBe('private');
    const open = makeKey({ platform: 'discord', workspace: '1', channel: '3' });
    await world.store.transcript.append({
      conversation: open,
      audience: 'public',
      wantsReply: false,
      claimLeaseMs: null,
      idleExtractMs: 1,
      now: 1,
      message: {
        externalId: 'm1',
        role: 'user',
        author: null,
        parts: [{ kind: 'text', text: 'hello' }],
        replyTo: null,
        mentions: [],
        tokens: 1,
        at: 1,
      },
    });
    expect(await storeMessage(app, open, line('old'))).toBe(true);
    // Catching up goes on after what the platform has sent.
    expect(await world.store.conversations.find(open)).toMatchObject({
      audience: 'public',
      heard: { externalId: 'm1' },
    });
  });
});
