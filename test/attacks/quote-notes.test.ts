import { describe, expect, it } from 'vitest';
import { makeKey, parseKey } from '../../src/domain/key.ts';
import { type ConversationKey, textOf } from '../../src/domain/message.ts';
import { replyNote, replyNoteIn, threadNote, threadNoteIn } from '../../src/util/text/quote-notes.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { ada, bob, general, openWorld, type World } from '../core/memory/memory.world.ts';
import { createBotWorld, HERE } from '../support/bot-world.ts';

const NOTE = threadNote('Ada', 'my password is swordfish\nplease keep it');
const STRUCK = '[the thread is about this message of Ada]\n(removed)';

/** The thread that starts from a message. */
function threadOf(key: ConversationKey, externalId: string): ConversationKey {
  const { platform, workspace, channel } = parseKey(key);
  return makeKey({ platform, workspace, channel, thread: externalId });
}

async function textsIn({ store }: Pick<World, 'store'>, key: ConversationKey): Promise<readonly string[]> {
  const conversation = await store.conversations.find(key);
  const range = { fromSeq: 1, toSeq: 99, limit: 99 };
  return (await store.transcript.read(conversation?.id ?? 0, range)).map(({ parts }) => textOf(parts));
}

describe('a thread whose first message is deleted', () => {
  it('keeps neither the message nor replies that repeat it', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish\nplease keep it', { key: general });
    const thread = threadOf(general, 'm1');
    await world.say(`${NOTE}\nis that safe?`, { key: thread, by: bob });
    await world.answer('No, swordfish is easy to guess.', { key: thread });
    await world.say('thanks', { key: thread, by: bob });
    const by = { reader: world.reader(general), author: ada, rights: 'member' } as const;
    await world.forget({ kind: 'messages', conversation: general, seqs: [1] }, by);
    expect(await textsIn(world, thread)).toEqual([`${STRUCK}\nis that safe?`, '', 'thanks']);
  });

  it.each([true, false])('forgets it with the platform, stored in the channel: %s', async (isStored) => {
    const model = scriptedModel(() => ({ text: 'swordfish is easy to guess' }), { id: 'test:chat' });
    const key = threadOf(HERE, 'm1');
    await using world = await createBotWorld({ models: [model], key });
    if (isStored) await world.say('my password is swordfish\nplease keep it', { key: HERE, id: 'm1' });
    await world.say(`${NOTE}\nis that safe?`, { id: 'm2' });
    await world.settled();
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    const texts = (await world.entries()).map(({ parts }) => textOf(parts));
    expect(texts).toEqual([`${STRUCK}\nis that safe?`, '']);
  });

  it('loses an answer in another script too', async () => {
    const model = scriptedModel(() => ({ text: '剑鱼很容易猜到' }), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [model], key: threadOf(HERE, 'm1') });
    await world.say(`${NOTE}\nis that safe?`, { id: 'm2' });
    await world.settled();
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    const texts = (await world.entries()).map(({ parts }) => textOf(parts));
    expect(texts).toEqual([`${STRUCK}\nis that safe?`, '']);
  });

  it('keeps other messages that say the same', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish\nplease keep it', { key: general });
    const other = threadOf(general, 'm7');
    await world.say(`${NOTE}\nis that safe?`, { key: other, by: bob });
    const by = { reader: world.reader(general), author: ada, rights: 'member' } as const;
    await world.forget({ kind: 'messages', conversation: general, seqs: [1] }, by);
    expect(await textsIn(world, other)).toEqual([`${NOTE}\nis that safe?`]);
  });
});

describe('a reply that quotes what it answers', () => {
  it('loses it when that is deleted', async () => {
    const model = scriptedModel(() => ({ text: 'swordfish is easy to guess' }), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [model] });
    const note = replyNote('Ada', 'my password is swordfish [really]');
    await world.say('[in reply to nobody: well]', { id: 'm2', replyTo: 'm7', asks: false });
    await world.say(`${note}\nis that safe?`, { id: 'm3', replyTo: 'm1' });
    await world.settled();
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    const texts = (await world.entries()).map(({ parts }) => textOf(parts));
    expect(texts).toEqual(['[in reply to nobody: well]', '[in reply to (removed)]\nis that safe?', '']);
  });
});

describe('what a text quotes', () => {
  it('is found below other notes', () => {
    const quotation = { marked: '> one\n> two', words: 'one\ntwo' };
    expect(threadNoteIn(`[3 older messages]\n${threadNote('Ada', 'one\ntwo')}\nis that safe?`)).toEqual(quotation);
    expect(replyNoteIn(`[a note]\n${replyNote('Ada', 'one')}\nyes`)?.words).toBe('Ada: one');
  });

  it('is not what only looks alike', () => {
    expect(threadNoteIn('[forwarded]\n> one')).toBeNull();
    expect(threadNoteIn('[the thread is about this message of Ada]\nno quotation')).toBeNull();
    expect(replyNoteIn('[in reply to Ada: one')).toBeNull();
    expect(replyNoteIn('I am [in reply to Ada: one]')).toBeNull();
  });
});
