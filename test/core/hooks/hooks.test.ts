import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, ModelError, type ModelRequest, type Tool, textOf } from '../../../src/adapter-kit.ts';
import { MAX_HOOK_MS } from '../../../src/hooks/compose.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { ADA, type BotWorld, type BotWorldOptions, createBotWorld, HERE } from '../../support/bot-world.ts';
import { type Said, type Script, scriptedModel, settle, until } from '../compaction/compaction.world.ts';

function chatting(script: Script = () => ({ text: 'Here is the answer.' })) {
  return scriptedModel(script, { id: 'test:chat' });
}

function world(hooks: readonly Hooks[], options: Partial<BotWorldOptions> = {}): Promise<BotWorld> {
  return createBotWorld({ models: [chatting()], hooks, ...options });
}

const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);
const stored = async (here: BotWorld) =>
  (await here.entries()).map(({ role, parts }) => [role, textOf(parts)] as const);
const failures = ({ events }: BotWorld) =>
  events.flatMap((event) => (event.kind === 'turn.failed' ? [[event.reason, event.message]] : []));
const APOLOGY = 'One of my plugins failed, so I could not answer.';
const broken = () => {
  throw new Error('out of ink');
};

describe('an inbound hook', () => {
  it('changes what is stored and what the model reads', async () => {
    const model = chatting();
    const hide: Hooks = { inbound: ({ text }, next) => next({ text: text.replace('swordfish', '****') }) };
    await using here = await world([hide], { models: [model] });
    await here.say('My password is swordfish.');
    await here.settled();
    expect((await stored(here))[0]).toEqual(['user', 'My password is ****.']);
    expect(JSON.stringify(model.requests)).not.toContain('swordfish');
  });

  it('drops a message before it is stored', async () => {
    const inbound: Hooks['inbound'] = ({ text }, next) =>
      text.includes('casino') ? { kind: 'drop', reason: 'spam' } : next();
    await using here = await world([{ inbound }]);
    expect(await here.say('Visit my casino.')).toEqual({ stored: false, willReply: false });
    await here.say('Hello.');
    await here.settled();
    expect((await stored(here)).map(([, text]) => text)).toEqual(['Hello.', 'Here is the answer.']);
    expect(here.events.filter(({ kind }) => kind === 'message.dropped')).toMatchObject([
      { reason: 'hook', problem: 'spam', externalId: 'm1' },
    ]);
  });

  it('answers in the place of the model, once per message', async () => {
    const model = chatting();
    let runs = 0;
    const inbound: Hooks['inbound'] = ({ text }, next) => {
      runs += 1;
      return text === 'ping' ? { kind: 'answer', text: 'pong' } : next();
    };
    await using here = await world([{ inbound }], { models: [model] });
    expect(await here.say('ping', { id: 'x1' })).toEqual({ stored: true, willReply: true });
    await here.say('ping', { id: 'x1' });
    await here.settled();
    expect(posted(here)).toEqual(['pong']);
    expect([...here.channel.posts.values()]).toMatchObject([{ replyTo: 'x1' }]);
    expect([model.requests.length, runs]).toEqual([0, 1]);
    await here.say('And you?', { id: 'x2' });
    await here.settled();
    expect(await stored(here)).toEqual([
      ['user', 'ping'],
      ['assistant', 'pong'],
      ['user', 'And you?'],
      ['assistant', 'Here is the answer.'],
    ]);
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('pong');
  });

  it('keeps its answer through a crash', async () => {
    await using here = await world([{ inbound: () => ({ kind: 'answer', text: 'pong' }) }]);
    here.channel.trouble.refuse = 1000;
    await here.say('ping');
    await settle();
    await here.crash();
    here.channel.trouble.refuse = 0;
    await here.clock.advance(20_000);
    await here.settled();
    expect(posted(here)).toEqual(['pong']);
  });

  it('has its answer posted by one process during a start', async () => {
    const appended = Promise.withResolvers<void>();
    await using here = await world([{ inbound: () => ({ kind: 'answer', text: 'pong' }) }], {
      started: false,
      storage: ({ store, ...storage }) => {
        const append: typeof store.transcript.append = async (given) => {
          const result = await store.transcript.append(given);
          await appended.promise;
          return result;
        };
        return { ...storage, store: { ...store, transcript: { ...store.transcript, append } } };
      },
    });
    const said = here.say('ping');
    await until(async () => (await here.bot.services.store.conversations.find(HERE)) !== null);
    const { outbox } = here.bot.services.store;
    const elsewhere = await outbox.take({ platform: 'test', now: here.clock.now(), limit: 1 });
    await here.bot.start();
    appended.resolve();
    await said;
    await here.settled();
    expect([elsewhere.length, here.channel.calls.length]).toEqual([1, 0]);
  });

  it('answers neither past messages nor where the bot observes', async () => {
    await using here = await world([{ inbound: () => ({ kind: 'answer', text: 'pong' }) }], {
      agent: { mode: 'observe' },
    });
    expect(await here.say('ping')).toEqual({ stored: true, willReply: false });
    expect(await stored(here)).toEqual([['user', 'ping']]);
  });

  it('changes edits too, and can keep the earlier text', async () => {
    const inbound: Hooks['inbound'] = ({ text, isEdit }, next) =>
      isEdit && text.includes('casino') ? { kind: 'drop', reason: 'spam' } : next({ text: text.toUpperCase() });
    await using here = await world([{ inbound }], { agent: { mode: 'observe' } });
    const edit = (text: string) =>
      here.bot.sink.edited({ conversation: HERE, externalId: 'm1', parts: [{ kind: 'text', text }], at: 0 });
    await here.say('one');
    await edit('two');
    await edit('casino');
    expect(await stored(here)).toEqual([['user', 'TWO']]);
  });

  it('lets no later message pass one that it holds up', async () => {
    const gate = Promise.withResolvers<void>();
    const inbound: Hooks['inbound'] = async ({ text }, next) => {
      if (text === 'first') await gate.promise;
      return await next();
    };
    await using here = await world([{ inbound }], { agent: { mode: 'observe' } });
    const saying = [here.say('first'), here.say('second')];
    await settle();
    gate.resolve();
    await Promise.all(saying);
    expect((await stored(here)).map(([, text]) => text)).toEqual(['first', 'second']);
  });

  it('fails one turn when it throws; the message stays', async () => {
    const inbound: Hooks['inbound'] = ({ text }, next) => (text === 'Hello?' ? broken() : next());
    await using here = await world([{ name: 'the plugin ink', inbound }]);
    await here.say('Hello?');
    await here.say('Still there?');
    await here.settled();
    expect(posted(here)[0]).toContain(APOLOGY);
    expect(posted(here)[1]).toBe('Here is the answer.');
    expect((await stored(here)).map(([role]) => role)).toEqual(['user', 'notice', 'user', 'assistant']);
    expect(failures(here)).toEqual([['hook', 'The inbound hook of the plugin ink failed: out of ink.']]);
  });

  it('fails one turn when it hangs; the message stays', async () => {
    const begun = Promise.withResolvers<void>();
    const inbound: Hooks['inbound'] = ({ text }, next) => {
      if (text !== 'Hello?') return next();
      begun.resolve();
      return new Promise(() => undefined);
    };
    await using here = await world([{ inbound }]);
    const saying = here.say('Hello?');
    await begun.promise;
    await settle();
    await here.clock.advance(MAX_HOOK_MS);
    await saying;
    await here.settled();
    expect(posted(here)[0]).toContain(APOLOGY);
    expect((await stored(here))[0]).toEqual(['user', 'Hello?']);
  });
});

