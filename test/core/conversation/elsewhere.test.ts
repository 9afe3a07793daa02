import { describe, expect, it } from 'vitest';
import { type Entry, type NewMessage, type Storage, textOf } from '../../../src/adapter-kit.ts';
import { ADA, BOB, type BotWorld, type BotWorldOptions, createBotWorld, HERE } from '../../support/bot-world.ts';
import { type Script, scriptedModel, until } from '../compaction/compaction.world.ts';

async function botWith(script: Script, options: Partial<BotWorldOptions> = {}) {
  const model = scriptedModel(script, { id: 'test:chat' });
  return Object.assign(await createBotWorld({ ...options, models: [model] }), { model });
}

type World = Awaited<ReturnType<typeof botWith>>;

const lastRequest = ({ model }: World) => JSON.stringify(model.requests.at(-1)?.messages);
const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);

/** Straight into the store, as another process would. */
async function storeElsewhere({ store }: Pick<Storage, 'store'>, text: string): Promise<void> {
  const message: NewMessage = {
    externalId: `elsewhere ${text}`,
    role: 'user',
    author: BOB,
    replyTo: null,
    mentions: [],
    tokens: 4,
    at: 1,
    parts: [{ kind: 'text', text }],
  };
  const place = { conversation: HERE, audience: 'private' } as const;
  await store.transcript.append({
    ...place,
    message,
    wantsReply: false,
    claimLeaseMs: null,
    idleExtractMs: 1_000_000,
    now: 1,
  });
}

describe('what another process did between two turns', () => {
  it('by an edit replaces the text in the next request', async () => {
    await using world = await botWith(() => ({ text: 'Good.' }));
    await world.say('The price is ten.', { id: 'price' });
    await world.settled();
    const parts = [{ kind: 'text', text: 'The price is twelve.' }] as const;
    const { id } = await world.conversation();
    const edit = { externalId: 'price', parts, tokens: 5, now: world.clock.now() };
    await world.bot.services.store.transcript.edit(id, edit);
    await world.say('What does it cost?');
    await world.settled();
    expect(lastRequest(world)).toContain('The price is twelve.');
    expect(lastRequest(world)).not.toContain('The price is ten.');
  });

  it('by a deletion removes the text from the next request', async () => {
    await using world = await botWith(() => ({ text: 'Good.' }));
    await world.say('My SECRET.', { id: 'secret', asks: false });
    await world.say('Hello?');
    await world.settled();
    expect(lastRequest(world)).toContain('SECRET');
    const { id } = await world.conversation();
    const { transcript } = world.bot.services.store;
    await transcript.redact(id, { externalIds: ['secret'], now: world.clock.now() });
    await world.say('And now?');
    await world.settled();
    expect(lastRequest(world)).not.toContain('SECRET');
  });

  it('is in the next request if it stored a message', async () => {
    await using world = await botWith(() => ({ text: 'Good.' }));
    await world.say('Hello?');
    await world.settled();
    await storeElsewhere(world.bot.services, 'I am Bob.');
    await world.say('Who was that?');
    await world.settled();
    expect(lastRequest(world)).toContain('I am Bob.');
  });

  it('is read if it stored a message before a claim', async () => {
    let early: string | null = null;
    const storage = (given: Storage): Storage => {
      const { conversations } = given.store;
      const claim: typeof conversations.claim = async (request) => {
        const text = early;
        early = null;
        if (text !== null) await storeElsewhere(given, text);
        return await conversations.claim(request);
      };
      return { ...given, store: { ...given.store, conversations: { ...conversations, claim } } };
    };
    const door = Promise.withResolvers<void>();
    await using world = await botWith(
      async (_, { count }) => {
        if (count === 1) await door.promise;
        return { text: `Answer ${count}.` };
      },
      { storage },
    );
    await world.say('The first?');
    await until(() => world.model.requests.length === 1);
    await world.say('The second?');
    early = 'I am Bob.';
    door.resolve();
    await world.settled();
    expect(posted(world)).toEqual(['Answer 1.', 'Answer 2.']);
    expect(lastRequest(world)).toContain('I am Bob.');
  });
});

describe('the failure of a turn', () => {
  it('is not shown once the message behind it is deleted', async () => {
    const storage = (given: Storage): Storage => {
      const { transcript } = given.store;
      const quoted = (entries: readonly Entry[]) => entries.map(({ parts }) => textOf(parts)).join();
      const commitTurn: typeof transcript.commitTurn = async ({ claim }) => {
        const all = { fromSeq: 1, toSeq: 9, limit: 9 };
        throw new Error(`cannot be stored: ${quoted(await transcript.read(claim.conversationId, all))}`);
      };
      return { ...given, store: { ...given.store, transcript: { ...transcript, commitTurn } } };
    };
    await using world = await botWith(() => ({ text: 'Good.' }), { storage });
    const status = async () => JSON.stringify((await world.command('status')).fields);
    await world.say('My SECRET.', { id: 'secret', asks: false, author: ADA });
    await world.say('Hello?');
    await until(async () => (await status()).includes('cannot be stored'));
    expect(await status()).toContain('SECRET');
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['secret'] });
    expect(await status()).not.toContain('SECRET');
  });
});
