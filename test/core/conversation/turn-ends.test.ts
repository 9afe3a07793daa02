import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { assembleView, defineTool } from '../../../src/adapter-kit.ts';
import { defineEngine } from '../../../src/context/engines/define-engine.ts';
import { makeKey } from '../../../src/domain/key.ts';
import { ADA, BOB, type BotWorld, type BotWorldOptions, createBotWorld, HERE } from '../../support/bot-world.ts';
import { type Script, type ScriptedModel, scriptedModel, settle, until } from '../compaction/compaction.world.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({}),
  run: async () => 'Nothing.',
});

async function botWith(script: Script, options: Partial<BotWorldOptions> = {}) {
  const model = scriptedModel(script, { id: 'test:chat' });
  const agent = { tools: ['look'], ...options.agent };
  return Object.assign(await createBotWorld({ tools: [look], ...options, models: [model], agent }), { model });
}

const shown = ({ channel }: BotWorld) => channel.shown.map(({ kind }) => kind);
const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);

async function edit(world: BotWorld, externalId: string, where: 'here' | 'elsewhere'): Promise<void> {
  const parts = [{ kind: 'text', text: 'The new price.' }] as const;
  const at = world.clock.now();
  if (where === 'here') return void (await world.bot.sink.edited({ conversation: HERE, externalId, parts, at }));
  const { id } = await world.conversation();
  await world.bot.services.store.transcript.edit(id, { externalId, parts, tokens: 4, now: at });
}

describe('a turn', () => {
  it('shows that it works, and rests once all is posted', async () => {
    await using world = await botWith(() => ({ text: 'Hello.' }));
    world.channel.trouble.refuse = 1;
    await world.say('Hello?');
    await until(() => world.events.some(({ kind }) => kind === 'reply.delayed'));
    await settle();
    expect(shown(world)).toEqual(['working', 'draft']);
    await world.settled();
    await until(() => shown(world).length === 3);
    expect(shown(world)).toEqual(['working', 'draft', 'idle']);
  });

  it('rests for no earlier reply that is posted late', async () => {
    const reply = Promise.withResolvers<void>();
    await using world = await botWith(async (_request, { count }) => {
      if (count === 2) await reply.promise;
      return { text: 'Hello.' };
    });
    world.channel.trouble.refuse = 1;
    await world.say('One?');
    await until(() => world.events.some(({ kind }) => kind === 'reply.delayed'));
    await settle();
    await world.say('Two?');
    await until(() => world.model.requests.length === 2);
    await world.clock.advance(1000);
    await until(() => world.events.some(({ kind }) => kind === 'reply.posted'));
    await settle();
    expect(shown(world)).toEqual(['working', 'draft', 'working']);
    reply.resolve();
    await world.settled();
    await until(() => shown(world).at(-1) === 'idle');
  });

  it('runs its tools for who asked, not for deleted messages', async () => {
    const door = Promise.withResolvers<void>();
    const authors: string[] = [];
    const sign = defineTool({
      name: 'sign',
      description: 'Signs.',
      input: z.object({}),
      run: async (_, { author }) => {
        authors.push(author.id);
        return 'Signed.';
      },
    });
    const script: Script = async (_, { count }) => {
      if (count === 1) await door.promise;
      return count === 2 ? { calls: [{ tool: 'sign', input: {} }] } : { text: 'Done.' };
    };
    await using world = await botWith(script, { tools: [sign], agent: { tools: ['sign'] } });
    await world.say('Hello?');
    await until(() => world.model.requests.length === 1);
    await world.say('Sign this.');
    await world.say('Or this.', { id: 'gone', author: BOB, asks: false });
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['gone'] });
    door.resolve();
    await world.settled();
    expect(authors).toEqual([ADA.id]);
  });

  it('of another conversation does not start during a stop', async () => {
    const reply = Promise.withResolvers<void>();
    await using world = await botWith(async () => {
      await reply.promise;
      return { text: 'Hello.' };
    });
    await world.say('The first question');
    await until(() => world.model.requests.length === 1);
    const stopped = world.bot.stop({ deadlineMs: 60_000 });
    const key = makeKey({ platform: 'test', workspace: 'here', channel: 'other' });
    expect(await world.say('The second question', { key })).toMatchObject({ stored: true });
    reply.resolve();
    await stopped;
    expect(world.model.requests.filter(({ purpose }) => purpose === 'reply')).toHaveLength(1);
    await world.restart();
    await until(() => posted(world).length === 2);
  });

  it('that a stop ends is owed, without an apology', async () => {
    const script: Script = async (_, { count, signal }) => {
      if (count > 1) return { text: 'Here it is.' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw signal.reason;
    };
    await using world = await botWith(script);
    await world.say('Hello?');
    await until(() => world.model.requests.length === 1);
    await world.restart({ deadlineMs: 20 });
    await world.settled();
    expect(posted(world)).toEqual(['Here it is.']);
    expect(world.events.filter(({ kind }) => kind === 'turn.failed')).toEqual([]);
  });

  it('reads a text that another bot edits between its steps', async () => {
    const finish = defineTool({
      name: 'finish',
      description: 'Waits until the other bot has written.',
      input: z.object({}),
      async run() {
        await edit(world, 'stream', 'here');
        return 'It has.';
      },
    });
    const script: Script = (_, { count }) =>
      count === 1 ? { calls: [{ tool: 'finish', input: {} }] } : { text: 'I see.' };
    await using world: BotWorld & { readonly model: ScriptedModel } = await botWith(script, {
      tools: [finish],
      agent: { tools: ['finish'] },
    });
    await world.say('The old', { id: 'stream', author: { ...BOB, kind: 'bot' }, asks: false });
    await world.say('What does it say?');
    await world.settled();
    expect(world.model.requests).toHaveLength(2);
    expect(JSON.stringify(world.model.requests[1])).toContain('The new price.');
  });

  it('runs its tools for the readers that are there now', async () => {
    const audiences: string[] = [];
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      input: z.object({}),
      run: async (_, { audience }) => {
        audiences.push(audience);
        return 'Asked.';
      },
    });
    const script: Script = async (_, { count }) => {
      if (count > 1) return { text: 'Done.' };
      await world.bot.sink.audienceChanged(HERE, 'private');
      return { calls: [{ tool: 'ask', input: {} }] };
    };
    const options = { tools: [ask], agent: { tools: ['ask'] } };
    await using world: BotWorld = await botWith(script, options);
    await world.say('Hello?', { audience: 'public' });
    await world.settled();
    expect(audiences).toEqual(['private']);
  });

  it('keeps the whole of a long result for later turns', async () => {
    const read = defineTool({
      name: 'read',
      description: 'Reads a book.',
      input: z.object({}),
      run: async () => `${'boat '.repeat(4000)}KINGFISHER`,
    });
    let id = '';
    const script: Script = (request) => {
      if (request.messages.at(-1)?.role === 'tool') return { text: 'Read.' };
      const call = id === '' ? { tool: 'read', input: {} } : { tool: 'blob_read', input: { id, from: 19_990 } };
      return { calls: [call] };
    };
    const options = { tools: [read], agent: { tools: ['read', 'blob_read'] } };
    await using world = await botWith(script, options);
    await world.say('Read the book.');
    await world.settled();
    const parts = (await world.entries()).flatMap((entry) => entry.parts);
    id = parts.flatMap((part) => (part.kind === 'tool-result' ? [part.blob?.id ?? ''] : []))[0] ?? '';
    await world.say('How does it end?');
    await world.settled();
    expect(JSON.stringify(world.model.requests.at(-1)?.messages.at(-1))).toContain('KINGFISHER');
  });

  it('is counted for who asked, whoever spoke since', async () => {
    const door = Promise.withResolvers<void>();
    const script: Script = async (_, { count }) => {
      if (count === 1) await door.promise;
      return { text: `Answer ${count}.` };
    };
    await using world = await botWith(script);
    await world.say('One?');
    await until(() => world.model.requests.length === 1);
    await world.say('Two?');
    await world.say('Nice weather.', { author: BOB, asks: false });
    door.resolve();
    await world.settled();
    const { id } = await world.conversation();
    const query = { since: null, conversationId: id, limit: 9, by: 'person' } as const;
    const spent = await world.bot.services.store.journal.spending(query);
    expect(spent).toMatchObject([{ key: 'test:u-ada', calls: 2 }]);
  });

  it('leaves a message that arrives during it to the next', async () => {
    const reply = Promise.withResolvers<void>();
    const batches: (readonly number[])[] = [];
    const noting = defineEngine({
      id: 'noting',
      assemble: async (request) => assembleView(request, { tail: request.snapshot.tail }),
      async ingestBatch({ seqs }) {
        batches.push(seqs);
        return { ingested: seqs.length };
      },
    });
    const script: Script = async (_request, { count }) => {
      if (count === 1) await reply.promise;
      return { text: `Answer ${count}.` };
    };
    await using world = await botWith(script, { engines: { noting }, agent: { engine: 'noting' } });
    await world.say('One?');
    await until(() => world.model.requests.length === 1);
    await world.say('Two?');
    reply.resolve();
    await world.settled();
    await until(() => batches.length === 2);
    expect(batches).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });
});

