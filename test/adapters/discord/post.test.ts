import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTyping } from '../../../adapters/channels/discord/outbound/typing.ts';
import { nonceOf } from '../../../adapters/channels/shared/hashes.ts';
import type { ConversationKey, Post } from '../../../src/adapter-kit.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import { postTo } from '../../contracts/channel-kit.ts';
import { ADA, BOT, type DiscordDouble, GENERAL, GUILD, STAFF, startDiscord } from '../../fixtures/discord/double.ts';
import { withChannel } from '../../fixtures/discord/each-test.ts';
import { createState, openChannel, until } from '../../fixtures/discord/kit.ts';
import { message } from '../../fixtures/discord/payloads.ts';

const conversation = `discord:${GUILD}:${GENERAL}` as ConversationKey;
const post = (details: Partial<Post> = {}) => postTo(conversation, details);
const signal = new AbortController().signal;

const sent = (double: DiscordDouble) => double.rest.sent('POST', /messages$/);
const PAGE = '<!doctype html><title>Just a moment</title>';

describe('a post', () => {
  // Shows: D
  test('pings nobody, shows no preview, carries nonce and reference', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      await channel.post(
        post({ replyTo: question.id, body: { kind: 'text', text: '@everyone see https://example.org' } }),
        { signal },
      );
      await channel.post(post({ nonce: '1-1-1' }), { signal });
      const [first, second] = sent(double).map(({ body }) => body);
      expect(first).toMatchObject({
        allowed_mentions: { parse: [], replied_user: false },
        flags: 4,
        enforce_nonce: true,
        nonce: expect.stringMatching(/^[\w-]{25}$/),
        message_reference: { message_id: question.id, fail_if_not_exists: false },
      });
      expect(second).not.toHaveProperty('message_reference');
      expect(second?.['nonce']).not.toBe(first?.['nonce']);
    });
  });

  test('can show previews and omit references', async () => {
    await withChannel({ table: { link_previews: true, reply_reference: false } }, async ({ double, channel }) => {
      await channel.post(post({ replyTo: '1300000000000000000' }), { signal });
      expect(sent(double)[0]?.body).toMatchObject({ flags: 0 });
      expect(sent(double)[0]?.body).not.toHaveProperty('message_reference');
    });
  });

  test('has a button "Why?" in its first part if set', async () => {
    await withChannel({ table: { why_button: true } }, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      await channel.post(post({ replyTo: question.id }), { signal });
      await channel.post(post({ nonce: '1-1-1' }), { signal });
      const [first, second] = sent(double).map(({ body }) => body);
      expect(first).toMatchObject({ components: [{ type: 1, components: [{ type: 2, label: 'Why?' }] }] });
      expect(second).not.toHaveProperty('components');
    });
  });

  test('leaves nothing on the signal of the bot', async () => {
    await withChannel({}, async ({ channel }) => {
      const bot = new AbortController();
      for (const nonce of ['1-1-0', '1-2-0', '1-3-0']) await channel.post(post({ nonce }), { signal: bot.signal });
      expect(getEventListeners(bot.signal, 'abort')).toEqual([]);
    });
  });

  // Shows: C4
  test('made uncertain by a crash is not doubled (nonce)', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const one = await channel.post(post(), { signal });
      const again = await channel.post(post({ attempt: 2 }), { signal });
      expect(again).toEqual(one);
      expect(double.posted(GENERAL)).toHaveLength(1);
    });
  });

  test('nor after Discord forgot the nonce (reference)', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      double.say(GENERAL, BOT, 'an answer', { message_reference: { type: 0, message_id: question.id } });
      const before = double.posted(GENERAL);
      const again = await channel.post(post({ attempt: 2, replyTo: question.id }), { signal });
      expect(again.platformMessageId).toBe(before[0]?.id);
      await channel.post(
        post({ attempt: 2, nonce: '1-2-0', body: { kind: 'text', text: 'another' }, replyTo: question.id }),
        { signal },
      );
      expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer', 'another']);
    });
  });

  test('that answers nobody is found again by its day', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const image = {
        kind: 'attachment',
        name: 'a.png',
        mediaType: 'image/png',
        base64: 'AAEC',
        text: 'a.png',
      } as const;
      const bodies = [{ kind: 'text', text: 'Good morning.' }, image] as const;
      const at = Date.now();
      const send = (day: number, attempt: number) =>
        Promise.all(
          bodies.map((body, chunk) =>
            channel.post(post({ nonce: `day-${day}-${chunk}`, body, attempt, unaskedAt: at + day * DAY_MS }), {
              signal,
            }),
          ),
        );
      const first = await send(0, 1);
      double.forgetNonces();
      expect(await send(0, 2)).toEqual(first);
      expect(double.posted(GENERAL)).toHaveLength(2);
      expect(double.posted(GENERAL)[1]?.files).toMatchObject([{ name: 'a.png' }]);
      await send(1, 2);
      expect(double.posted(GENERAL)).toHaveLength(4);
    });
  });

  test('nor are following parts and files doubled', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      const file = { kind: 'file', name: 'table.md', text: '| a | b |' } as const;
      const bodies = [{ kind: 'text', text: 'begins' }, { kind: 'text', text: 'goes on' }, file] as const;
      // An older reply ended in the same words.
      for (const [turn, replyTo] of ['1300000000000000000', question.id].entries()) {
        for (const [chunk, body] of bodies.entries()) {
          await channel.post(post({ nonce: `${turn}-${chunk}`, body, replyTo: chunk === 0 ? replyTo : null }), {
            signal,
          });
        }
      }
      double.forgetNonces();
      const before = double.posted(GENERAL).map(({ id }) => id);
      const again = bodies.map((body, chunk) =>
        channel.post(post({ nonce: `1-${chunk}`, body, replyTo: chunk === 0 ? question.id : null, attempt: 2 }), {
          signal,
        }),
      );
      expect((await Promise.all(again)).map(({ platformMessageId }) => platformMessageId)).toEqual(before.slice(3));
      const other = double.say(GENERAL, ADA, 'another question');
      await channel.post(post({ nonce: '2-0', body: bodies[0], replyTo: other.id }), { signal });
      await channel.post(post({ nonce: '2-1', body: bodies[1], attempt: 2 }), { signal });
      expect(
        double
          .posted(GENERAL)
          .map(({ content }) => content)
          .slice(6),
      ).toEqual(['begins', 'goes on']);
    });
  });

  test('of other data under the same nonce is another post', () => {
    expect(nonceOf(post())).toBe(nonceOf(post({ attempt: 3 })));
    const { text } = post().body;
    const others: Partial<Post>[] = [
      { body: { kind: 'text', text: 'fresh data' } },
      { body: { kind: 'file', name: 'reply.md', text } },
      { conversation: `discord:${GUILD}:${STAFF}` as ConversationKey },
      { nonce: '9-9-9' },
    ];
    for (const other of others) expect(nonceOf(post())).not.toBe(nonceOf(post(other)));
    expect(nonceOf(post()).length).toBe(25);
  });

  test('that is a file comes with its first lines', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const text = `First of all.\n\n${'more '.repeat(3000)}`;
      const [body] = channel.split(text);
      if (body === undefined) throw new Error('no body');
      await channel.post(post({ body }), { signal });
      expect(double.posted(GENERAL)).toMatchObject([
        { content: 'First of all.', files: [{ name: 'reply.md', text: text.trim() }] },
      ]);
      await channel.post(post({ nonce: '1-3-0', body: { kind: 'file', name: 'table.md', text: '| a | b |' } }), {
        signal,
      });
      expect(double.posted(GENERAL)[1]).toMatchObject({ content: '', files: [{ name: 'table.md' }] });
    });
  });

  // Shows: L
  test('waits out rate limits', async () => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.limit('POST', /messages$/, { forMs: 700 });
      const begun = Date.now();
      await channel.post(post(), { signal });
      expect(Date.now() - begun).toBeGreaterThanOrEqual(650);
      expect(double.posted(GENERAL)).toHaveLength(1);
    });
  });

  // Shows: C4 L
  test('is looked for before it is repeated', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      double.rest.fail('POST', /messages$/, { status: 502 });
      const reply = post({ replyTo: question.id, body: { kind: 'text', text: 'an answer' } });
      await expect(channel.post(reply, { signal })).rejects.toMatchObject({ data: { final: false } });
      expect(sent(double)).toHaveLength(1);
      double.say(GENERAL, BOT, 'an answer', { message_reference: { type: 0, message_id: question.id } });
      double.forgetNonces();
      await channel.post({ ...reply, attempt: 2 }, { signal });
      expect(sent(double)).toHaveLength(1);
    });
  });

  test.each([
    ['Discord answered 502 Bad Gateway', { status: 502, page: PAGE }],
    ['The response does not come from Discord (HTTP 404)', { status: 404, page: PAGE }],
  ])('fails with the status that arrived: %s', async (reason, answer) => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.instead('POST', /messages$/, answer);
      await expect(channel.post(post(), { signal })).rejects.toMatchObject({ data: { reason } });
    });
  });

  test('of a later part is found without references', async () => {
    await withChannel({ table: { reply_reference: false } }, async ({ double, channel }) => {
      double.say(GENERAL, BOT, 'the end');
      const question = double.say(GENERAL, ADA, 'a question');
      await channel.post(post({ replyTo: question.id }), { signal });
      const last = post({ nonce: '1-1-1', body: { kind: 'text', text: 'the end' } });
      double.rest.fail('POST', /messages$/, { status: 502 });
      await expect(channel.post(last, { signal })).rejects.toMatchObject({ data: { final: false } });
      await channel.post({ ...last, attempt: 2 }, { signal });
      expect(double.posted(GENERAL)).toHaveLength(3);
      double.forgetNonces();
      double.rest.fail('POST', /messages$/, { status: 502 });
      const more = { ...last, nonce: '1-1-2', body: { kind: 'text', text: 'and more' } } as const;
      await expect(channel.post(more, { signal })).rejects.toMatchObject({ data: { final: false } });
      const made = double.say(GENERAL, BOT, 'and more');
      expect(await channel.post({ ...more, attempt: 2 }, { signal })).toEqual({ platformMessageId: made.id });
      expect(double.posted(GENERAL)).toHaveLength(4);
    });
  });

  test('is found although its question is gone', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      double.remove(question);
      const made = double.say(GENERAL, BOT, 'an answer');
      const again = post({ replyTo: question.id, attempt: 2 });
      expect(await channel.post(again, { signal })).toEqual({ platformMessageId: made.id });
      expect(sent(double)).toEqual([]);
    });
  });

  test('whose file Discord refuses is posted as messages, each once', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      const text = Array.from({ length: 500 }, (_, number) => `The sentence number ${number}.`).join(' ');
      const reply = post({ replyTo: question.id, body: { kind: 'file', name: 'reply.md', text } });
      const refuse = () => double.rest.fail('POST', /messages$/, { status: 403, code: 50013 });
      refuse();
      const { platformMessageId } = await channel.post(reply, { signal });
      const posted = double.posted(GENERAL);
      expect(posted.flatMap(({ content }) => content.match(/\d+/g))).toEqual(text.match(/\d+/g));
      expect(posted.length).toBeGreaterThan(4);
      expect(posted[0]).toMatchObject({ message_reference: { message_id: question.id } });
      for (const message of posted.slice(1)) expect(message).not.toHaveProperty('message_reference');
      expect(posted[0]?.id).toBe(platformMessageId);
      double.forgetNonces();
      refuse();
      expect(await channel.post({ ...reply, attempt: 2 }, { signal })).toEqual({ platformMessageId });
      expect(double.posted(GENERAL)).toEqual(posted);
    });
  });

  test.each([
    [400, 40_005],
    [400, 50_045],
    [400, 50_046],
    [413, 0],
  ])('whose file is refused (%i, %i) keeps its words', async (status, code) => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.fail('POST', /messages$/, { status, code });
      const text = `${'a'.repeat(2000)}\n\n`;
      await channel.post(post({ body: { kind: 'file', name: 'reply.md', text } }), { signal });
      expect(double.posted(GENERAL)).toMatchObject([{ content: text.trim() }]);
    });
  });

  test('that is an image becomes text where files are refused', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const body = {
        kind: 'attachment',
        name: 'a.png',
        mediaType: 'image/png',
        base64: 'AAEC',
        text: 'A cat.',
      } as const;
      double.rest.fail('POST', /messages$/, { status: 413, code: 40005 });
      await channel.post(post({ body }), { signal });
      expect(double.posted(GENERAL)).toMatchObject([{ content: 'A cat.' }]);
      double.rest.fail('POST', /messages$/, { status: 403, code: 50013, times: 2 });
      await expect(channel.post(post({ nonce: '1-1-1', body }), { signal })).rejects.toMatchObject({
        message: expect.stringContaining('lacks a permission'),
        data: { final: true },
      });
    });
  });

  test.each([
    ['slow mode', 400, 20_016],
    ['a write limit of channels', 403, 20_028],
    ['a write limit of servers', 403, 20_029],
    ['a limit of a service', 400, 40_062],
    ['an overload', 400, 130_000],
  ])('waits for the end of %s', async (_, status, code) => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.instead('POST', /messages$/, { status, body: { code, message: 'not now', retry_after: 0.2 } });
      await channel.post(post(), { signal });
      expect(double.posted(GENERAL)).toHaveLength(1);
    });
  });

  test('that is refused says why and whether that may pass', async () => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.fail('POST', /messages$/, { status: 403, code: 50013 });
      await expect(channel.post(post(), { signal })).rejects.toMatchObject({
        code: 'POST_FAILED',
        message: expect.stringContaining('lacks a permission'),
        data: { final: true },
      });
      double.rest.fail('POST', /messages$/, { status: 400, code: 50035 });
      await expect(channel.post(post(), { signal })).rejects.toMatchObject({ data: { final: true } });
      double.rest.fail('POST', /messages$/, { status: 503 });
      await expect(channel.post(post(), { signal })).rejects.toMatchObject({ data: { final: false } });
    });
  });

  test('is not delayed by the rate limit of another channel', async () => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.limit('POST', new RegExp(`/${GENERAL}/messages$`), { forMs: 2_000 });
      let isHeldUp = true;
      const limited = channel.post(post(), { signal }).then(() => {
        isHeldUp = false;
      });
      await until('the limit', () => sent(double).length > 0);
      const elsewhere = `discord:${GUILD}:${STAFF}` as ConversationKey;
      await channel.post(post({ conversation: elsewhere }), { signal });
      expect(isHeldUp).toBe(true);
      await limited;
      expect([double.posted(GENERAL).length, double.posted(STAFF).length]).toEqual([1, 1]);
    });
  });

  test.each([
    ['its bucket', (double: DiscordDouble) => double.rest.limit('POST', /messages$/, { forMs: 7_000 })],
    [
      'a proxy',
      ({ rest }: DiscordDouble) =>
        rest.instead('POST', /messages$/, { status: 429, page: PAGE, headers: { 'retry-after': '7' } }),
    ],
  ])('is left to its sender during a long limit of %s', { timeout: 20_000 }, async (_, limit) => {
    await withChannel({}, async ({ double, channel }) => {
      limit(double);
      const refusal = await channel.post(post(), { signal }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ data: { final: false, retryAfterMs: expect.closeTo(7_000, -3) } });
      await expect(channel.post(post({ attempt: 2 }), { signal })).rejects.toMatchObject({ data: { final: false } });
      // The bucket has a name only after its first response.
      expect(sent(double).length).toBeLessThanOrEqual(2);
      await delay(7_200);
      await channel.post(post({ attempt: 3 }), { signal });
      expect(double.posted(GENERAL)).toHaveLength(1);
    });
  });

  test('waits as long as the more precise time says', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const body = { message: 'You are being rate limited.', retry_after: 0.3 };
      double.rest.instead('POST', /messages$/, { status: 429, body, headers: { 'retry-after': '300' } });
      await channel.post(post(), { signal });
      expect(double.posted(GENERAL)).toHaveLength(1);
    });
  });

  test('can be given up', async () => {
    await withChannel({}, async ({ double, channel }) => {
      double.rest.limit('POST', /messages$/, { forMs: 4_000 });
      const stop = new AbortController();
      const posting = channel.post(post(), { signal: stop.signal });
      await until('the limit', () => sent(double).length > 0);
      stop.abort(new Error('over'));
      await expect(posting).rejects.toThrow();
    });
  });
});