describe('a model hook', () => {
  it('changes request and response, and sees the usage', async () => {
    const model = chatting((request) => ({ text: `You said: ${lastTextOf(request)}` }));
    const seen: unknown[] = [];
    const shout: Hooks['model'] = async ({ messages, purpose, model: id }, next) => {
      const result = await next({
        messages: [...messages, { role: 'user', content: [{ kind: 'text', text: 'psst' }] }],
      });
      seen.push([purpose, id, result.usage.inputTokens]);
      return { ...result, text: result.text.toUpperCase(), usage: { ...result.usage, inputTokens: 0 } };
    };
    await using here = await world([{ model: shout }], { models: [model] });
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)).toEqual(['YOU SAID: PSST']);
    expect(seen).toEqual([['reply', 'test:chat', 100]]);
    expect(here.events.find(({ kind }) => kind === 'model.called')).toMatchObject({ usage: { inputTokens: 100 } });
  });

  it('answers without a call, and nothing is billed', async () => {
    const model = chatting();
    await using here = await world([{ model: () => ({ text: 'From the cache.' }) as never }], { models: [model] });
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)).toEqual(['From the cache.']);
    expect(model.requests).toEqual([]);
    expect(here.events.some(({ kind }) => kind === 'model.called')).toBe(false);
  });

  it('leaves retries to the bot: errors pass through it', async () => {
    const busy = new ModelError({ model: 'test:chat', reason: 'transient', detail: 'busy' });
    const model = chatting((_request, { count }) => (count === 1 ? Promise.reject(busy) : { text: 'At last.' }));
    await using here = await world([{ model: (_context, next) => next() }], { models: [model] });
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)).toEqual(['At last.']);
  });

  it('sends nothing that the window cannot hold', async () => {
    const model = chatting();
    const fill: Hooks['model'] = ({ system }, next) =>
      next({ system: [...system, { text: 'river garden '.repeat(9000), cacheBreak: false }] });
    await using here = await world([{ model: fill }], { models: [model] });
    await here.say('Hello?');
    await here.settled();
    expect(model.requests).toEqual([]);
    expect(failures(here)).toEqual([['hook', expect.stringContaining('but the window has 3000')]]);
  });

  it.each<[string, boolean, NonNullable<Hooks['model']>]>([
    ['nothing', true, (_context, next) => next()],
    [
      'system',
      false,
      ({ system }, next) => next({ system: [...system, { text: 'Answer in verse.', cacheBreak: false }] }),
    ],
    ['messages', false, ({ messages }, next) => next({ messages: [...messages] })],
  ])('that changes %s counts for the token ratio: %s', async (_name, counts, model) => {
    await using here = await world([{ model }]);
    await here.say('Hello?');
    await here.settled();
    expect((await here.conversation()).calibration !== null).toBe(counts);
  });

  it('hides drafts that it may still change', async () => {
    for (const hooks of [
      [{ model: (_context, next) => next() }],
      [{ post: (_context, next) => next() }],
    ] as Hooks[][]) {
      await using here = await world(hooks);
      await here.say('Hello?');
      await here.settled();
      expect(here.channel.shown.some(({ kind }) => kind === 'draft')).toBe(false);
    }
  });
});

