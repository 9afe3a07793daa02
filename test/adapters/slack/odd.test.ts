import { describe, expect, test } from 'vitest';
import { createWeb, retryRepeatable } from '../../../adapters/channels/slack/web/web.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { postTo } from '../../contracts/channel-kit.ts';
import { ADA, BOB, BOT, GENERAL, type Message, type SlackDouble, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, recordLog, recordSink, until } from '../../fixtures/slack/kit.ts';

/** What Slack may send, and seldom does. */

let slack: SlackDouble;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});
const { signal } = new AbortController();
const here = `slack:${TEAM}:${GENERAL}` as Parameters<typeof postTo>[0];

describe('a socket that Slack closes', () => {
  test.each(['warning', 'refresh_requested', 'link_disabled', 'too_many_websockets', 'unheard_of', null])(
    'with the reason %s is opened again',
    async (reason) => {
      const bot = await start();
      await until('a socket is open', () => slack.sockets() === 1);
      slack.frame(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'h' } }));
      slack.kill();
      await until('another socket', () => slack.opened() === 2 && slack.sockets() === 1);
      slack.say(GENERAL, ADA, 'after it');
      await arrived(bot, 'after it');
      expect(bot.refusals).toEqual([]);
    },
  );

  test('hears through it until it ends', async () => {
    const bot = await start();
    await until('a socket is open', () => slack.sockets() === 1);
    slack.frame(JSON.stringify({ type: 'disconnect', reason: 'warning' }));
    slack.say(GENERAL, ADA, 'before the end');
    await arrived(bot, 'before the end');
  });
});

describe('an answer of the Web API', () => {
  test('with a rate limit in its body is waited for', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { error: 'ratelimited' });
    const refused = await bot.channel.post(postTo(here, {}), { signal }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ data: { final: false, retryAfterMs: 30_000 } });
    expect(slack.posted(GENERAL)).toEqual([]);
  });

  test.each([0, -1, -100_000])('that asks for %s seconds is not repeated at once', async (retryAfter) => {
    const web = createWeb('xoxb-double', { settings: { api_url: slack.apiUrl }, log: recordLog() });
    slack.fail('conversations.info', { retryAfter });
    const waits: number[] = [];
    const clock = { ...createSystemClock(), sleep: async (ms: number) => void waits.push(ms) };
    await retryRepeatable(() => web.conversations.info({ channel: GENERAL }), { clock, signal });
    expect(waits).toEqual([1_000]);
  });

  test('with an unknown error is said, and soon final', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { error: 'something_new' }, { error: 'something_new' });
    const refusal = (attempt: number) =>
      bot.channel.post(postTo(here, { attempt }), { signal }).catch((error: unknown) => error);
    const message = expect.stringContaining('something_new');
    expect(await refusal(1)).toMatchObject({ message, data: { final: false } });
    expect(await refusal(7)).toMatchObject({ message, data: { final: true } });
  });

  test.each([
    ['restricted_action_read_only_channel', 'does not let the bot write'],
    ['restricted_action_thread_only_channel', 'only replies in threads'],
    ['restricted_action_non_threadable_channel', 'no replies in threads; channel_replies = "channel" answers'],
    ['restricted_action_thread_locked', 'the thread is locked'],
    ['messages_tab_disabled', 'Messages Tab'],
  ])('that the place is restricted is final and clear: %s', async (error, reason) => {
    const bot = await start();
    slack.fail('chat.postMessage', { error });
    const refusal = await bot.channel.post(postTo(here, {}), { signal }).catch((thrown: unknown) => thrown);
    expect(refusal).toMatchObject({ message: expect.stringContaining(reason), data: { final: true } });
  });

  test('with warnings counts as success', async () => {
    slack.world.warns = true;
    const bot = await start();
    await bot.channel.post(postTo(here, {}), { signal });
    slack.say(GENERAL, ADA, 'hello');
    expect((await arrived(bot, 'hello')).author.name).toBe('Ada');
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('whose cursor loops ends the reading', async () => {
    const state = createState();
    const sink = recordSink();
    const bot = await start({ state, sink });
    slack.say(GENERAL, ADA, 'before');
    await arrived(bot, 'before');
    await stop(bot);
    slack.store(GENERAL, BOB, 'missed');
    slack.world.loops = true;
    const again = await start({ state, sink, table: { catch_up: { page: 1, requests_per_minute: 100 } } });
    await arrived(again, 'missed');
    slack.say(GENERAL, ADA, 'live');
    await arrived(again, 'live');
    expect(sink.messages.map(({ text }) => text)).toEqual(['before', 'missed', 'live']);
  });
});

