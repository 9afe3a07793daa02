import { describe, expect, it } from 'vitest';
import type { Audience, ConversationKey, ModelRequest } from '../../src/adapter-kit.ts';
import { makeKey } from '../../src/domain/key.ts';
import { type Said, type ScriptedModel, scriptedModel } from '../core/compaction/compaction.world.ts';
import { ADA, type BotWorld, createBotWorld } from '../support/bot-world.ts';

const TALK = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });
const OTHER = makeKey({ platform: 'test', workspace: 'here', channel: 'other' });
const SECRET = 'swordfish';

/** Repeats everything that it was given, as a model may. */
function repeat(request: ModelRequest): Said {
  return { text: JSON.stringify(request).includes(SECRET) ? `It is ${SECRET}.` : 'Nobody told me.' };
}

type Script = (world: BotWorld, request: ModelRequest, count: number) => Said | Promise<Said>;

async function worldWith(script: Script): Promise<BotWorld & { readonly model: ScriptedModel }> {
  const model = scriptedModel((request, { count }) => script(world, request, count), { id: 'test:chat' });
  const tools = ['memory_save', 'memory_recall'];
  const world: BotWorld = await createBotWorld({ models: [model], agent: { tools, memory: { share_public: true } } });
  return Object.assign(world, { model });
}

/** Saved by command, so no transcript contains it. */
async function remember(world: BotWorld, where: { readonly key: ConversationKey; readonly audience: Audience }) {
  await world.say('hello', { ...where, asks: false });
  const { commands } = world.bot;
  const options = { text: `the launch code is ${SECRET}` };
  const rest = { author: ADA, rights: 'operator', path: ['memory', 'remember'], options } as const;
  await commands.run({ conversation: where.key, audience: where.audience, ...rest });
}

function posted({ channel }: BotWorld): readonly string[] {
  return [...channel.posts.values()].map(({ body }) => body.text);
}

interface Ending {
  readonly key: ConversationKey;
  readonly audience: Audience;
  end(world: BotWorld): Promise<unknown>;
}

const PRIVATELY = { key: TALK, audience: 'private' } as const;
const PUBLICLY = { key: TALK, audience: 'public' } as const;