describe('the typing sign', () => {
  test('stays alive during a turn and ends with the post', async () => {
    await withChannel({}, async ({ double, channel }) => {
      const signs = () => double.rest.sent('POST', /typing$/).length;
      channel.show(conversation, { kind: 'working' });
      channel.show(conversation, { kind: 'working' });
      await until('the sign', () => signs() === 1);
      await channel.post(post(), { signal });
      channel.show(conversation, { kind: 'idle' });
      await delay(50);
      expect(signs()).toBe(1);
    });
  });

  test('ends when the bot stops, and does not come back', async () => {
    let signs = 0;
    const unused = async () => undefined;
    const sign = async () => {
      signs += 1;
    };
    const typing = createTyping(
      { post: sign, get: unused, put: unused, patch: unused, delete: unused },
      { refreshMs: 10 },
    );
    typing.start(conversation);
    typing.end();
    typing.start(conversation);
    await delay(50);
    expect(signs).toBe(1);
  });

  // Shows: C11
  test('is refreshed one request at a time, within limits', async () => {
    const waiting: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const post = () =>
      new Promise((resolve) => {
        running += 1;
        most = Math.max(most, running);
        waiting.push(() => {
          running -= 1;
          resolve(undefined);
        });
      });
    const unused = async () => undefined;
    const typing = createTyping({ post, get: unused, put: unused, patch: unused, delete: unused }, { refreshMs: 10 });
    typing.start(conversation);
    await delay(60);
    expect([waiting.length, most]).toEqual([1, 1]);
    waiting.shift()?.();
    await until('a refresh', () => waiting.length === 1);
    typing.stop(conversation);
    waiting.shift()?.();
    await delay(40);
    expect(waiting).toHaveLength(0);
  });
});