describe('a turn that an edit overtakes', () => {
  it('in another process says so, with what it read', async () => {
    await using world = await botWith(async (_request, { count }) => {
      if (count === 1) await edit(world, 'price', 'elsewhere');
      return { text: `Answer ${count}.` };
    });
    await world.say('The old price.', { asks: false, id: 'price' });
    await world.say('What does it cost?');
    await world.settled();
    expect(posted(world)).toEqual(['Answer 2.']);
    const overtaken = world.events.filter(({ kind }) => kind === 'turn.superseded');
    expect(overtaken).toMatchObject([{ conversation: HERE, readUpto: 2 }]);
  });

  it('pays for its steps, also for a late one', async () => {
    const late = Promise.withResolvers<void>();
    await using world = await botWith(async (_request, { count }) => {
      if (count === 1) return { calls: [{ tool: 'look', input: {} }] };
      if (count === 2) await late.promise;
      return { text: `Answer ${count}.` };
    });
    await world.say('The old price.', { asks: false, id: 'price' });
    await world.say('What does it cost?');
    await until(() => world.model.requests.length === 2);
    await edit(world, 'price', 'here');
    await world.settled();
    late.resolve();
    expect(posted(world)).toEqual(['Answer 3.']);
    const { id } = await world.conversation();
    const calls = async () => (await world.bot.services.store.journal.usage(id)).map((row) => [row.purpose, row.calls]);
    await until(async () => (await calls()).flat().includes(3));
    expect(await calls()).toEqual([['reply', 3]]);
  });
});
