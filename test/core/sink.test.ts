import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConversationKey, type Storage, textOf } from '../../src/index.ts';
import { type BotWorld, createBotWorld, HERE } from '../support/bot-world.ts';

let world: BotWorld;
beforeEach(async () => {
  world = await createBotWorld({ models: [], agent: { mode: 'observe' } });
});
afterEach(() => world[Symbol.asyncDispose]());

const edit = (externalId: string, text: string, conversation: ConversationKey = HERE) =>
  world.bot.sink.edited({ conversation, externalId, parts: [{ kind: 'text', text }], at: world.clock.now() });
const remove = (...externalIds: readonly string[]) => world.bot.sink.removed({ conversation: HERE, externalIds });
const kept = async () => (await world.entries()).map(({ parts, redactedAt }) => (redactedAt ? null : textOf(parts)));

describe('a change that overtakes its message', () => {
  it('is made when the message comes: an edit, a deletion, in a conversation that nobody knew', async () => {
    await edit('m1', 'I drink tea.');
    await remove('m2');
    await world.say('I drnk tea.');
    expect(await world.say('My secret.')).toEqual({ stored: false, willReply: false });
    await world.say('And you?');
    expect(await kept()).toEqual(['I drink tea.', 'And you?']);
  });

  it('is made too when it comes while the message is being stored', async () => {
    const stored = Promise.withResolvers<void>();
    await using slow = await createBotWorld({
      models: [],
      agent: { mode: 'observe' },
      storage: (storage) => ({ ...storage, store: { ...storage.store, transcript: late(storage, stored.promise) } }),
    });
    const storing = [slow.say('I drnk tea.'), slow.say('My secret.')];
    const sent = { conversation: HERE, at: 0, parts: [{ kind: 'text' as const, text: 'I drink tea.' }] };
    await slow.bot.sink.edited({ ...sent, externalId: 'm1' });
    await slow.bot.sink.removed({ conversation: HERE, externalIds: ['m2'] });
    stored.resolve();
    await Promise.all(storing);
    const entries = await slow.entries();
    expect(entries.map(({ parts }) => textOf(parts)).toSorted()).toEqual(['', 'I drink tea.']);
  });

  it('belongs to that message alone, and a deletion is not taken back by an edit', async () => {
    await edit('m1', 'Elsewhere.', 'test:here:other' as ConversationKey);
    await remove('m2');
    await edit('m2', 'Not any more.');
    await world.say('Here.');
    await world.say('Gone.');
    expect(await kept()).toEqual(['Here.']);
  });

  it('is counted when it leaves nothing to keep', async () => {
    await remove('m1');
    await world.say('My secret.');
    expect(world.events.filter(({ kind }) => kind === 'message.dropped')).toMatchObject([
      { platform: 'test', reason: 'deleted', externalId: 'm1' },
    ]);
  });

  it('is forgotten after ten minutes', async () => {
    await edit('m1', 'Too late.');
    await world.clock.advance(600_001);
    await edit('other', 'Something else.');
    await world.say('As it was said.');
    expect(await kept()).toEqual(['As it was said.']);
  });
});

describe('what a channel can ask', () => {
  it('names the newest messages of people with their edits, without what was deleted', async () => {
    for (const text of ['one', 'two', 'three']) await world.say(text);
    await world.clock.advance(1000);
    await edit('m1', 'one!');
    await remove('m2');
    const [cursor] = await world.bot.sink.cursors('test');
    const found = (await cursor?.kept()) ?? [];
    expect(found.map(({ externalId, at, editedAt }) => [externalId, editedAt === null ? null : editedAt - at])).toEqual(
      [
        ['m1', 1000],
        ['m3', null],
      ],
    );
  });
});

/** A transcript that takes its time to store. */
function late({ store }: Storage, opened: Promise<void>): Storage['store']['transcript'] {
  return {
    ...store.transcript,
    async append(message) {
      await opened;
      return await store.transcript.append(message);
    },
  };
}
