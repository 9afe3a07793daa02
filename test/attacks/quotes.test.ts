import { describe, expect, it } from 'vitest';
import { type Audience, type ConversationKey, makeKey } from '../../src/adapter-kit.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { type BotWorld, createBotWorld } from '../support/bot-world.ts';

const at = (channel: string) => makeKey({ platform: 'test', workspace: 'here', channel });
const [SECRET, TALK] = [at('secret'), at('talk')];
const WORDS = 'the launch code is swordfish';

async function worldWith(audience: Audience): Promise<BotWorld> {
  const world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  await world.say(WORDS, { key: SECRET, audience, id: 'm1', asks: false });
  return world;
}

function quoted(world: BotWorld, shown: string, quotedIn: { conversation: ConversationKey; audience: Audience }) {
  return world.bot.sink.conversations.textOf({ conversations: [SECRET], externalId: 'm1', at: 0, quotedIn, shown });
}

const PUBLICLY = { conversation: TALK, audience: 'public' } as const;

describe('a quotation of a message that its author cannot read', () => {
  it.each(['dm', 'private'] as const)('tells nothing of a %s place', async (audience) => {
    await using world = await worldWith(audience);
    expect(await quoted(world, 'look', PUBLICLY)).toBeNull();
    expect(await quoted(world, 'the launch code', PUBLICLY)).toBeNull();
    expect(await quoted(world, 'look', { conversation: at('group'), audience: 'private' })).toBeNull();
  });

  it('tells nothing of another workspace', async () => {
    await using world = await worldWith('public');
    const conversation = makeKey({ platform: 'test', workspace: 'there', channel: 'talk' });
    expect(await quoted(world, 'look', { conversation, audience: 'public' })).toBeNull();
    expect(await quoted(world, 'look', PUBLICLY)).toBe(WORDS);
  });

  it.each([
    ['opened', 'private', 'public'],
    ['closed', 'public', 'private'],
  ] as const)('tells nothing of a place that %s since', async (_, before, now) => {
    await using world = await worldWith(before);
    await world.say('hello', { key: SECRET, audience: now, asks: false });
    expect(await quoted(world, 'look', PUBLICLY)).toBeNull();
  });

  it('tells nothing to readers of a private place', async () => {
    await using world = await worldWith('public');
    expect(await quoted(world, 'look', { conversation: TALK, audience: 'private' })).toBeNull();
  });

  it('is told to readers of the same place', async () => {
    await using world = await worldWith('private');
    const thread = makeKey({ platform: 'test', workspace: 'here', channel: 'secret', thread: 't1' });
    expect(await quoted(world, 'look', { conversation: thread, audience: 'private' })).toBe(WORDS);
  });

  it('of the bot is its own text until deleted', async () => {
    await using world = await worldWith('private');
    await world.say('hello?', { key: SECRET, audience: 'private' });
    await world.settled();
    const externalId = `p-${[...world.channel.posts.keys()].at(-1)}`;
    const quotedIn = { conversation: SECRET, audience: 'private' } as const;
    const text = () =>
      world.bot.sink.conversations.textOf({ externalId, at: 0, quotedIn, shown: 'I see.', conversations: [SECRET] });
    expect(await text()).toBeNull();
    await world.bot.sink.removed({ conversation: SECRET, externalIds: [externalId] });
    expect(await text()).toBe('');
  });

  it('still hides what was deleted', async () => {
    await using world = await worldWith('private');
    expect(await quoted(world, `*${WORDS}*!`, PUBLICLY)).toBe(WORDS);
    await world.bot.sink.removed({ conversation: SECRET, externalIds: ['m1'] });
    expect(await quoted(world, WORDS, PUBLICLY)).toBe('');
  });
});
