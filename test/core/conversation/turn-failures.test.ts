import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  assembleView,
  defineEngine,
  defineTool,
  ModelError,
  type Storage,
  StrataError,
} from '../../../src/adapter-kit.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { type BotWorld, type BotWorldOptions, createBotWorld, HERE } from '../../support/bot-world.ts';
import { type Script, scriptedModel, until } from '../compaction/compaction.world.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({}),
  run: async () => 'A heron.',
});

async function botWith(script: Script, options: Partial<BotWorldOptions> = {}) {
  const model = scriptedModel(script, { id: 'test:chat' });
  const world = await createBotWorld({ tools: [look], agent: { tools: ['look'] }, ...options, models: [model] });
  return Object.assign(world, { model });
}

describe('a turn that fails', () => {
  it('in a post hook keeps what its tools did', async () => {
    const lookOnce: Script = ({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? { text: 'I saw one.' } : { calls: [{ tool: 'look', input: {} }] };
    let isBroken = true;
    const post: Hooks['post'] = async (_context, next) => {
      if (isBroken) throw new Error('broken');
      return await next();
    };
    await using world = await botWith(lookOnce, { hooks: [{ post }] });
    await world.say('Look around.');
    await world.settled();
    expect((await world.entries()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'notice']);
    isBroken = false;
    await world.say('And?');
    await world.settled();
    // The tool did not run again.
    expect([...world.channel.posts.values()].at(-1)?.body.text).toBe('I saw one.');
    expect(world.model.requests).toHaveLength(3);
  });

  it('to be stored is paid for whenever it runs', async () => {
    let failures = 2;
    await using world = await botWith(() => ({ text: 'At last.' }), {
      storage: (storage) => {
        const { transcript } = storage.store;
        const commitTurn: typeof transcript.commitTurn = async (turn) => {
          failures -= 1;
          if (failures >= 0) throw new Error('the entry cannot be stored');
          return await transcript.commitTurn(turn);
        };
        return { ...storage, store: { ...storage.store, transcript: { ...transcript, commitTurn } } };
      },
    });
    await world.say('Is it?');
    await expect.poll(() => world.clock.advance(1000).then(() => world.channel.posts.size)).toBe(1);
    const { id } = await world.conversation();
    expect(await world.bot.services.store.journal.usage(id)).toMatchObject([{ purpose: 'reply', calls: 3 }]);
  });

  it('with its store is paid for when that returns', async () => {
    let isAway = false;
    await using world = await botWith(
      () => {
        isAway = true;
        return { text: 'At last.' };
      },
      {
        storage: (storage) => {
          const { transcript, journal } = storage.store;
          const whileHere = <Request extends readonly unknown[], Result>(ask: (...request: Request) => Result) => {
            return (...request: Request) => {
              if (isAway) throw unreachable();
              return ask(...request);
            };
          };
          const store = {
            ...storage.store,
            transcript: { ...transcript, commitTurn: async (turn) => whileHere(transcript.commitTurn)(turn) },
            journal: { ...journal, addUsage: async (...row) => whileHere(journal.addUsage)(...row) },
          } satisfies Storage['store'];
          return { ...storage, store };
        },
      },
    );
    await world.say('Is it?');
    await until(() => world.events.some(({ kind }) => kind === 'turn.delayed'));
    isAway = false;
    world.model.script = () => ({ text: 'Now.' });
    await expect.poll(() => world.clock.advance(1000).then(() => world.channel.posts.size)).toBe(1);
    await expect.poll(() => replyCalls(world)).toBe(2);
  });

  it('between its calls is paid for', async () => {
    let isAway = false;
    const leaving = defineEngine({
      id: 'leaving',
      async assemble(request) {
        if (isAway) throw unreachable();
        return assembleView(request, { tail: request.snapshot.tail });
      },
    });
    await using world = await botWith(() => ({ text: 'Hello.' }), {
      engines: { leaving },
      agent: { engine: 'leaving' },
    });
    await world.say('Hello?');
    await world.settled();
    world.model.script = () => {
      isAway = true;
      return { finish: 'refused' };
    };
    await world.say('Is it?');
    await until(() => world.events.some(({ kind }) => kind === 'turn.delayed'));
    expect(await replyCalls(world)).toBe(2);
  });

  it('before its model is known better is paid for', async () => {
    await using world = await botWith(async (_, { count }) => {
      if (count === 2) return { finish: 'refused' };
      if (count !== 3) return { text: 'Yes.' };
      Object.assign(world.model, { traits: { ...world.model.traits, tools: false } });
      throw new ModelError({ model: 'test:chat', reason: 'unsupported', detail: 'no tools' });
    });
    await world.say('Hello?');
    await world.settled();
    await world.say('Is it?');
    await world.settled();
    expect(world.model.requests).toHaveLength(4);
    expect(await replyCalls(world)).toBe(3);
  });
});

function unreachable(): StrataError {
  return new StrataError('STORE_UNREACHABLE', { path: 'here', reason: 'it restarts' });
}

/** The calls for replies that are paid for. */
async function replyCalls(world: BotWorld): Promise<number | undefined> {
  const { id } = await world.conversation();
  return (await world.bot.services.store.journal.usage(id)).find(({ purpose }) => purpose === 'reply')?.calls;
}

describe('the reason of a failed reply', () => {
  const status = async (world: BotWorld) => JSON.stringify((await world.command('status')).fields);

  it('is gone with the message that it quotes', async () => {
    const fail: Script = () => {
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: 'bad input: swordfish' });
    };
    await using world = await botWith(fail);
    await world.say('The code is swordfish.', { id: 'secret' });
    await world.settled();
    expect(await status(world)).toContain('swordfish');
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['secret'] });
    expect(await status(world)).not.toContain('swordfish');
  });

  it('is gone likewise while the reply is still owed', async () => {
    let detail = ': swordfish';
    await using world = await botWith(() => ({ text: 'Yes.' }), {
      storage: (storage) => {
        const commitTurn = () => Promise.reject(new Error(`cannot store${detail}`));
        return { ...storage, store: { ...storage.store, transcript: { ...storage.store.transcript, commitTurn } } };
      },
    });
    await world.say('The code is swordfish.', { id: 'secret', asks: false });
    await world.say('What is it?');
    await expect.poll(() => status(world)).toContain('swordfish');
    // The turn may run again at once.
    detail = '';
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['secret'] });
    expect(await status(world)).not.toContain('swordfish');
  });

  it('is over with the next answer', async () => {
    const failOnce: Script = (_, { count }) => {
      if (count > 1) return { text: 'Yes.' };
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: 'bad input' });
    };
    await using world = await botWith(failOnce);
    await world.say('Is it?');
    await world.settled();
    expect(await status(world)).toContain('bad input');
    await world.say('And now?');
    await world.settled();
    expect(await status(world)).not.toContain('bad input');
  });
});
