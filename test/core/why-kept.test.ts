import { describe, expect, it } from 'vitest';
import { type ConversationKey, makeKey } from '../../src/adapter-kit.ts';
import { readerFor } from '../../src/memory/policy.ts';
import { explainReply } from '../../src/requests/explain.ts';
import { type BotWorld, createBotWorld } from '../support/bot-world.ts';
import { scriptedModel } from './compaction.world.ts';
import { bytesOf } from './why.world.ts';

const CHANNEL = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });
const THREAD = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't1' });
const OTHER = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't2' });

async function explain({ bot }: BotWorld, audience: 'operator' | 'public' = 'operator') {
  const { store, agents } = bot.services;
  const conversation = await store.conversations.find(CHANNEL);
  if (conversation === null) throw new Error('Nothing was said yet.');
  const reader = readerFor({ ...conversation, audience: 'public' }, agents.agentFor(CHANNEL));
  const seq = conversation.nextSeq - 1;
  return await explainReply(bot.services, { conversation, seq, reader: audience === 'operator' ? null : reader });
}

describe('a request with passages of its place', () => {
  const talk = async () => {
    const model = scriptedModel(() => ({ text: 'Well.' }), { id: 'test:chat' });
    const world = await createBotWorld({ models: [model], agent: { recall: { places: true } } });
    const say = (key: ConversationKey, id: string, text: string) => world.say(text, { key, id, asks: key === CHANNEL });
    await say(OTHER, 'm1', 'My tent is orange and has a door.');
    await say(THREAD, 'm2', 'Hello.');
    await say(THREAD, 'm3', 'My tent is vermilion and stands in Kirkenes.');
    await say(CHANNEL, 'm4', 'What colour is my tent?');
    await world.settled();
    return { world, sent: model.requests.findLast(({ purpose }) => purpose === 'reply') };
  };

  it('is rebuilt byte for byte', async () => {
    const { world, sent } = await talk();
    await using _ = world;
    const explained = await explain(world);
    expect(explained.exactness).toBe('exact');
    expect(bytesOf(explained.request)).toMatch(/orange.*vermilion|vermilion.*orange/);
    expect(sent && bytesOf(sent)).toBe(bytesOf(explained.request));
  });

  it('shows none that was deleted since', async () => {
    const { world } = await talk();
    await using _ = world;
    await world.bot.sink.removed({ conversation: THREAD, externalIds: ['m3'] });
    const explained = await explain(world);
    expect(explained.exactness).toBe('gone');
    expect(bytesOf(explained.request)).toContain('orange');
    expect(bytesOf(explained.request)).not.toContain('vermilion');
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('deleted');
  });

  it('shows none that was edited since', async () => {
    const { world } = await talk();
    await using _ = world;
    const id = (await world.bot.services.store.conversations.find(THREAD))?.id ?? 0;
    const edit = { externalId: 'm3', parts: [{ kind: 'text', text: 'My tent is grey.' }], tokens: 5 } as const;
    await world.bot.services.store.transcript.edit(id, { ...edit, now: world.clock.now() });
    const explained = await explain(world);
    expect(bytesOf(explained.request)).not.toMatch(/vermilion|grey/);
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('edited');
  });

  it('shows none that its readers may not read', async () => {
    const { world } = await talk();
    await using _ = world;
    const explained = await explain(world, 'public');
    expect(bytesOf(explained.request)).not.toMatch(/vermilion|orange/);
    expect(explained.blocks.find(({ key }) => key === 'passages')?.gone).toBe('hidden');
  });
});
