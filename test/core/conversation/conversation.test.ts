import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ContextSnapshot, defineTool, ModelError, type ModelRequest, textOf } from '../../../src/adapter-kit.ts';
import { createViewCache } from '../../../src/conversation/state/view-cache.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { ADA, BOB, type BotWorld, type BotWorldOptions, createBotWorld, HERE } from '../../support/bot-world.ts';
import {
  faithful,
  filler,
  type Script,
  scriptedModel,
  seqsIn,
  settle,
  transcriptIn,
  until,
} from '../compaction/compaction.world.ts';

/** Calls wait until it is opened; then none waits any more. */
function gate() {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    get count() {
      return waiting.length;
    },
    pass: () => new Promise<void>((resolve) => (isOpen ? resolve() : waiting.push(resolve))),
    open() {
      isOpen = true;
      for (const resume of waiting.splice(0)) resume();
    },
  };
}

const look = defineTool({
  name: 'look',
  description: 'Looks something up',
  input: z.object({ what: z.string() }),
  run: async ({ what }) => `Found ${what}.`,
});

/** A bot whose model answers by `reply`, and whose summariser by `summarise`. */
async function botWith(reply: Script, options: { summarise?: Script; agent?: BotWorldOptions['agent'] } = {}) {
  // The provider does not report what it read, so the estimates count unchanged.
  const counted: Script = async (...given) => ({ inputTokens: 0, ...(await reply(...given)) });
  const chat = scriptedModel(counted, { id: 'test:chat' });
  const summariser = scriptedModel(options.summarise ?? faithful, { window: 32_000 });
  const compaction = { model: summariser.id, ...options.agent?.compaction };
  const agent = { tools: ['look'], ...options.agent, compaction };
  return Object.assign(await createBotWorld({ models: [chat, summariser], tools: [look], agent }), {
    chat,
    summariser,
  });
}

function textsIn(request: ModelRequest | undefined): string {
  return JSON.stringify([request?.system, request?.messages]);
}

async function lastReply(world: BotWorld): Promise<string> {
  return textOf((await world.entries()).findLast((entry) => entry.role === 'assistant')?.parts ?? []);
}

