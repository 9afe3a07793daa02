import { describe, expect, it } from 'vitest';
import type { Audience, Storage } from '../../src/adapter-kit.ts';
import { scriptedModel, settle } from '../core/compaction/compaction.world.ts';
import { type BotWorld, createBotWorld, HERE } from '../support/bot-world.ts';

/** The platform takes one post of 500 characters at a time. */
const REST = 'And the launch code is swordfish.';
const REPLY = `${'It rains. '.repeat(50)}${REST}`;

interface Held {
  /** Of the first post. */
  readonly post: PromiseWithResolvers<void>;
  /** Called with each change of the audience, from 1 on. */
  readonly change: (count: number) => Promise<void>;
}

/** A bot whose reply has two posts, of which the first is on its way. */
async function posting(audience: Audience, { post, change }: Held): Promise<BotWorld> {
  let changes = 0;
  const storage = (own: Storage): Storage => {
    const { conversations } = own.store;
    const changed: typeof conversations.change = async (id, given) => {
      if (given.kind === 'audience') await change(++changes);
      await conversations.change(id, given);
    };
    return { ...own, store: { ...own.store, conversations: { ...conversations, change: changed } } };
  };
  const world = await createBotWorld({
    models: [scriptedModel((_, { count }) => ({ text: count === 1 ? REPLY : 'Again.' }), { id: 'test:chat' })],
    storage,
    channel: (channel) => ({
      ...channel,
      async post(given, options) {
        const posted = await channel.post(given, options);
        await post.promise;
        return posted;
      },
    }),
  });
  await world.say('what is the launch code?', { audience });
  await expect.poll(() => world.channel.calls.length).toBe(1);
  return world;
}

const open = () => Promise.withResolvers<void>();
const texts = ({ channel }: BotWorld) => channel.calls.map(({ body }) => body.text).join();

/** What can happen without time has happened. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await settle();
}

// Shows: I9
describe('a place that changes its audience while a reply is posted', () => {
  it('gets no rest of the reply once it is open', async () => {
    const post = open();
    await using world = await posting('private', { post, change: async () => undefined });
    const changed = world.bot.sink.audienceChanged(HERE, 'public');
    post.resolve();
    await changed;
    await world.settled();
    expect(texts(world)).not.toContain(REST);
  });

  it('gets no post between two changes', async () => {
    const post = open();
    const gates = [open(), open()];
    let begun = 0;
    const change = async (count: number) => {
      begun = count;
      await gates[count - 1]?.promise;
    };
    await using world = await posting('private', { post, change });
    const { sink } = world.bot;
    const first = sink.audienceChanged(HERE, 'private');
    post.resolve();
    await expect.poll(() => begun).toBe(1);
    await rest();
    const second = sink.audienceChanged(HERE, 'public');
    await rest();
    expect(begun).toBe(1);
    gates[0]?.resolve();
    await first;
    await expect.poll(() => begun).toBe(2);
    await rest();
    expect(texts(world)).not.toContain(REST);
    gates[1]?.resolve();
    await second;
    await world.settled();
    expect(texts(world)).not.toContain(REST);
  });

  it('changes even if the post hangs', async () => {
    await using world = await posting('private', { post: open(), change: async () => undefined });
    const changed = world.bot.sink.audienceChanged(HERE, 'public');
    await rest();
    await world.clock.advance(5_000);
    await changed;
    expect((await world.conversation()).audience).toBe('public');
  });

  it('closes after a change that failed', async () => {
    const post = open();
    const fail = async (count: number) => {
      if (count === 1) throw new Error('the store is away');
    };
    await using world = await posting('public', { post, change: fail });
    const failed = expect(world.bot.sink.audienceChanged(HERE, 'public')).rejects.toThrow('the store is away');
    const closed = world.bot.sink.audienceChanged(HERE, 'private');
    post.resolve();
    await failed;
    await closed;
    expect((await world.conversation()).audience).toBe('private');
  });
});