function lastTextOf({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === 'user' ? last.content.map((part) => (part.kind === 'text' ? part.text : '')).join('') : '';
}

describe('a tool hook', () => {
  const ran: unknown[] = [];
  const dice: Tool = defineTool({
    name: 'roll_dice',
    description: 'Rolls dice.',
    input: z.object({ sides: z.int().max(20) }),
    async run({ sides }) {
      ran.push(sides);
      return `rolled ${sides}`;
    },
  }) as Tool;
  const rolls = (input: Record<string, number>) =>
    chatting(
      (_request, { count }): Said => (count === 1 ? { calls: [{ tool: 'roll_dice', input }] } : { text: 'Done.' }),
    );
  const resultsIn = async (here: BotWorld) =>
    (await here.entries()).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'tool-result' ? [[part.text, part.isError]] : [])),
    );
  const play = async (tool: NonNullable<Hooks['tool']>, input: Record<string, number> = { sides: 6 }) => {
    ran.length = 0;
    const here = await world([{ tool }], { models: [rolls(input)], tools: [dice], agent: { tools: ['roll_dice'] } });
    await here.say('Roll!');
    await here.settled();
    return here;
  };

  it('changes the input, which is parsed again', async () => {
    await using fine = await play((_context, next) => next({ input: { sides: 12 } }));
    expect(await resultsIn(fine)).toEqual([['rolled 12', false]]);
    await using wrong = await play((_context, next) => next({ input: { sides: 99 } }));
    expect(await resultsIn(wrong)).toEqual([[expect.stringContaining('roll_dice is invalid'), true]]);
    expect(ran).toEqual([]);
  });

  it('refuses or answers in the place of the tool', async () => {
    await using here = await play(({ author }) => ({ text: `not for ${author.name}`, isError: true }));
    expect([await resultsIn(here), ran]).toEqual([[[`not for ${ADA.name}`, true]], []]);
    expect(posted(here)).toEqual(['Done.']);
  });

  it('changes the result', async () => {
    await using here = await play(async (_context, next) => ({ ...(await next()), text: 'rolled 6, honestly' }));
    expect([await resultsIn(here), ran]).toEqual([[['rolled 6, honestly', false]], [6]]);
  });

  it('fails the turn when it throws', async () => {
    await using here = await play(broken);
    expect(posted(here)[0]).toContain(APOLOGY);
    expect(failures(here)).toEqual([['hook', 'The tool hook of createBot failed: out of ink.']]);
  });
});

