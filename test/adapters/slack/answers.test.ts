import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createFetch } from '../../../adapters/channels/slack/web/request.ts';
import type { ConversationKey, Post } from '../../../src/adapter-kit.ts';
import { postTo } from '../../contracts/channel-kit.ts';
import { serve } from '../../fixtures/models-server.ts';
import {
  ADA,
  BOT,
  type Failure,
  GENERAL,
  ORGANIZATION,
  type SlackDouble,
  STAFF,
  TEAM,
} from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { install, many } from '../../fixtures/slack/installing.ts';
import { arrived, createState, type Opened, recordSink, until } from '../../fixtures/slack/kit.ts';
import { freePort } from '../../support/port.ts';

/** Responses of the Web API that are not Slack's own, or that miss what they should contain. */

let slack: SlackDouble;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});

const { signal } = new AbortController();
const channelKey = `slack:${TEAM}:${GENERAL}` as ConversationKey;
const post = (details: Partial<Post> = {}) => postTo(channelKey, details);
const PAGE = '<!doctype html><title>Just a moment</title>';
const failureOf = async (bot: Opened, details: Partial<Post> = {}) =>
  await bot.channel.post(post(details), { signal }).then(
    () => 'posted',
    ({ data }) => data,
  );

describe('a post', () => {
  test.each([
    ['a page', { page: PAGE }],
    ['nothing', { page: '' }],
    ['null', { page: 'null' }],
    ['a list', { page: '[]' }],
    ['a cut response', { cut: 'short' }],
    ['an endless response', { cut: 'endless' }],
  ] as const)(
    'is tried again after %s, and posted once',
    async (_, failure) => {
      const bot = await start();
      slack.fail('chat.postMessage', failure);
      expect(await failureOf(bot)).toMatchObject({ final: false });
      expect(await failureOf(bot, { attempt: 2 })).toBe('posted');
      expect(slack.posted(GENERAL)).toHaveLength(1);
    },
    40_000,
  );

  test.each<[string, Failure]>([
    ['The response does not come from Slack (HTTP 200)', { page: PAGE }],
    ['The response does not come from Slack (HTTP 404)', { status: 404 }],
    ['Service Unavailable (HTTP 503)', { status: 503 }],
  ])('fails with the status that arrived: %s', async (reason, failure) => {
    const bot = await start();
    slack.fail('chat.postMessage', failure);
    expect(await failureOf(bot)).toMatchObject({ reason });
  });

  test.each(['ratelimited', 'rate_limited', 'message_limit_exceeded'])('waits after the error %s', async (error) => {
    const bot = await start();
    slack.fail('chat.postMessage', { error });
    expect(await failureOf(bot)).toMatchObject({ final: false, retryAfterMs: 30_000 });
  });

  test.each(['team_added_to_org', 'org_login_required', 'service_unavailable', 'not_in_channel'])(
    'is tried again after the error %s',
    async (error) => {
      const bot = await start();
      slack.fail('chat.postMessage', { error });
      expect(await failureOf(bot)).toMatchObject({ final: error === 'not_in_channel' });
    },
  );
});

test.each<[string, Failure]>([
  ['a page with 404', { status: 404 }],
  ['a redirect', { status: 307 }],
  ['a page that forbids', { status: 403 }],
  ['no ids', { page: '{"ok":true}' }],
  ['an empty id', { page: `{"ok":true,"team_id":"${TEAM}","user_id":""}` }],
])('a start with %s is tried again', async (_, failure) => {
  slack.fail('auth.test', failure);
  const bot = await start();
  slack.say(GENERAL, ADA, `<@${BOT}> hello`);
  expect(await arrived(bot, '@strata hello')).toMatchObject({ addressesBot: true });
});

test('an answer without an end is not kept in memory', async () => {
  let bytes = 0;
  await using server = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1_000_000))) bytes += 1_000_000;
      bytes += 1_000_000;
    };
    response.on('drain', more);
    more();
  });
  const answer = await createFetch(`${server.url}/`)(`${server.url}/chat.postMessage`, { method: 'POST' });
  expect(answer.status).toBe(502);
  expect(bytes).toBeLessThan(200_000_000);
});

test('a page is no refusal for an installed workspace either', async () => {
  const port = await freePort();
  const bot = await start({ table: many(port) });
  await install(port);
  slack.fail('chat.postMessage', { page: PAGE });
  expect(await failureOf(bot)).toMatchObject({ final: false });
});