describe('a turn that is overtaken', () => {
  it('by a deletion drops the text and runs again', async () => {
    const door = gate();
    await using world = await botWith(async (request, { count }) => {
      if (count === 2) await door.pass();
      if (textsIn(request).includes('SECRET')) return { calls: [{ tool: 'look', input: { what: 'SECRET' } }] };
      return { text: 'I see nothing of it.' };
    });
    await world.say('My SECRET is here.', { asks: false, id: 'secret' });
    await world.say('What do I have?');
    await until(() => door.count > 0);
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['secret'] });
    door.open();
    await world.settled();
    expect(await lastReply(world)).toBe('I see nothing of it.');
    expect(JSON.stringify(await world.entries())).not.toContain('SECRET');
    expect(world.chat.requests.map((request) => textsIn(request).includes('SECRET'))).toEqual([true, true, false]);
  });

  it('by the deletion of its question answers nothing', async () => {
    const door = gate();
    await using world = await botWith(async () => {
      await door.pass();
      return { text: 'An answer.' };
    });
    await world.say('Never mind.', { id: 'question' });
    await until(() => door.count > 0);
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['question'] });
    door.open();
    await world.settled();
    expect(world.channel.posts.size).toBe(0);
    await world.say('A real question?');
    await world.settled();
    expect(world.channel.posts.size).toBe(1);
    expect(world.chat.requests).toHaveLength(2);
  });

  it('by the deletion of one question answers the other', async () => {
    const door = gate();
    await using world = await botWith(async () => {
      await door.pass();
      return { text: 'An answer.' };
    });
    await world.say('What is left?', { id: 'kept' });
    await until(() => door.count > 0);
    await world.say('Never mind.', { id: 'gone' });
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['gone'] });
    door.open();
    await world.settled();
    expect(world.channel.posts.size).toBe(1);
  });

  it('by a reset ends at its next step, storing nothing', async () => {
    const door = gate();
    await using world = await botWith(async (_request, { count }) => {
      if (count === 1) await door.pass();
      return count === 1 ? { calls: [{ tool: 'look', input: { what: 'x' } }] } : { text: 'Hello.' };
    });
    await world.say('Tell me of the past.');
    await until(() => door.count > 0);
    await world.command('reset');
    door.open();
    await world.settled();
    expect(world.chat.requests).toHaveLength(1);
    expect(world.channel.posts.size).toBe(0);
    await world.say('And now?');
    await world.settled();
    expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['Hello.']);
  });

  it.each(['here', 'in another process'])('by an edit %s starts over with the new text', async (where) => {
    const door = gate();
    await using world = await botWith(async (request, { count }) => {
      if (count === 1) await door.pass();
      return { text: textsIn(request).includes('The old price.') ? 'The old one.' : 'The new one.' };
    });
    await world.say('The old price.', { asks: false, id: 'price' });
    await world.say('What does it cost?');
    await until(() => door.count > 0);
    const parts = [{ kind: 'text' as const, text: 'The new price.' }];
    const edit = { externalId: 'price', parts, tokens: 4, now: world.clock.now() };
    if (where === 'here') await world.bot.sink.edited({ ...edit, conversation: HERE, at: world.clock.now() });
    else await world.bot.services.store.transcript.edit((await world.conversation()).id, edit);
    // Here, nobody waits for the answer to the old text.
    if (where === 'here') await until(() => world.chat.requests.length === 2);
    door.open();
    await world.settled();
    expect(world.chat.requests).toHaveLength(2);
    expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['The new one.']);
  });

  it('by an edit elsewhere runs no tool for old text', async () => {
    await using world = await botWith(async (_request, { count }) => {
      if (count > 1) return { text: 'Hello.' };
      const edit = { externalId: 'price', parts: [{ kind: 'text' as const, text: 'The new price.' }], tokens: 4 };
      await world.bot.services.store.transcript.edit((await world.conversation()).id, {
        ...edit,
        now: world.clock.now(),
      });
      return { calls: [{ tool: 'look', input: { what: 'The old price.' } }] };
    });
    await world.say('The old price.', { id: 'price' });
    await world.settled();
    expect(JSON.stringify(await world.entries())).not.toContain('The old price.');
    expect(world.events.filter(({ kind }) => kind === 'tool.called')).toEqual([]);
  });

  it.each([
    ['a later message', BOB],
    ['a message of a bot', { ...BOB, kind: 'bot' }],
  ] as const)('by an edit of %s goes on', async (_, author) => {
    const door = gate();
    await using world = await botWith(async (_request, { count }) => {
      if (count === 1) await door.pass();
      return { text: `Answer ${count}.` };
    });
    const talk = () => world.say('Nice wether.', { id: 'talk', author, asks: false });
    if (author.kind === 'bot') await talk();
    await world.say('What does it cost?');
    await until(() => door.count > 0);
    if (author.kind === 'person') await talk();
    const parts = [{ kind: 'text' as const, text: 'Nice weather.' }];
    await world.bot.sink.edited({ conversation: HERE, externalId: 'talk', parts, at: world.clock.now() });
    await settle();
    door.open();
    await world.settled();
    expect(JSON.stringify(await world.entries())).toContain('Nice weather.');
    expect(world.chat.requests).toHaveLength(1);
  });
});

describe('a reply to several', () => {
  it('points to the newest message that asked for it', async () => {
    const door = gate();
    await using world = await botWith(async (_request, { count }) => {
      if (count === 1) await door.pass();
      return { text: `Answer ${count}.` };
    });
    await world.say('The first?', { id: 'first' });
    await until(() => door.count > 0);
    await world.say('The second?', { id: 'second' });
    await world.say('Nice weather, Bob.', { id: 'talk', author: BOB, asks: false });
    door.open();
    await world.settled();
    expect([...world.channel.posts.values()].map(({ replyTo }) => replyTo)).toEqual(['first', 'second']);
  });
});