describe('a post hook', () => {
  it('changes what is stored and posted', async () => {
    const post: Hooks['post'] = ({ text, isReply }, next) => next({ text: `${text} (${isReply ? 'beta' : 'note'})\n` });
    await using here = await world([{ post }]);
    await here.say('Hello?');
    await here.settled();
    await here.bot.send(HERE, 'Unasked.');
    await here.settled();
    expect(posted(here)).toEqual(['Here is the answer. (beta)', 'Unasked. (note)']);
    expect((await stored(here)).map(([, text]) => text)).toEqual(['Hello?', ...posted(here)]);
  });

  it('runs around other hooks in list order', async () => {
    const mark = (name: string): Hooks => ({ post: ({ text }, next) => next({ text: `${text} ${name}` }) });
    await using here = await world([mark('one'), { inbound: () => ({ kind: 'answer', text: 'pong' }) }, mark('two')]);
    await here.say('ping');
    await here.settled();
    expect(posted(here)).toEqual(['pong one two']);
  });

  it('holds a reply back, and the debt is settled', async () => {
    const post: Hooks['post'] = ({ text }, next) =>
      text.includes('secret') ? { kind: 'hold', reason: 'it names a secret' } : next();
    const model = chatting(() => ({ text: 'The secret is 42.' }));
    await using here = await world([{ post }], { models: [model] });
    await here.say('Tell me.');
    await here.settled();
    await here.restart();
    await here.settled();
    expect(posted(here)).toEqual([]);
    expect(await stored(here)).toEqual([
      ['user', 'Tell me.'],
      ['notice', '[A message was held back: it names a secret]'],
    ]);
    expect(model.requests.filter(({ purpose }) => purpose === 'reply')).toHaveLength(1);
    await expect(here.bot.send(HERE, 'A secret.')).rejects.toThrow('a hook held it back: it names a secret');
  });

  it('sees the files of a post without text', async () => {
    const seen: unknown[] = [];
    const post: Hooks['post'] = ({ files, isReply }, next) => {
      seen.push([files, isReply]);
      return next();
    };
    await using here = await world([{ post }]);
    await here.bot.send(HERE, { files: [{ name: 'a.txt', data: 'x' }] }, { audience: 'dm' });
    expect(seen).toEqual([[['a.txt'], false]]);
  });

  it.each<[string, NonNullable<Hooks['post']>]>([
    ['throws', broken],
    ['leaves nothing of the text', (_context, next) => next({ text: ' \u0007' })],
    [
      'calls next() twice',
      async (_context, next) => {
        await next();
        return await next();
      },
    ],
  ])('fails the turn when it %s', async (_name, post) => {
    await using here = await world([{ post }]);
    await here.say('Hello?');
    await here.settled();
    expect(posted(here)[0]).toContain(APOLOGY);
    expect(failures(here)).toMatchObject([['hook', expect.stringContaining('The post hook of')]]);
    expect((await stored(here)).map(([role]) => role)).toEqual(['user', 'notice']);
  });

  it('ends with a turn that was overtaken', async () => {
    const begun = Promise.withResolvers<void>();
    const post: Hooks['post'] = ({ signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    await using here = await world([{ post }]);
    await here.say('Hello?');
    await begun.promise;
    await here.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    await here.settled();
    expect(posted(here)).toEqual([]);
  });
});

describe('a process that ends inside a hook', () => {
  it.each<[string, (wait: () => Promise<void>) => Hooks]>([
    ['post', (wait) => ({ post: (_context, next) => wait().then(() => next()) })],
    ['model', (wait) => ({ model: (_context, next) => wait().then(() => next()) })],
  ])('owes the reply to the next one: %s', async (_name, hooksOf) => {
    const begun = Promise.withResolvers<void>();
    const never = new Promise<void>(() => undefined);
    let isHanging = true;
    const wait = async () => {
      begun.resolve();
      if (isHanging) await never;
    };
    await using here = await world([hooksOf(wait)]);
    await here.say('Hello?');
    await begun.promise;
    isHanging = false;
    await here.crash();
    await here.clock.advance(20_000);
    await here.settled();
    expect(posted(here)).toEqual(['Here is the answer.']);
    expect((await stored(here)).map(([role]) => role)).toEqual(['user', 'assistant']);
  });
});

describe('a hook that reaches for more', () => {
  it.each(['audience', 'author', 'conversation', 'externalId'])('cannot change the %s of a message', async (name) => {
    const inbound: Hooks['inbound'] = (_context, next) => next({ [name]: 'public' } as never);
    await using here = await world([{ inbound }]);
    await here.say('Hello?');
    await here.settled();
    expect(failures(here)).toEqual([['hook', expect.stringContaining(`Unrecognized key: "${name}"`)]]);
    expect(await here.conversation()).toMatchObject({ key: HERE, audience: 'private' });
  });
});

describe('hooks given to createBot', () => {
  it('are checked when the bot is made', async () => {
    const wrong = { inbounds: broken } as Hooks;
    await expect(world([wrong])).rejects.toThrow(/hooks\[0\]: there is no hook "inbounds"; did you mean inbound\?/);
  });
});
