import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeRequest } from '../../../adapters/channels/discord/web/request.ts';
import type { ConversationKey, Post } from '../../../src/adapter-kit.ts';
import { postTo } from '../../contracts/channel-kit.ts';
import {
  ADA,
  BOT,
  type DiscordDouble,
  ELSEWHERE,
  GENERAL,
  GUILD,
  GUILD_TWO,
  STAFF,
} from '../../fixtures/discord/double.ts';
import { discordForEachTest } from '../../fixtures/discord/each-test.ts';
import { createState, type Opened, recordSink, until } from '../../fixtures/discord/kit.ts';
import { snowflake, thread } from '../../fixtures/discord/payloads.ts';
import { serve } from '../../fixtures/models-server.ts';
import { SIZED, spread } from '../../support/size.ts';

/** Responses over REST that are not Discord's own, or that miss what they should contain. */

let double: DiscordDouble;
const { start } = discordForEachTest((fresh) => {
  double = fresh;
});

const conversation = `discord:${GUILD}:${GENERAL}` as ConversationKey;
const post = (details: Partial<Post> = {}) => postTo(conversation, details);
const { signal } = new AbortController();
const PAGE = '<!doctype html><title>Just a moment</title>';
const sent = () => double.rest.sent('POST', /messages$/);
const finality = async (bot: Opened, details: Partial<Post> = {}) =>
  await bot.channel.post(post(details), { signal }).then(
    () => 'posted',
    ({ data }) => data.final,
  );

describe('a post', () => {
  test.each([
    ['a page instead of JSON', { status: 200, page: PAGE }],
    ['cut JSON', { status: 200, page: '{"id":"12', headers: { 'content-type': 'application/json' } }],
    ['a page that forbids', { status: 403, page: PAGE }],
    ['a page that finds nothing', { status: 404, page: PAGE }],
    [
      'an error of the network behind Discord',
      { status: 403, body: { message: 'internal network error', code: 40333 } },
    ],
  ])('is tried again after %s', async (_, answer) => {
    const bot = await start();
    double.rest.instead('POST', /messages$/, answer);
    expect(await finality(bot)).toBe(false);
    expect(await finality(bot, { attempt: 2 })).toBe('posted');
    expect(double.posted(GENERAL)).toHaveLength(1);
  });

  test('is tried again after a body that never ends', async () => {
    const bot = await start();
    double.rest.instead('POST', /messages$/, { status: 200, body: {}, isEndless: true });
    expect(await finality(bot)).toBe(false);
    expect(await finality(bot, { attempt: 2 })).toBe('posted');
  }, 40_000);

  test.each([
    [{}],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }],
    [{ 'retry-after': '-1' }],
    [{ 'retry-after': '0' }],
    [{ 'retry-after': '99999999999' }],
  ])('waits for a rate limit without a time: %j', async (headers) => {
    const bot = await start();
    double.rest.instead('POST', /messages$/, { status: 429, page: PAGE, headers }, 1_000_000);
    const stop = new AbortController();
    const posting = bot.channel.post(post(), { signal: stop.signal }).catch(() => undefined);
    await delay(1_500);
    expect(sent().length).toBeLessThan(4);
    stop.abort();
    await posting;
  });

  test('waits until an absurdly long limit ends', async () => {
    const bot = await start();
    const limit = { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-bucket': 'a' };
    const headers = { ...limit, 'x-ratelimit-reset-after': '99999999999' };
    double.rest.instead('POST', /messages$/, { status: 500, headers });
    const stop = new AbortController();
    const posting = bot.channel.post(post(), { signal: stop.signal }).catch(() => undefined);
    await delay(1_500);
    expect(bot.log.lines.filter(({ message }) => message.includes('rate limit')).length).toBeLessThan(4);
    stop.abort();
    await posting;
  });

  test('is refused for good when it is too large', async () => {
    const bot = await start();
    double.rest.instead('POST', /messages$/, {
      status: 413,
      body: { message: 'Request entity too large', code: 40005 },
    });
    expect(await finality(bot)).toBe(true);
  });

  test.each([[0], [null], ['']])('is given up after several errors with the code %j', async (code) => {
    const bot = await start();
    double.rest.instead('POST', /messages$/, { status: 403, body: { message: 'Forbidden', code } }, 2);
    expect(await finality(bot)).toBe(false);
    expect(await finality(bot, { attempt: 7 })).toBe(true);
  });

  test('is refused for good by an error without details', async () => {
    const bot = await start();
    const body = { message: 'Invalid Form Body', code: 50035, errors: null };
    double.rest.instead('POST', /messages$/, { status: 400, body });
    expect(await finality(bot, { replyTo: snowflake() })).toBe(true);
  });

  test('loses its reference rather than its text', async () => {
    const bot = await start();
    const question = double.say(GENERAL, ADA, 'a question');
    double.rest.instead('POST', /messages$/, {
      status: 400,
      body: { message: 'Cannot reply without permission to read message history', code: 160002 },
    });
    expect(await finality(bot, { replyTo: question.id })).toBe('posted');
    expect(sent().at(-1)?.body).not.toHaveProperty('message_reference');
  });

  test('is possible again after one 401', async () => {
    const bot = await start();
    double.rest.instead('POST', /messages$/, { status: 401, body: { message: '401: Unauthorized', code: 0 } });
    expect(await finality(bot)).toBe(false);
    expect(await finality(bot, { attempt: 2 })).toBe('posted');
  });
});