describe('the copy of a view', () => {
  it('is not cached if something was stored during reading', async () => {
    await using world = await botWith(() => ({ text: 'Hello.' }));
    await world.say('One', { asks: false });
    const { conversations, transcript } = world.bot.services.store;
    const reading = gate();
    const slow = {
      conversations,
      transcript: {
        ...transcript,
        async context(id: number, query: { readonly maxEntries: number }): Promise<ContextSnapshot | null> {
          const read = await transcript.context(id, query);
          await reading.pass();
          return read;
        },
      },
    };
    const copy = createViewCache(slow, HERE);
    const first = copy.current();
    await until(() => reading.count > 0);
    await world.say('Two', { asks: false });
    const conversation = await world.conversation();
    copy.extend({ conversation, previousActivityAt: conversation.lastActivityAt }, (await world.entries()).slice(1));
    reading.open();
    await first;
    expect((await copy.current())?.tail.map(({ seq }) => seq)).toEqual([1, 2]);
  });
});

describe('a conversation while it is summarised', () => {
  // Shows: I5, S3
  it('gets replies at once while the summariser hangs', async () => {
    const door = gate();
    const summarise: Script = async (request, options) => {
      await door.pass();
      return await faithful(request, options);
    };
    await using world = await botWith(() => ({ text: filler(60) }), { summarise });
    for (let turn = 0; turn < 30; turn += 1) {
      const saidAt = world.clock.now();
      await world.say(filler(90, turn));
      await world.settled();
      expect(world.clock.now()).toBe(saidAt);
    }
    expect(door.count).toBe(1);
    expect(world.channel.posts.size).toBe(30);
    expect(world.events.some(({ kind }) => kind === 'gap.opened')).toBe(true);
    door.open();
  });

  // Shows: B11, R26
  it('compacts during a reply and answers the waiting message too', async () => {
    const door = gate();
    await using world = await botWith(async (_request, { count }) => {
      if (count === 5) await door.pass();
      return { text: filler(60, count) };
    });
    for (let turn = 0; turn < 4; turn += 1) {
      await world.say(`${filler(90, turn)}`);
      await world.settled();
    }
    await world.say('The fifth', { id: 'fifth' });
    await until(() => door.count > 0);
    await world.say('The sixth', { id: 'sixth', author: BOB });
    const reply = await world.command('compact');
    expect(reply.tone).not.toBe('error');
    expect((await world.snapshot()).stack.map(({ kind }) => kind)).toEqual(['summary']);
    door.open();
    await world.settled();
    expect(world.channel.posts.size).toBe(6);
    expect([...world.channel.posts.values()].slice(-2).map(({ replyTo }) => replyTo)).toEqual(['fifth', 'sixth']);
    expect(textsIn(world.chat.requests.at(-1))).toContain('The fifth');
  });

  // Shows: B19
  it('answers the newest question after a compaction', async () => {
    await using world = await botWith((_request, { count }) => ({ text: filler(60, count) }));
    for (let turn = 0; turn < 16; turn += 1) {
      await world.say(`Question ${turn}: ${filler(90, turn)}`);
      await world.settled();
      await until(() => world.bot.services.queue.stats().running === 0);
      const newest = world.chat.requests.at(-1)?.messages.at(-1);
      expect(newest?.role).toBe('user');
      expect(JSON.stringify(newest)).toContain(`Question ${turn}:`);
    }
    expect((await world.snapshot()).stack.length).toBeGreaterThan(0);
  });

  // Shows: T6
  it('keeps 18 calls with their results, tail and summary alike', async () => {
    await using world = await botWith((request, { count }) => {
      const isFirst = count === 1;
      const calls = Array.from({ length: 18 }, (_, index) => ({ tool: 'look', input: { what: `thing ${index}` } }));
      if (isFirst) return { calls };
      for (const [index, message] of request.messages.entries()) {
        const next = request.messages[index + 1];
        if (message.role !== 'assistant' || message.calls.length === 0) continue;
        const answered = next?.role === 'tool' ? next.results.map(({ callId }) => callId) : [];
        if (answered.join() !== message.calls.map(({ callId }) => callId).join()) {
          throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: '400 tool calls without results' });
        }
      }
      return { text: filler(60, count) };
    });
    await world.say('Look at everything.');
    await world.settled();
    for (let turn = 0; turn < 12; turn += 1) {
      await world.say(filler(90, turn));
      await world.settled();
      await until(() => world.bot.services.queue.stats().running === 0);
    }
    expect((await world.snapshot()).stack[0]).toMatchObject({ fromSeq: 1 });
    expect(world.events.filter(({ kind }) => kind === 'turn.failed')).toEqual([]);
  });

  // Shows: B18, R21
  it('keeps a standing instruction through any number of compactions', async () => {
    const summarise: Script = (request, options) => {
      const lines = seqsIn(request);
      if (!lines.includes(1)) return faithful(request, options);
      const input = { kind: 'instruction', text: 'Ask before you delete anything.', sources: [1] };
      return {
        calls: [
          { tool: 'summary_save', input: { summary: 'Ada wants to be asked before anything is deleted.' } },
          { tool: 'memory_save', input },
        ],
      };
    };
    await using world = await botWith((_request, { count }) => ({ text: filler(60, count) }), { summarise });
    const say = (text: string) => world.say(text, { audience: 'dm' });
    await say('Please always ask before you delete anything.');
    await world.settled();
    for (let turn = 0; turn < 40; turn += 1) {
      await say(filler(90, turn));
      await world.settled();
      await until(() => world.bot.services.queue.stats().running === 0);
    }
    const runs = world.events.filter(
      (event) => event.kind === 'maintenance.ended' && event.run.outcome === 'committed',
    );
    expect(runs.length).toBeGreaterThan(5);
    const { system } = world.chat.requests.at(-1) ?? { system: [] };
    expect(system.map(({ text }) => text).join('\n')).toContain('Ask before you delete anything.');
  });

  // Shows: B17, R19
  it('a late result brings back nothing forgotten', async () => {
    const door = gate();
    const text = 'Ada hid the key under the red pot.';
    const remembering = (sources: readonly number[]) => ({
      tool: 'memory_save',
      input: { kind: 'fact', text, sources: [...sources] },
    });
    const summarise: Script = async (request) => {
      const isThere = transcriptIn(request).includes('red pot');
      const saved = isThere ? [remembering([1])] : [];
      if (request.purpose === 'extract') return { calls: saved };
      if (request.messages.length === 1) await door.pass();
      const summary = isThere ? `Ada talked. ${text}` : 'Ada talked.';
      return { calls: [{ tool: 'summary_save', input: { summary } }, ...saved] };
    };
    await using world = await botWith((_request, { count }) => ({ text: filler(60, count) }), { summarise });
    await world.say('I hid the key under the red pot.', { audience: 'dm' });
    await world.settled();
    await world.clock.advance(11 * MINUTE_MS);
    await until(async () => (await world.conversation()).extractedUpto > 0);
    for (let turn = 0; door.count === 0 && turn < 40; turn += 1) {
      await world.say(filler(90, turn), { audience: 'dm' });
      await world.settled();
    }
    const reader = {
      agentId: 'main',
      place: HERE,
      workspace: 'test:here',
      audience: 'dm',
      sharePublic: false,
    } as const;
    const memories = () => world.bot.services.store.memories.list({ reader, limit: 10, offset: 0 });
    const [memory] = await memories();
    expect((await world.command('memory forget', { id: memory?.id ?? '', confirm: 'yes' })).title).toBe('Forgotten');
    door.open();
    await until(() => world.bot.services.queue.stats().running === 0);
    await world.clock.advance(60_000);
    expect(await memories()).toEqual([]);
    expect(JSON.stringify([await world.entries(), await world.snapshot()])).not.toContain('red pot');
  });
});