describe('a reply while it is written', () => {
  const streaming = { streaming: true, streaming_seconds: 1 };
  const edits = (double: DiscordDouble) => double.rest.sent('PATCH', /messages\/\d+$/);

  test('is one message, edited at a pace until the reply', async () => {
    await withChannel({ table: streaming }, async ({ double, channel, sink }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      await until('the message', () => sink.messages.length === 1);
      channel.show(conversation, { kind: 'working' });
      const begun = Date.now();
      for (let step = 1; step <= 25; step += 1) {
        channel.show(conversation, { kind: 'draft', text: `so far ${'x'.repeat(step)}` });
        await delay(100);
      }
      expect(sent(double)).toHaveLength(1);
      // The draft itself came after the first second.
      expect(edits(double).length).toBeLessThanOrEqual(Math.floor((Date.now() - begun) / 1000));
      const { platformMessageId } = await channel.post(
        post({ replyTo: question.id, body: { kind: 'text', text: 'the reply' } }),
        { signal },
      );
      expect(double.posted(GENERAL).map(({ id, content }) => [id, content])).toEqual([
        [platformMessageId, 'the reply'],
      ]);
      channel.show(conversation, { kind: 'idle' });
      await delay(50);
      expect(double.posted(GENERAL)).toHaveLength(1);
    });
  });

  test('stops short of the limit and closes its code block', async () => {
    await withChannel({ table: streaming }, async ({ double, channel }) => {
      channel.show(conversation, { kind: 'draft', text: `\`\`\`ts\n${'const a = 1;\n'.repeat(400)}` });
      const [draft] = await until('the draft', () =>
        double.posted(GENERAL).length > 0 ? double.posted(GENERAL) : false,
      );
      expect(draft?.content.length).toBeLessThanOrEqual(2000);
      expect(draft?.content).toMatch(/```\n…$/);
    });
  });

  test('leaves nothing behind without its own reply', async () => {
    await withChannel({ table: streaming }, async ({ double, channel }) => {
      channel.show(conversation, { kind: 'draft', text: 'thinking' });
      await until('the draft', () => double.posted(GENERAL).length === 1);
      channel.show(conversation, { kind: 'idle' });
      await until('its end', () => double.posted(GENERAL).length === 0);
      channel.show(conversation, { kind: 'draft', text: 'thinking' });
      await until('the draft', () => double.posted(GENERAL).length === 1);
      await channel.post(post({ replyTo: '1300000000000000000' }), { signal });
      expect(double.posted(GENERAL)).toMatchObject([
        { content: 'an answer', message_reference: { message_id: '1300000000000000000' } },
      ]);
    });
  });

  test('is not posted after a limit that it has outlived', { timeout: 20_000 }, async () => {
    await withChannel({ table: streaming }, async ({ double, channel, log }) => {
      double.rest.limit('POST', /messages$/, { forMs: 6_800 });
      channel.show(conversation, { kind: 'draft', text: 'thinking' });
      await until('the end', () => log.lines.some(({ message }) => message === 'A draft was not shown'));
      await delay(6_000);
      const before = sent(double).length;
      channel.show(conversation, { kind: 'idle' });
      await delay(500);
      expect(sent(double)).toHaveLength(before);
    });
  });

  test('left behind by a crash is removed at the start', async () => {
    const double = await startDiscord();
    const state = createState();
    const crashed = openChannel(double, { state, table: streaming });
    await crashed.channel.start(crashed.sink);
    crashed.channel.show(conversation, { kind: 'draft', text: 'half a thought' });
    await until('the draft', () => double.posted(GENERAL).length === 1);
    const next = openChannel(double, { state, table: streaming });
    await next.channel.start(next.sink);
    await until('its end', () => double.posted(GENERAL).length === 0);
    await crashed.channel.stop();
    await next.channel.stop();
    await double.close();
  });

  test.each([
    ['Discord fails to delete', { status: 500, times: 4 }, 4],
    ['the bot may not delete', { status: 403, code: 50_001 }, 1],
  ])('that %s goes at the next start', async (_why, failure, attempts) => {
    const double = await startDiscord();
    const state = createState();
    const first = openChannel(double, { state, table: streaming });
    await first.channel.start(first.sink);
    first.channel.show(conversation, { kind: 'draft', text: 'half a thought' });
    await until('the draft', () => double.posted(GENERAL).length === 1);
    double.rest.fail('DELETE', /messages/, failure);
    first.channel.show(conversation, { kind: 'idle' });
    await until('the attempts', () => double.rest.sent('DELETE', /messages/).length === attempts);
    await first.channel.stop();
    const next = openChannel(double, { state, table: streaming });
    await next.channel.start(next.sink);
    await until('its end', () => double.posted(GENERAL).length === 0, 10_000);
    await next.channel.stop();
    await double.close();
  });

  test('is the same message after a crash during its edit', async () => {
    const double = await startDiscord();
    const state = createState();
    const reply = post({ body: { kind: 'text', text: 'the reply' } });
    const crashed = openChannel(double, { state, table: streaming });
    await crashed.channel.start(crashed.sink);
    crashed.channel.show(conversation, { kind: 'draft', text: 'the re' });
    await until('the draft', () => double.posted(GENERAL).length === 1);
    const first = await crashed.channel.post(reply, { signal });
    const next = openChannel(double, { state, table: streaming });
    await next.channel.start(next.sink);
    const again = await next.channel.post({ ...reply, attempt: 2 }, { signal });
    expect(again).toEqual(first);
    expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['the reply']);
    await crashed.channel.stop();
    await next.channel.stop();
    await double.close();
  });

  test('is not posted next to an unresolved draft', async () => {
    await withChannel({ table: streaming }, async ({ double, channel }) => {
      channel.show(conversation, { kind: 'draft', text: 'the re' });
      await until('the draft', () => double.posted(GENERAL).length === 1);
      double.rest.fail('PATCH', /messages/, { status: 502, times: 4 });
      await expect(channel.post(post(), { signal })).rejects.toMatchObject({ code: 'POST_FAILED' });
      await channel.post(post({ attempt: 2 }), { signal });
      expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer']);
    });
  });

  test('keeps its message while the next draft is shown', async () => {
    await withChannel({ table: streaming }, async ({ double, channel }) => {
      const shown = () => double.posted(GENERAL).map(({ content }) => content);
      channel.show(conversation, { kind: 'draft', text: 'the re' });
      await until('the draft', () => shown().length === 1);
      double.rest.fail('PATCH', /messages/, { status: 502, times: 4 });
      await expect(channel.post(post(), { signal })).rejects.toMatchObject({ code: 'POST_FAILED' });
      channel.show(conversation, { kind: 'draft', text: 'and an' });
      await until('the next draft', () => shown().length === 2);
      await channel.post(post({ attempt: 2 }), { signal });
      const next = post({ nonce: '2-1-0', body: { kind: 'text', text: 'and another' } });
      await channel.post(next, { signal });
      expect(shown()).toEqual(['an answer', 'and another']);
    });
  });

  test('is posted again when Discord refuses edits, replacing the draft', async () => {
    await withChannel({ table: streaming }, async ({ double, channel }) => {
      channel.show(conversation, { kind: 'draft', text: 'the re' });
      const [draft] = await until('the draft', () =>
        double.posted(GENERAL).length > 0 ? double.posted(GENERAL) : false,
      );
      double.rest.fail('PATCH', /messages/, { status: 400, code: 30046 });
      const { platformMessageId } = await channel.post(post(), { signal });
      expect(platformMessageId).not.toBe(draft?.id);
      expect(double.posted(GENERAL).map(({ id }) => id)).toEqual([platformMessageId]);
    });
  });

  // Shows: I
  test('is posted whole when the draft is gone', async () => {
    await withChannel({ table: streaming }, async ({ double, channel }) => {
      channel.show(conversation, { kind: 'draft', text: 'thinking' });
      const [draft] = await until('the draft', () =>
        double.posted(GENERAL).length > 0 ? double.posted(GENERAL) : false,
      );
      if (draft !== undefined) double.remove(draft);
      await channel.post(post(), { signal });
      expect(double.posted(GENERAL).map(({ content }) => content)).toEqual(['an answer']);
    });
  });

  test('is not shown by default', async () => {
    await withChannel({}, async ({ double, channel }) => {
      channel.show(conversation, { kind: 'draft', text: 'thinking' });
      await delay(200);
      expect(sent(double)).toEqual([]);
    });
  });
});

test('ignores the bot’s own posts from the gateway', async () => {
  await withChannel({}, async ({ double, channel, sink }) => {
    await channel.post(post(), { signal });
    double.gateway.dispatch(GUILD, 'MESSAGE_CREATE', {
      ...message({ channel_id: GENERAL, author: BOT, content: 'x' }),
      guild_id: GUILD,
    });
    double.say(GENERAL, ADA, 'last');
    await until('the message', () => sink.messages.length === 1);
    expect(sink.messages[0]?.text).toBe('last');
  });
});