// Shows: I9
describe('a place that changes its audience while the model thinks', () => {
  const openings: Readonly<Record<string, (world: BotWorld) => Promise<unknown>>> = {
    'by an event': (world) => world.bot.sink.audienceChanged(TALK, 'public'),
    'with a message': (world) => world.say('welcome', { ...PUBLICLY, asks: false }),
    'with a question': (world) => world.say('what is it?', PUBLICLY),
    'with a thread': (world) =>
      world.say('aside', { key: `${TALK}:t1` as typeof TALK, audience: 'public', asks: false }),
  };
  for (const [how, open] of Object.entries(openings)) {
    it(`writes the reply again once it opens ${how}`, async () => {
      await using world = await worldWith(async (self, request, count) => {
        if (count === 1) await open(self);
        return repeat(request);
      });
      await remember(world, PRIVATELY);
      await world.say('what is the launch code?', PRIVATELY);
      await world.settled();
      expect(JSON.stringify(world.model.requests[0])).toContain(SECRET);
      expect(world.model.requests.length).toBeGreaterThan(1);
      expect(posted(world)).toContain('Nobody told me.');
      expect(posted(world).join()).not.toContain(SECRET);
    });
  }

  it('recalls nothing private for a turn that began before', async () => {
    await using world = await worldWith(async (self, request, count) => {
      if (count > 1) return repeat({ ...request, messages: request.messages.slice(-1) });
      await self.bot.sink.audienceChanged(TALK, 'public');
      return { calls: [{ tool: 'memory_recall', input: { query: 'launch code' } }] };
    });
    await remember(world, PRIVATELY);
    await world.say('look it up', PRIVATELY);
    await world.settled();
    expect(posted(world)).toEqual(['Nobody told me.']);
  });

  const THREAD = `${TALK}:t1` as typeof TALK;
  const endings: Readonly<Record<string, Ending>> = {
    'when the place opens': {
      key: TALK,
      audience: 'private',
      end: (world) => world.bot.sink.audienceChanged(TALK, 'public'),
    },
    'in a thread when its place opens': {
      key: THREAD,
      audience: 'private',
      end: (world) => world.bot.sink.audienceChanged(TALK, 'public'),
    },
    'in a thread when a message opens the place': {
      key: THREAD,
      audience: 'private',
      end: (world) => world.say('welcome', { ...PUBLICLY, asks: false }),
    },
    'elsewhere when the place closes': {
      key: OTHER,
      audience: 'public',
      end: (world) => world.bot.sink.audienceChanged(TALK, 'private'),
    },
    'elsewhere when it is forgotten': {
      key: OTHER,
      audience: 'public',
      end: async (world) => {
        const forget = { path: ['memory', 'forget'], options: { id: 'launch code', confirm: 'yes' } } as const;
        await world.bot.sink.command({ ...PUBLICLY, conversation: TALK, author: ADA, rights: 'operator', ...forget });
      },
    },
  };
  it.each(Object.keys(endings))('shows no more of the draft %s', async (how) => {
    const { key, audience, end } = endings[how] ?? { ...PRIVATELY, end: async () => undefined };
    await using world = await worldWith((_, request) => repeat(request));
    const { stream } = world.model;
    let isFirst = true;
    Object.assign(world.model, {
      async *stream(...call: Parameters<typeof stream>) {
        if (!isFirst) return yield* stream(...call);
        isFirst = false;
        yield { kind: 'text', text: 'Let me see.' };
        await end(world);
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        yield* stream(...call);
      },
    });
    await remember(world, { key: TALK, audience });
    await world.say('what is the launch code?', { key, audience });
    await world.settled();
    const drafts = world.channel.shown.flatMap((shown) => (shown.kind === 'draft' ? [shown.text] : []));
    expect(drafts).toContain('Let me see.');
    expect(drafts.join()).not.toContain(SECRET);
    expect(posted(world)).toEqual(['Nobody told me.']);
  });

  it('withdraws a reply that waits to be posted', async () => {
    await using world = await worldWith((_, request) => repeat(request));
    await remember(world, PRIVATELY);
    world.channel.trouble.refuse = 1;
    await world.say('what is the launch code?', PRIVATELY);
    while (world.channel.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(world.channel.calls[0]?.body.text).toContain(SECRET);
    await world.bot.sink.audienceChanged(TALK, 'public');
    await world.settled();
    await world.say('and now?', PUBLICLY);
    await world.settled();
    expect(posted(world)).toEqual(['Nobody told me.']);
    const kept = await world.entries();
    expect(JSON.stringify(kept)).not.toContain(SECRET);
  });

  it('shows no reply twice whose post is on its way', async () => {
    const underway = Promise.withResolvers<void>();
    await using world = await createBotWorld({
      models: [scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' })],
      channel: (channel) => ({
        ...channel,
        async post(post, options) {
          const posted = await channel.post(post, options);
          await underway.promise;
          return posted;
        },
      }),
    });
    await world.say('hello', PRIVATELY);
    while (world.channel.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const changed = world.bot.sink.audienceChanged(TALK, 'public');
    await new Promise((resolve) => setTimeout(resolve, 50));
    underway.resolve();
    await changed;
    await world.settled();
    const { replyDueSeq, answeredUpto } = await world.conversation();
    expect([replyDueSeq, answeredUpto]).toEqual([1, 1]);
    expect(world.channel.calls).toHaveLength(1);
  });

  it('keeps elsewhere what was said before a place closed', async () => {
    await using world = await worldWith(async (self, request, count) => {
      if (count === 1) await self.bot.sink.audienceChanged(OTHER, 'private');
      return repeat(request);
    });
    await remember(world, { key: OTHER, audience: 'public' });
    await world.say('what is the launch code?', PUBLICLY);
    await world.settled();
    expect(JSON.stringify(world.model.requests[0])).toContain(SECRET);
    expect(posted(world)).toEqual(['Nobody told me.']);
  });

  it('answers once where nothing closes or opens', async () => {
    await using world = await worldWith(async (self, request) => {
      await self.bot.sink.audienceChanged(TALK, 'private');
      return repeat(request);
    });
    await remember(world, PRIVATELY);
    await world.say('what is the launch code?', PRIVATELY);
    await world.settled();
    expect(posted(world)).toEqual([`It is ${SECRET}.`]);
    expect(world.model.requests).toHaveLength(1);
  });

  const changes = [
    ['public', 'private'],
    ['private', 'public'],
  ] as const;
  for (const [before, after] of changes) {
    it(`saves narrowly when a ${before} place turned ${after}`, async () => {
      const statement = { kind: 'fact', text: `Ada keeps ${SECRET}`, about: 'Ada', sources: [] };
      await using world = await worldWith(async (self, request, count) => {
        const { isChanged } = state;
        state.isChanged = true;
        if (!isChanged) await self.bot.sink.audienceChanged(TALK, after);
        const isSaved = JSON.stringify(request.messages).includes('"saved\\":true');
        return isSaved || count > 3 ? { text: 'Noted.' } : { calls: [{ tool: 'memory_save', input: statement }] };
      });
      const state = { isChanged: false };
      await world.say(`I keep ${SECRET}`, { key: TALK, audience: before });
      await world.settled();
      const reader = { agentId: 'strata', place: TALK, workspace: 'test:here', sharePublic: true } as const;
      const { memories } = world.bot.services.store;
      const [saved] = await memories.list({ reader: { ...reader, audience: 'dm' }, limit: 5, offset: 0 });
      expect(saved?.audience).toBe('private');
      expect(
        await memories.list({ reader: { ...reader, place: OTHER, audience: 'public' }, limit: 5, offset: 0 }),
      ).toEqual([]);
    });
  }
});

describe('a place whose readers the platform does not report', () => {
  const UNKNOWN = { audience: 'private', isAudienceAssumed: true } as const;

  /** Says something there, as an adapter that could not look the place up. */
  async function sayUnknown(world: BotWorld, conversation: ConversationKey, id: string) {
    const message = { conversation, externalId: id, author: ADA, text: 'hello again', attachments: [], replyTo: null };
    await world.bot.sink.message({ ...message, mentions: [], addressesBot: false, at: world.clock.now(), ...UNKNOWN });
  }

  it('keeps the audience that is stored', async () => {
    await using world = await worldWith((_, request) => repeat(request));
    await remember(world, { key: OTHER, audience: 'public' });
    await sayUnknown(world, OTHER, 'x1');
    await sayUnknown(world, `${OTHER}:t1` as typeof OTHER, 'x2');
    await world.say('what is the launch code?', PUBLICLY);
    await world.settled();
    expect(posted(world)).toEqual([`It is ${SECRET}.`]);
  });

  it('opens nothing that is stored', async () => {
    await using world = await worldWith((_, request) => repeat(request));
    await remember(world, PRIVATELY);
    await world.bot.sink.audienceChanged(TALK, 'public');
    const list = { conversation: TALK, author: ADA, rights: 'member', path: ['memory', 'list'], options: {} } as const;
    expect(JSON.stringify(await world.bot.sink.command({ ...list, ...UNKNOWN }))).not.toContain(SECRET);
  });

  it('counts as private while nothing is stored', async () => {
    await using world = await worldWith((_, request) => repeat(request));
    await sayUnknown(world, OTHER, 'x1');
    const stored = await world.bot.services.store.conversations.find(OTHER);
    expect(stored).toMatchObject({ audience: 'private' });
  });
});