describe('recalled memories', () => {
  async function withMemory(reply: Script, agent: BotWorldOptions['agent'] = {}) {
    const world = await botWith(reply, { agent });
    await world.say('Hello.', { asks: false, audience: 'dm' });
    await world.command('memory remember', { text: 'Ada plays the cello on Tuesdays.' });
    return world;
  }
  const count = async (world: BotWorld) => {
    const reader = {
      agentId: 'main',
      place: HERE,
      workspace: 'test:here',
      audience: 'dm',
      sharePublic: false,
    } as const;
    const list = await world.bot.services.store.memories.list({ reader, limit: 10, offset: 0 });
    return list.map(({ recallCount }) => recallCount);
  };

  // Shows: A8, T30
  it('count as recalled only when the model saw them whole', async () => {
    await using world = await withMemory(() => ({ text: 'Yes.' }));
    await world.say('Which instrument, the cello?', { audience: 'dm' });
    await world.settled();
    expect(textsIn(world.chat.requests.at(-1))).toContain('plays the cello');
    await until(async () => (await count(world))[0] === 1);
    await world.say(`The cello. ${filler(4000)}`, { audience: 'dm' });
    await world.settled();
    expect(textsIn(world.chat.requests.at(-1))).not.toContain('plays the cello');
    await settle();
    expect(await count(world)).toEqual([1]);
  });

  // Shows: A31
  it('stay away from the next message when recall is off', async () => {
    const settings = { memory: { recall_limit: 8 } };
    await using world = await withMemory(() => ({ text: 'Yes.' }), settings);
    await world.say('Which instrument, the cello?', { audience: 'dm' });
    await world.settled();
    expect(textsIn(world.chat.requests.at(-1))).toContain('plays the cello');
    const agent = world.bot.services.agents.list()[0];
    if (agent !== undefined) agent.memory.recall_limit = 0;
    await world.say('Which instrument, the cello?', { audience: 'dm' });
    await world.settled();
    expect(textsIn(world.chat.requests.at(-1))).not.toContain('plays the cello');
  });
});