describe('an answer to a command', () => {
  test.each([404, 410, 500])('reaches its author though its URL answers %i', async (status) => {
    await start();
    slack.fail('response_url', { status });
    slack.slash('memory list');
    const answer = await until('the answer', () => slack.answers[0]);
    expect(answer).toMatchObject({ channel: GENERAL, user: ADA, response_type: 'ephemeral' });
  });

  test('that Slack confirms too late is sent once', { timeout: 20_000 }, async () => {
    const bot = await start();
    slack.hanging.add('response_url');
    slack.slash('memory list');
    await until('it is logged', () => bot.log.lines.some(({ message }) => message.includes('did not confirm')), 12_000);
    await delay(200);
    expect(slack.answers).toHaveLength(1);
    expect(slack.callsOf('chat.postEphemeral')).toEqual([]);
  });

  test.each([{ text: null }, { channel_id: undefined }, { user_id: null }, { team_id: null }, { trigger_id: 7 }])(
    'with the odd field %j harms nothing',
    async (odd) => {
      const bot = await start();
      slack.slash('memory list', odd);
      await delay(200);
      slack.slash('help');
      await until('the answer', () => slack.answers.length > 0);
      expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );
});

describe('a list of replies', () => {
  const body = (messages: unknown, more: object = {}) => JSON.stringify({ ok: true, messages, ...more });
  const root = (ts: string) => ({ type: 'message', user: ADA, text: `<@${BOT}> one`, ts, thread_ts: ts });

  test.each([
    ['is missing', () => JSON.stringify({ ok: true })],
    ['is empty', () => body([])],
    ['lacks the first message', () => body([{ type: 'message', user: ADA, text: 'x', ts: '1.000001' }])],
    ['contains unreadable messages', (ts: string) => body([root(ts), { ts: 7 }])],
    [
      'hides a message between two others',
      (ts: string) => body([root(ts), { ts: 7 }, { ...root(ts), text: 'three', ts: `${Number(ts) + 9}` }]),
    ],
    ['ends too early', (ts: string) => body([root(ts)], { has_more: true })],
  ])('that %s deletes nothing', async (_, answer) => {
    const sink = recordSink();
    const state = createState();
    const first = await start({ sink, state });
    const { ts } = slack.say(GENERAL, ADA, `<@${BOT}> one`);
    await until('the question', () => sink.messages.length === 1);
    slack.say(GENERAL, ADA, 'two', { thread_ts: ts });
    await until('the reply', () => sink.messages.length === 2);
    await stop(first);
    slack.fail('conversations.replies', { page: answer(ts) });
    const bot = await start({ sink, state });
    await until('the look', () => slack.callsOf('conversations.replies').length > 0);
    await delay(500);
    await bot.channel.stop();
    expect(sink.removals).toEqual([]);
  });

  test('that never ends is left', async () => {
    const sink = recordSink();
    const state = createState();
    const first = await start({ sink, state });
    const { ts } = slack.say(GENERAL, ADA, `<@${BOT}> one`);
    await until('the question', () => sink.messages.length === 1);
    await stop(first);
    const page = body([root(ts)], { has_more: true, response_metadata: { next_cursor: 'x' } });
    slack.fail('conversations.replies', ...Array.from({ length: 100 }, () => ({ page })));
    slack.store(STAFF, ADA, `<@${BOT}> elsewhere`);
    await start({ sink, state });
    await until('another channel', () => sink.messages.length === 2);
    await delay(3_000);
    expect(slack.callsOf('conversations.replies').length).toBe(2);
  }, 30_000);
});

test('a page instead of a file is shown by name', async () => {
  const bot = await start();
  const url = `${slack.base}/files/notes.txt`;
  slack.files.set('/files/notes.txt', { body: Buffer.from(PAGE), type: 'text/html; charset=utf-8' });
  const file = { id: 'F1', name: 'notes.txt', mimetype: 'text/plain', size: 20, url_private: url };
  slack.say(GENERAL, ADA, 'look', { subtype: 'file_share', files: [file] });
  const message = await until('the message', () => bot.sink.messages[0]);
  expect(message.text).toBe('look');
  expect(message.attachments).toMatchObject([{ name: 'notes.txt' }]);
});

describe('an event', () => {
  test.each([
    { team_id: ORGANIZATION, context_team_id: ORGANIZATION },
    { team_id: null, context_team_id: null, enterprise_id: ORGANIZATION },
    { team_id: 'T0SISTER1', context_team_id: null, enterprise_id: ORGANIZATION },
  ])('of an organization reaches the workspace it is for: %j', async (envelope) => {
    const bot = await start();
    const message = slack.store(GENERAL, ADA, 'hello');
    slack.emit({ ...message, channel_type: 'channel' }, envelope);
    await until('the message', () => bot.sink.messages.length === 1);
  });

  test('about a rate limit is acknowledged, logged and caught up', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'first');
    await until('the first', () => bot.sink.messages.length === 1);
    slack.store(GENERAL, ADA, 'left out');
    const minute = Math.floor(Date.now() / 1000) - 60;
    const body = { type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: minute, api_app_id: 'A1' };
    const id = slack.envelope('events_api', body);
    await until('the acknowledgement', () => slack.acks.includes(id), 5_000);
    await until('the message', () => bot.sink.messages.length === 2, 5_000);
    expect(bot.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('too many in a minute') }),
    );
  });
});

describe('missed messages', () => {
  test('are read although a response is no JSON', async () => {
    const sink = recordSink();
    const state = createState();
    const first = await start({ sink, state });
    slack.say(GENERAL, ADA, `<@${BOT}> one`);
    await until('the first message', () => sink.messages.length === 1);
    await stop(first);
    slack.store(GENERAL, ADA, `<@${BOT}> two`);
    for (const failure of [{ page: PAGE }, { cut: 'short' }] as const) slack.fail('conversations.history', failure);
    await start({ sink, state });
    await until('the second message', () => sink.messages.some(({ text }) => text.endsWith('two')), 30_000);
  }, 40_000);
});