describe('a message of another kind', () => {
  const NOTES = [
    ...['channel_topic', 'channel_name', 'channel_archive', 'channel_unarchive', 'channel_join', 'group_name'],
    ...['pinned_item', 'huddle_thread', 'assistant_app_thread', 'document_mention', 'ekm_access_denied', 'unheard_of'],
  ];

  test('is no message of a person, and changes nothing', async () => {
    const bot = await start();
    for (const subtype of NOTES) slack.say(GENERAL, ADA, `about ${subtype}`, { subtype });
    slack.say(GENERAL, ADA, 'a message');
    await arrived(bot, 'a message');
    expect(bot.sink.messages.map(({ text }) => text)).toEqual(['a message']);
    expect(bot.sink.drops.map(({ reason }) => reason)).toEqual(NOTES.map(() => 'note'));
  });

  test('that is shown in its channel belongs to its thread', async () => {
    const bot = await start();
    const root = slack.store(GENERAL, BOB, 'the beginning');
    slack.say(GENERAL, ADA, 'for all', { subtype: 'thread_broadcast', thread_ts: root.ts, root });
    const shown = await until('it arrives', () => bot.sink.messages.find(({ text }) => text.endsWith('for all')));
    expect(shown.conversation).toBe(`${here}:${root.ts}`);
  });

  test('by a workflow is one of a bot', async () => {
    const bot = await start();
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'The form was filled in' } }];
    const workflow = { user: undefined, subtype: 'bot_message', bot_id: 'B0WORKFLO', username: 'Forms', blocks };
    slack.say(GENERAL, BOB, 'The form was filled in', workflow);
    expect((await arrived(bot, 'The form was filled in')).author).toMatchObject({ kind: 'bot', name: 'Forms' });
  });

  const changed = (message: Message, more: object) =>
    slack.emit({
      type: 'message',
      subtype: 'message_changed',
      channel: GENERAL,
      ts: message.ts,
      hidden: true,
      message: { ...message, channel: undefined, ...more },
    });

  test('that lacks the earlier version is an edit if edited', async () => {
    const bot = await start();
    const message = slack.say(GENERAL, ADA, 'orange');
    await arrived(bot, 'orange');
    changed(message, { text: 'with a preview', attachments: [{ title: 'A page' }] });
    changed(message, { text: 'blue', edited: { user: ADA, ts: message.ts } });
    await until('the edit', () => bot.sink.edits.length > 0);
    expect(new Set(bot.sink.edits.map(({ parts }) => JSON.stringify(parts)))).toEqual(
      new Set([JSON.stringify([{ kind: 'text', text: 'blue' }])]),
    );
  });

  test('that mentions the bot is answered once despite retries', async () => {
    const bot = await start();
    const message = slack.store(GENERAL, ADA, `<@${BOT}> hello`);
    const body = slack.eventBody({ ...message, channel_type: 'channel' });
    const ids = [0, 1, 2, 3].map((attempt) =>
      slack.envelope('events_api', body, { retry_attempt: attempt, retry_reason: attempt === 0 ? '' : 'timeout' }),
    );
    await until('all are acknowledged', () => ids.every((id) => slack.acks.includes(id)));
    // On a busy machine, an event is acknowledged first and stored when its channel is described.
    await until('one is stored', () => bot.sink.messages.length > 0);
    await bot.channel.stop();
    expect(bot.sink.messages).toHaveLength(1);
  });
});