describe('a reply that fails', () => {
  // Shows: I12, P23, R6
  it('is reported in plain words and as an event', async () => {
    const detail = 'HTTP 400 {"error":"internal tenant 4711"}';
    await using world = await botWith(() => {
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail });
    });
    await world.say('Hello?');
    await world.settled();
    const [post] = world.channel.posts.values();
    expect(post?.body.text).toMatch(/refused to answer/u);
    expect(post?.body.text).not.toContain('4711');
    expect(world.events.find(({ kind }) => kind === 'turn.failed')).toMatchObject({ reason: 'fatal' });
    expect((await world.entries()).at(-1)?.role).toBe('notice');
    // The model never sees the bot's notices about itself.
    world.chat.script = () => ({ text: 'Here I am.' });
    await world.say('Hello again?');
    await world.settled();
    expect(textsIn(world.chat.requests.at(-1))).not.toContain('refused to answer');
  });
});

describe('many people at once', () => {
  // Shows: R31
  it('in one conversation whose model hangs delay no other', async () => {
    const door = gate();
    await using world = await botWith(async (request) => {
      if (textsIn(request).includes('HANG')) await door.pass();
      return { text: 'Done.' };
    });
    await world.say('HANG');
    await until(() => door.count > 0);
    const other = HERE.replace('talk', 'elsewhere') as typeof HERE;
    await world.say('Quick', { key: other, author: ADA });
    await until(() => world.channel.posts.size === 1);
    expect([...world.channel.posts.values()][0]).toMatchObject({ conversation: other });
    door.open();
    await world.settled();
    expect(world.channel.posts.size).toBe(2);
  });
});