describe('a response', () => {
  const ask = async (answer: Parameters<typeof serve>[0]) => {
    await using server = await serve(answer);
    return await makeRequest(`${server.url}/channels/1`, { method: 'GET' });
  };

  test('with an absurd limit closes its route for an hour', async () => {
    const { status, headers } = await ask((_, response) => response.writeHead(429, { 'retry-after': '1e9' }).end());
    expect([status, headers.get('retry-after')]).toEqual([429, '3600']);
  });

  test('without an end is not kept in memory', async () => {
    let bytes = 0;
    const asked = ask((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_000_000))) bytes += 1_000_000;
        bytes += 1_000_000;
      };
      response.on('drain', more);
      more();
    });
    await expect(asked).rejects.toThrow('too large');
    expect(bytes).toBeLessThan(200_000_000);
  });
});

describe('a draft', () => {
  test('whose response was lost is opened once', async () => {
    const bot = await start({ table: { streaming: true, streaming_seconds: 1 } });
    double.rest.silence('POST', /messages$/);
    let text = 'Once upon';
    await until(
      'a second attempt',
      () => {
        text += ' a time';
        bot.channel.show(conversation, { kind: 'draft', text });
        return sent().length >= 2;
      },
      40_000,
    );
    await delay(300);
    expect(double.posted(GENERAL)).toHaveLength(1);
  }, 60_000);
});

test('a draft that Discord refuses is not asked for again', async () => {
  const bot = await start({ table: { streaming: true, streaming_seconds: 1 } });
  double.rest.fail('POST', /messages$/, { status: 403, code: 50013 });
  bot.channel.show(conversation, { kind: 'draft', text: 'Once upon' });
  await until('the refusal', () => bot.log.lines.some(({ message }) => message.includes('was not shown')));
  expect(await finality(bot)).toBe('posted');
  expect([sent().length, double.rest.sent('PATCH', /messages/).length]).toEqual([2, 0]);
});

describe('a draft whose connection ended', () => {
  const begun = async (): Promise<Opened> => {
    const bot = await start({ table: { streaming: true, streaming_seconds: 1 } });
    double.rest.cutOff('POST', /messages$/);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once upon' });
    await until('it is there', () => double.posted(GENERAL).length === 1);
    return bot;
  };

  test('becomes the reply', async () => {
    const bot = await begun();
    await bot.channel.post(post(), { signal });
    expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer']);
  });

  test('goes when the turn ends without a reply', async () => {
    const bot = await begun();
    bot.channel.show(conversation, { kind: 'idle' });
    await until('it is gone', () => double.posted(GENERAL).length === 0, 10_000);
  });

  test('goes although Discord does not tell its id either', async () => {
    const bot = await begun();
    double.rest.cutOff('POST', /messages$/);
    await bot.channel.post(post(), { signal });
    expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer']);
  });

  test('goes after a crash before its id is known', async () => {
    const state = createState();
    const table = { streaming: true, streaming_seconds: 1 };
    const crashed = await start({ table, state });
    double.say(GENERAL, ADA, 'a question');
    double.rest.silence('POST', /messages$/);
    crashed.channel.show(conversation, { kind: 'draft', text: 'Once upon' });
    await until('it is there', () => double.posted(GENERAL).length === 1);
    await start({ table, state });
    await until('it is gone', () => double.posted(GENERAL).length === 0, 10_000);
  });

  test('is not forgotten while it cannot be removed', async () => {
    const state = createState();
    const table = { streaming: true, streaming_seconds: 1 };
    const crashed = await start({ table, state });
    crashed.channel.show(conversation, { kind: 'draft', text: 'Once upon' });
    await until('it is there', () => double.posted(GENERAL).length === 1);
    double.rest.fail('DELETE', /messages/, { status: 502, times: 8 });
    const next = await start({ table, state });
    next.channel.show(conversation, { kind: 'draft', text: 'There was' });
    await until('the attempts', () => double.rest.sent('DELETE', /messages/).length >= 8, 20_000);
    await next.channel.post(post(), { signal });
    expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer']);
  });

  test('costs no reply with the same words', async () => {
    const state = createState();
    const table = { streaming: true, streaming_seconds: 1 };
    const bot = await start({ table, state });
    double.rest.fail('POST', /messages$/, { status: 502, times: 2 });
    double.rest.fail('GET', /messages$/, { status: 502, times: 4 });
    bot.channel.show(conversation, { kind: 'draft', text: 'an answer' });
    await until('the failure', () => bot.log.lines.some(({ message }) => message.includes('was not shown')));
    await bot.channel.post(post(), { signal });
    const next = await start({ table, state });
    await next.channel.post(post({ nonce: '2-1-0', body: { kind: 'text', text: 'the next' } }), { signal });
    expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer', 'the next']);
  });

  test('grows on as one message', async () => {
    const bot = await begun();
    await until('the failure is noted', () => bot.log.lines.some(({ message }) => message.includes('was not shown')));
    for (const text of ['Once upon a', 'Once upon a time']) {
      bot.channel.show(conversation, { kind: 'draft', text });
      await until('it is shown', () => double.posted(GENERAL).at(-1)?.content === text, 10_000);
    }
    expect(double.posted(GENERAL)).toHaveLength(1);
  });
});

describe('a channel', () => {
  test('that cannot be looked up briefly loses no message', async () => {
    const bot = await start();
    const id = snowflake();
    double.addChannel(thread({ id, guild_id: GUILD, parent_id: GENERAL }) as never);
    double.rest.instead('GET', new RegExp(`/channels/${id}$`), { status: 200, page: PAGE }, 4);
    double.rest.instead('GET', new RegExp(`/channels/${id}$`), { status: 403, page: PAGE }, 4);
    double.rest.instead('GET', new RegExp(`/channels/${id}$`), { status: 401, body: { code: 0, message: '' } }, 1);
    double.say(id, ADA, 'hello');
    await until('the message', () => bot.sink.messages.length === 1, 20_000);
  }, 30_000);

  test.each([
    ['a page', { status: 200, page: PAGE }],
    ['a kind that the library does not know', { status: 200, body: { id: STAFF, type: 99, guild_id: GUILD } }],
  ])(
    'is not taken for deleted because of %s',
    async (_, answer) => {
      const sink = recordSink();
      const state = createState();
      const table = { purge_on_leave: true };
      const first = await start({ sink, state, table });
      double.say(STAFF, ADA, 'keep this');
      await until('the message', () => sink.messages.length === 1);
      await first.channel.stop();
      double.removeChannel(STAFF);
      double.rest.instead('GET', new RegExp(`/channels/${STAFF}$`), answer, 1_000);
      await start({ sink, state, table });
      await until('the look', () => double.rest.sent('GET', new RegExp(`/channels/${STAFF}$`)).length > 0);
      await delay(1_000);
      expect(sink.gone).toEqual([]);
    },
    30_000,
  );
});

describe('a server', () => {
  const lists = [
    ['null', null],
    ['no list', {}],
    ['unreadable', [null, 7, { id: null }]],
    ['partly unreadable', [null, { id: GUILD_TWO, unavailable: true }]],
  ] as const;
  test.each(spread(lists, 2))(
    'is not left although the list of servers is %s',
    { ...SIZED, timeout: 30_000 },
    async (_, guilds) => {
      const sink = recordSink();
      const state = createState();
      const table = { purge_on_leave: true };
      const first = await start({ sink, state, table });
      double.say(GENERAL, ADA, 'keep this');
      double.say(ELSEWHERE, ADA, 'and this');
      await until('the messages', () => sink.messages.length === 2);
      await first.channel.stop();
      double.world.ready = { guilds };
      double.world.unavailable = [GUILD, GUILD_TWO];
      await start({ sink, state, table });
      await delay(6_000);
      expect(sink.gone).toEqual([]);
      double.gateway.dispatch(GUILD, 'GUILD_CREATE', double.guildPayload(GUILD));
      double.say(GENERAL, ADA, 'still there?');
      await until('the message', () => sink.messages.length === 3);
      expect(sink.messages[2]).toMatchObject({ audience: 'public' });
    },
  );
});

describe('a command', () => {
  test('is answered despite an announced but empty JSON body', async () => {
    const bot = await start();
    double.rest.instead('POST', /callback$/, { status: 204, headers: { 'content-type': 'application/json' } });
    const options = [{ name: 'list', type: 1, options: [] }];
    double.interact({ type: 2, data: { id: snowflake(), name: 'memory', type: 1, options } });
    await until('the answer', () => double.rest.sent('POST', /callback$/).length > 0);
    await delay(200);
    expect(bot.log.lines.filter(({ message }) => message.includes('could not be answered'))).toEqual([]);
  });

  test('that Discord sends twice runs once', async () => {
    const bot = await start();
    const interaction = {
      id: snowflake(),
      application_id: BOT.id,
      type: 2,
      token: 'token',
      channel_id: GENERAL,
      guild_id: GUILD,
      member: { user: ADA, roles: [] },
      data: { name: 'memory', type: 1 },
    };
    const data = { name: 'memory', type: 1, options: [{ name: 'list', type: 1, options: [] }] };
    for (const _ of [1, 2]) double.gateway.dispatch(GUILD, 'INTERACTION_CREATE', { ...interaction, data });
    await until('the answer', () => double.callbacks.length > 0);
    await delay(200);
    expect([bot.sink.commands.length, double.callbacks.length]).toEqual([1, 1]);
  });
});
