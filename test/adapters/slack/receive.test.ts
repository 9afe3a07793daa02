import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type ConversationKey, createSystemClock } from '../../../src/adapter-kit.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import {
  ADA,
  BOB,
  BOT,
  BOT_ID,
  BOT_TOKEN,
  COLLEAGUE,
  DIRECT,
  GENERAL,
  GROUP,
  GUEST,
  NEIGHBOUR,
  ORGANIZATION,
  OTHER_TEAM,
  ROBOT,
  SHARED,
  type SlackDouble,
  STAFF,
  TEAM,
} from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, recordSink, until } from '../../fixtures/slack/kit.ts';

let slack: SlackDouble;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});

describe('the conversation of a message', () => {
  test('channels, threads and mentions are conversations with fixed keys', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'good morning');
    expect((await arrived(bot, 'good morning')).conversation).toBe(`slack:${TEAM}:${GENERAL}`);
    const asked = slack.say(GENERAL, ADA, `<@${BOT}> what is up?`);
    const message = await arrived(bot, '@strata what is up?');
    expect(message.conversation).toBe(`slack:${TEAM}:${GENERAL}:${asked.ts}`);
    expect(message.addressesBot).toBe(true);
    slack.say(GENERAL, BOB, 'me too', { thread_ts: asked.ts });
    expect(await arrived(bot, 'me too')).toMatchObject({ conversation: message.conversation, replyTo: asked.ts });
  });

  test('a mention may be answered in the channel instead', async () => {
    const bot = await start({ table: { channel_replies: 'channel' } });
    slack.say(GENERAL, ADA, `<@${BOT}> here please`);
    expect((await arrived(bot, '@strata here please')).conversation).toBe(`slack:${TEAM}:${GENERAL}`);
  });

  test('direct messages are one conversation, or one per thread', async () => {
    const bot = await start();
    const first = slack.say(DIRECT, ADA, 'about cats');
    expect(await arrived(bot, 'about cats')).toMatchObject({
      conversation: `slack:${TEAM}:${DIRECT}:${first.ts}`,
      audience: 'dm',
    });
    await stop(bot);
    const one = await start({ table: { direct_conversation: 'person' } });
    slack.say(DIRECT, ADA, 'about dogs');
    expect((await arrived(one, 'about dogs')).conversation).toBe(`slack:${TEAM}:${DIRECT}`);
  });

  test('a direct message in the App Home is like others', async () => {
    const bot = await start();
    const message = slack.store(DIRECT, ADA, 'about cats');
    slack.emit({ ...message, channel_type: 'app_home' });
    const conversation = `slack:${TEAM}:${DIRECT}:${message.ts}`;
    expect(await arrived(bot, 'about cats')).toMatchObject({ conversation, audience: 'dm' });
  });

  test('answers in the thread of the newest message', async () => {
    const state = createState();
    const bot = await start({ state, table: { direct_conversation: 'person' } });
    const { ts } = slack.say(DIRECT, ADA, 'about cats');
    const { conversation } = await arrived(bot, 'about cats');
    await stop(bot);
    expect(await state.list('slack.threads')).toEqual([{ key: conversation, value: { threadTs: ts } }]);
    const again = await start({ state, table: { direct_conversation: 'person', catch_up: { messages: 0 } } });
    const body = { kind: 'text', text: 'purr' } as const;
    const { signal } = new AbortController();
    await again.channel.post({ conversation, nonce: '1', body, replyTo: null, attempt: 1 }, { signal });
    expect(slack.posted(DIRECT).at(-1)).toMatchObject({ thread_ts: ts });
  });

  test('group messages and their threads are conversations', async () => {
    const bot = await start();
    slack.say(GROUP, ADA, 'just us three');
    expect(await arrived(bot, 'just us three')).toMatchObject({
      conversation: `slack:${TEAM}:${GROUP}`,
      audience: 'private',
      addressesBot: false,
    });
    const asked = slack.say(GROUP, BOB, `<@${BOT}> and you?`);
    expect(await arrived(bot, '@strata and you?')).toMatchObject({
      conversation: `slack:${TEAM}:${GROUP}:${asked.ts}`,
      audience: 'private',
      addressesBot: true,
    });
  });

  test('names no private channel that somebody names by its id', async () => {
    const bot = await start();
    const block = { type: 'channel', channel_id: STAFF };
    const rich = { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [block] }] };
    slack.say(GENERAL, ADA, `see <#${STAFF}> or <#${GENERAL}>`);
    slack.say(GENERAL, ADA, `<#${STAFF}>`, { blocks: [rich] });
    await arrived(bot, `see #${STAFF} or #general`);
    await arrived(bot, `#${STAFF}`);
  });

  test('names a private channel in itself, and no other one', async () => {
    slack.channels.set('C0BOARD01', { name: 'board', is_private: true });
    const bot = await start();
    const root = slack.store(STAFF, BOB, `rules of <#${STAFF}>`);
    slack.say(STAFF, ADA, `keep it in <#${STAFF}>, not in <#C0BOARD01>`);
    await arrived(bot, 'keep it in #staff, not in #C0BOARD01');
    slack.say(STAFF, ADA, `<@${BOT}> which?`, { thread_ts: root.ts });
    await arrived(bot, '[the thread is about this message of Bob]\n> rules of #staff\n@strata which?');
    slack.say(SHARED, ADA, `only in <#${SHARED}>`);
    await arrived(bot, 'only in #shared');
  });

  test('quotes the beginning of a thread from before the bot', async () => {
    const bot = await start();
    const root = slack.store(GENERAL, BOB, `The build of <#${GENERAL}> is red`);
    slack.say(GENERAL, ADA, `<@${BOT}> why?`, { thread_ts: root.ts });
    const first = await arrived(
      bot,
      '[the thread is about this message of Bob]\n> The build of #general is red\n@strata why?',
    );
    slack.say(GENERAL, ADA, 'and since when?', { thread_ts: root.ts });
    expect((await arrived(bot, 'and since when?')).conversation).toBe(first.conversation);
  });

  test('quotes an alert of an app, and names files', async () => {
    const bot = await start();
    const fields = [{ title: 'Host', value: 'db-1' }];
    const attachments = [{ title: 'Disk is full', fields, footer: 'Grafana' }];
    const alert = slack.store(GENERAL, ROBOT, '', { bot_id: 'B0ROBOT', username: 'Grafana', attachments });
    slack.say(GENERAL, ADA, `<@${BOT}> why?`, { thread_ts: alert.ts });
    await arrived(
      bot,
      '[the thread is about this message of Grafana <bot>]\n> [attached, not written by the sender]\n> > Disk is full\n> > Host: db-1\n> > Grafana\n@strata why?',
    );
    const files = [
      { id: 'F1', name: 'bird.png', mimetype: 'image/png' },
      { id: 'F2', name: 'gone.pdf', mode: 'tombstone' },
    ];
    const picture = slack.store(GENERAL, BOB, '', { files });
    slack.say(GENERAL, ADA, `<@${BOT}> what is this?`, { thread_ts: picture.ts });
    await arrived(bot, '[the thread is about this message of Bob]\n> [file: bird.png]\n@strata what is this?');
  });

  test('quotes it though nothing came of earlier replies', async () => {
    const bot = await start({ table: { outsiders: false } });
    const root = slack.store(GENERAL, BOB, 'The build is red');
    const reply = slack.store(GENERAL, BOB, 'Why?', { thread_ts: root.ts });
    const edited = { ...reply, text: 'Why is that?', edited: { user: BOB, ts: reply.ts } };
    slack.emit({ type: 'message', subtype: 'message_changed', channel: GENERAL, message: edited, ts: reply.ts });
    slack.say(GENERAL, GUEST, 'No idea.', { thread_ts: root.ts, user_team: OTHER_TEAM });
    await until('both are read', () => bot.sink.edits.length > 0 && bot.sink.drops.length > 0);
    slack.say(GENERAL, ADA, `<@${BOT}> do you know?`, { thread_ts: root.ts });
    await arrived(bot, '[the thread is about this message of Bob]\n> The build is red\n@strata do you know?');
  });

  test('quotes it though the first reply could not be stored', async () => {
    const state = createState();
    let failures = 0;
    const get = async (namespace: string, key: string) => {
      if (namespace !== 'slack.viewing' || failures > 0) return await state.get(namespace, key);
      failures += 1;
      throw new Error('The store is away.');
    };
    const bot = await start({ state: { ...state, get } });
    const root = slack.store(DIRECT, BOB, 'The build is red');
    slack.say(DIRECT, ADA, 'Why?', { thread_ts: root.ts });
    await until('it was not stored', () => bot.log.lines.some(({ message }) => message.includes('stored')));
    slack.say(DIRECT, ADA, 'Since when?', { thread_ts: root.ts });
    await arrived(bot, '[the thread is about this message of Bob]\n> The build is red\nSince when?');
  });

  test('reads the first message of a thread once per message', async () => {
    const state = createState();
    let reads = 0;
    const get = async (namespace: string, key: string) => {
      if (namespace === 'slack.beginnings') reads += 1;
      return await state.get(namespace, key);
    };
    const bot = await start({ state: { ...state, get } });
    for (const text of ['one', 'two', 'three']) {
      slack.say(GENERAL, ADA, text);
      await arrived(bot, text);
    }
    expect(reads).toBe(3);
    expect(state.writes.filter((write) => write.startsWith('slack.beginnings'))).toHaveLength(1);
  });
});

describe('forgotten messages', () => {
  test('does not come back as the beginning of a thread', async () => {
    const bot = await start();
    const root = slack.store(GENERAL, BOT, 'Your password is swordfish');
    bot.sink.removals.push({ conversation: `slack:${TEAM}:${GENERAL}` as ConversationKey, externalIds: [root.ts] });
    slack.say(GENERAL, ADA, `<@${BOT}> what was that?`, { thread_ts: root.ts });
    await arrived(bot, '@strata what was that?');
  });

  test('does not come back as a shared message', async () => {
    const bot = await start();
    const thread = '1700000000.000100';
    const shared = {
      is_share: true,
      author_name: 'strata',
      text: 'Your password is swordfish',
      fallback: 'a message',
      channel_id: STAFF,
      ts: '1700000001.000200',
      from_url: `https://example.test/archives/${STAFF}/p1700000001000200?thread_ts=${thread}`,
    };
    slack.say(GENERAL, ADA, 'look at this', { attachments: [shared] });
    const quote = '[shared message of strata, not written by the sender]\n> Your password is swordfish';
    await arrived(bot, `look at this\n${quote}`);
    const conversation = `slack:${TEAM}:${STAFF}:${thread}` as ConversationKey;
    bot.sink.removals.push({ conversation, externalIds: [shared.ts] });
    slack.say(STAFF, ADA, 'and again', { attachments: [shared] });
    await arrived(bot, 'and again');
    const shown = expect.stringContaining('swordfish');
    expect(bot.sink.quotations).toMatchObject([
      { quotedIn: { conversation: `slack:${TEAM}:${GENERAL}`, audience: 'public' }, shown },
      { quotedIn: { conversation: `slack:${TEAM}:${STAFF}`, audience: 'private' }, shown },
    ]);
  });
});

test('quotes nothing but the kept text of a stored message', async () => {
  const sink = recordSink();
  Object.assign(sink, { conversations: { ...sink.conversations, textOf: async () => 'what is left' } });
  const bot = await start({ sink });
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'swordfish' } }];
  const fields = [{ title: 'Password', value: 'swordfish' }];
  const shared = { is_share: true, author_name: 'Bob', channel_id: STAFF, ts: '1700000001.000200', blocks, fields };
  slack.say(GENERAL, ADA, 'look', { attachments: [shared] });
  await arrived(bot, 'look\n[shared message of Bob, not written by the sender]\n> what is left');
});

test('names the files of a shared message without words', async () => {
  const sink = recordSink();
  const textOf = async ({ shown }: { readonly shown: string }) => (shown === '' ? null : '');
  Object.assign(sink, { conversations: { ...sink.conversations, textOf } });
  const bot = await start({ sink });
  const share = { is_share: true, author_name: 'Bob', channel_id: STAFF, ts: '1700000001.000200' };
  const fallback = '[June 5th, 2024] bob: ';
  slack.say(GENERAL, ADA, 'look', { attachments: [{ ...share, fallback, files: [{ name: 'bird.png' }] }] });
  await arrived(bot, 'look\n[shared message of Bob, not written by the sender]\n> [file: bird.png]');
  slack.say(GENERAL, ADA, 'look here', { attachments: [{ ...share, fallback }] });
  await arrived(bot, 'look here');
});

test('reads nothing of a thread that excluded people began', async () => {
  const bot = await start({ table: { users: { deny: [BOB] } } });
  const root = slack.store(GENERAL, BOB, 'The build is red');
  slack.say(GENERAL, ADA, `<@${BOT}> why?`, { thread_ts: root.ts });
  await arrived(bot, '@strata why?');
});

describe('who can read it', () => {
  // Shows: F
  test('tells direct, private and public apart; shared is private', async () => {
    const bot = await start();
    for (const channel of [GENERAL, STAFF, SHARED, DIRECT]) slack.say(channel, ADA, `in ${channel}`);
    const of = async (channel: string) => (await arrived(bot, `in ${channel}`)).audience;
    expect([await of(GENERAL), await of(STAFF), await of(SHARED), await of(DIRECT)]).toEqual([
      'public',
      'private',
      'private',
      'dm',
    ]);
  });

  // Shows: I9
  test('assumes private until a channel can be looked up', async () => {
    const bot = await start();
    const channel = slack.channels.get(GENERAL) ?? {};
    slack.channels.delete(GENERAL);
    slack.say(GENERAL, ADA, 'hello');
    const message = await arrived(bot, 'hello');
    expect(message).toMatchObject({ audience: 'private', isAudienceAssumed: true });
    expect(bot.sink.audiences).toEqual([]);
    slack.channels.set(GENERAL, channel);
    await until('it is looked up', () => bot.sink.audiences.length > 0);
    expect(bot.sink.audiences).toEqual([{ conversation: message.conversation, audience: 'public' }]);
  });

  test('keeps the last answer while Slack gives none', async () => {
    const offset = { ms: 0 };
    const clock = { ...createSystemClock(), now: () => Date.now() + offset.ms };
    const bot = await start({ clock });
    slack.say(GENERAL, ADA, 'hello');
    await arrived(bot, 'hello');
    slack.channels.delete(GENERAL);
    offset.ms = 2 * HOUR_MS;
    slack.say(GENERAL, ADA, 'still there?');
    const message = await arrived(bot, 'still there?');
    expect(slack.callsOf('conversations.info').length).toBeGreaterThan(1);
    expect(message.audience).toBe('public');
    expect(message).not.toHaveProperty('isAudienceAssumed');
    expect(bot.sink.audiences.map(({ audience }) => audience)).toEqual(['public']);
  });

  test('believes the event of a private channel without a lookup', async () => {
    const bot = await start();
    slack.channels.delete(STAFF);
    slack.say(STAFF, ADA, 'among us', { channel_type: 'group' });
    expect(await arrived(bot, 'among us')).not.toHaveProperty('isAudienceAssumed');
    expect(bot.sink.audiences.map(({ audience }) => audience)).toEqual(['private']);
  });

  test('changes nothing until an unshared channel can be looked up', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'hello');
    const { conversation } = await arrived(bot, 'hello');
    const channel = slack.channels.get(GENERAL) ?? {};
    slack.channels.delete(GENERAL);
    slack.emit({ type: 'channel_unshared', channel: GENERAL, previously_connected_team_id: OTHER_TEAM });
    await until('a warning', () => bot.log.lines.some(({ message }) => message.includes('did not describe a channel')));
    expect(bot.sink.audiences.map(({ audience }) => audience)).toEqual(['public']);
    slack.channels.set(GENERAL, { ...channel, is_private: true });
    await until('it is looked up', () => bot.sink.audiences.length > 1);
    expect(bot.sink.audiences.at(-1)).toEqual({ conversation, audience: 'private' });
  });

  test('sharing a channel with another workspace closes its conversations', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'hello');
    const { conversation } = await arrived(bot, 'hello');
    slack.channels.set(GENERAL, { name: 'general', is_ext_shared: true });
    slack.emit({ type: 'channel_shared', channel: GENERAL, connected_team_id: OTHER_TEAM });
    await until('it is told', () => bot.sink.audiences.at(-1)?.audience === 'private');
    expect(bot.sink.audiences.at(-1)).toEqual({ conversation, audience: 'private' });
  });

  test('a changed channel that cannot be read closes its conversations', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'hello');
    const { conversation } = await arrived(bot, 'hello');
    slack.channels.delete(GENERAL);
    slack.emit({ type: 'channel_shared', channel: GENERAL, connected_team_id: OTHER_TEAM });
    await until('it is told', () => bot.sink.audiences.at(-1)?.audience === 'private');
    expect(bot.sink.audiences.at(-1)).toEqual({ conversation, audience: 'private' });
  });

  test('a channel made private closes its conversations at once', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'hello');
    const { conversation } = await arrived(bot, 'hello');
    slack.channels.set(GENERAL, { name: 'general', is_private: true });
    slack.say(GENERAL, ADA, 'made this channel private', { subtype: 'channel_convert_to_private' });
    await until('it is told', () => bot.sink.audiences.at(-1)?.audience === 'private');
    expect(bot.sink.audiences.at(-1)).toEqual({ conversation, audience: 'private' });
    slack.say(GENERAL, ADA, 'among us');
    expect((await arrived(bot, 'among us')).audience).toBe('private');
  });

  test('labels people of other workspaces, or does not serve them', async () => {
    const bot = await start();
    slack.say(SHARED, GUEST, 'hello from outside', { team: OTHER_TEAM, user_team: OTHER_TEAM });
    expect((await arrived(bot, 'hello from outside')).author).toMatchObject({
      id: GUEST,
      name: 'Grace (of another workspace)',
    });
    await stop(bot);
    const strict = await start({ table: { outsiders: false } });
    slack.say(SHARED, GUEST, 'again', { team: OTHER_TEAM, user_team: OTHER_TEAM });
    slack.say(SHARED, ADA, 'from inside');
    await arrived(strict, 'from inside');
    expect(strict.sink.messages.map(({ text }) => text)).toEqual(['from inside']);
  });

  test.each([TEAM, OTHER_TEAM, ORGANIZATION])('knows its members in an organization: home %s', async (home) => {
    const bot = await start({ table: { outsiders: false } });
    const fields = { team: home, user_team: home };
    slack.say(SHARED, NEIGHBOUR, 'from next door', fields);
    slack.say(SHARED, COLLEAGUE, 'from inside', fields);
    expect((await arrived(bot, 'from inside')).author.name).toBe('mia');
    expect(bot.sink.messages.map(({ text }) => text)).toEqual(['from inside']);
  });

  test('waits for the directory of an organization before it drops', async () => {
    const bot = await start({ table: { outsiders: false } });
    slack.delays.set('users.info', delay(1_500));
    const fields = { team: ORGANIZATION, user_team: ORGANIZATION };
    slack.say(SHARED, COLLEAGUE, 'from inside', fields);
    expect((await arrived(bot, 'from inside')).author.name).toBe('mia');
  });

  test('shows by their message that a channel was shared', async () => {
    const offset = { ms: 0 };
    const bot = await start({ clock: { ...createSystemClock(), now: () => Date.now() + offset.ms } });
    slack.say(GENERAL, ADA, 'among ourselves');
    expect((await arrived(bot, 'among ourselves')).audience).toBe('public');
    // Within an organization, Slack sends no event about it.
    slack.channels.set(GENERAL, { name: 'general', is_org_shared: true });
    offset.ms = 60_000;
    slack.say(GENERAL, NEIGHBOUR, 'from next door', { team: OTHER_TEAM, user_team: OTHER_TEAM });
    expect((await arrived(bot, 'from next door')).audience).toBe('private');
  });

  test('looks up people’s workspace where the message lacks it', async () => {
    const bot = await start();
    slack.say(SHARED, GUEST, 'no word of my workspace', { team: null, user_team: null });
    expect((await arrived(bot, 'no word of my workspace')).author.name).toBe('Grace (of another workspace)');
  });
});

describe('accepted messages', () => {
  test('a mention that comes as two events is one message', async () => {
    const bot = await start();
    const message = slack.say(GENERAL, ADA, `<@${BOT}> hello`);
    const both = [slack.emit({ ...message, type: 'app_mention' }), slack.emit({ ...message, type: 'app_mention' })];
    await until('all are acknowledged', () => both.every((id) => slack.acks.includes(id)));
    await until('it arrives', () => bot.sink.messages.length > 0);
    expect(bot.sink.messages).toHaveLength(1);
    expect(bot.sink.duplicates).toEqual([]);
    expect(slack.callsOf('users.info').filter(({ user }) => user === ADA)).toHaveLength(1);
  });

  test('a mention only in the blocks is one message', async () => {
    const bot = await start({ table: { hear_bots: true } });
    const named = { type: 'rich_text_section', elements: [{ type: 'user', user_id: BOT }] };
    const blocks = [{ type: 'rich_text', elements: [named] }];
    const message = slack.say(GENERAL, ROBOT, 'for notifications', { blocks });
    const second = slack.emit({ ...message, type: 'app_mention' });
    await until('it is acknowledged', () => slack.acks.includes(second));
    expect(bot.sink.messages).toMatchObject([{ conversation: `slack:${TEAM}:${GENERAL}:${message.ts}` }]);
  });

  test('takes a retry when the first delivery was lost', async () => {
    const bot = await start();
    const message = slack.store(GENERAL, ADA, 'only in the retry');
    const retry = { retry_attempt: 2, retry_reason: 'timeout' };
    slack.envelope('events_api', slack.eventBody({ ...message, channel_type: 'channel' }), retry);
    await arrived(bot, 'only in the retry');
  });

  test('acknowledges an event only when stored', async () => {
    const bot = await start();
    const gate = Promise.withResolvers<void>();
    bot.sink.before = () => gate.promise;
    const message = slack.store(GENERAL, ADA, 'slowly');
    const id = slack.emit({ ...message, channel_type: 'channel' });
    await delay(150);
    expect(slack.acks).not.toContain(id);
    gate.resolve();
    await until('it is acknowledged', () => slack.acks.includes(id));
    bot.sink.before = async () => {
      throw new Error('the disk is full');
    };
    const lost = slack.emit({ ...slack.store(GENERAL, ADA, 'lost'), channel_type: 'channel' });
    await delay(200);
    expect(slack.acks).not.toContain(lost);
  });

  test('skips own messages and reads other bots if wanted', async () => {
    const bot = await start();
    slack.say(GENERAL, BOT, 'I said', { bot_id: BOT_ID });
    slack.say(GENERAL, ROBOT, 'beep', { bot_id: 'B0ROBOT01', subtype: 'bot_message', username: 'Robot' });
    expect((await arrived(bot, 'beep')).author).toEqual({ id: ROBOT, name: 'Robot', kind: 'bot' });
    await stop(bot);
    const deaf = await start({ table: { hear_bots: false } });
    slack.say(GENERAL, ROBOT, 'boop', { bot_id: 'B0ROBOT01' });
    slack.say(GENERAL, ADA, 'quiet');
    await arrived(deaf, 'quiet');
    expect(deaf.sink.messages).toHaveLength(1);
    expect(bot.sink.messages).toHaveLength(1);
  });

  test("joins, names and the like are Slack's own", async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'has joined', { subtype: 'channel_join' });
    slack.say(GENERAL, ADA, 'thread', { subtype: 'assistant_app_thread' });
    slack.say(GENERAL, ADA, 'waves', { subtype: 'me_message' });
    await arrived(bot, '_waves_');
    expect(bot.sink.messages).toHaveLength(1);
  });

  test('obeys lists of channels and people; direct messages can close', async () => {
    const bot = await start({
      table: { channels: { deny: [STAFF] }, users: { deny: [BOB] }, direct_messages: false },
    });
    slack.say(STAFF, ADA, 'secret');
    slack.say(GENERAL, BOB, 'not me');
    slack.say(DIRECT, ADA, 'psst');
    slack.say(GENERAL, ADA, 'fine');
    await arrived(bot, 'fine');
    expect(bot.sink.messages).toHaveLength(1);
  });

  test('skips events of workspaces foreign to the token', async () => {
    const bot = await start();
    const stranger = { team_id: OTHER_TEAM, context_team_id: OTHER_TEAM };
    slack.emit({ ...slack.store(GENERAL, ADA, 'elsewhere'), channel_type: 'channel' }, stranger);
    slack.say(GENERAL, ADA, 'here');
    await arrived(bot, 'here');
    expect(bot.sink.messages).toHaveLength(1);
  });
});

describe('edits and deletions', () => {
  // Shows: C8
  test('reach the conversation that holds the message', async () => {
    const bot = await start();
    const message = slack.say(GENERAL, ADA, 'I like te');
    const { conversation } = await arrived(bot, 'I like te');
    const edited = { ...message, text: 'I like tea', edited: { user: ADA, ts: `${Number(message.ts) + 5}` } };
    slack.emit({
      type: 'message',
      subtype: 'message_changed',
      channel: GENERAL,
      message: edited,
      previous_message: message,
    });
    const edit = await until('it is told', () => bot.sink.edits.find((one) => one.conversation === conversation));
    expect(edit).toMatchObject({ externalId: message.ts, parts: [{ kind: 'text', text: 'I like tea' }] });
    slack.emit({ type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: message.ts });
    await until('it is told', () => bot.sink.removals.some((one) => one.conversation === conversation));
    expect(bot.sink.removals[0]?.externalIds).toEqual([message.ts]);
  });

  test('previews are no edits, and a tombstone is a deletion', async () => {
    const bot = await start();
    const message = slack.say(GENERAL, ADA, 'see https://example.com');
    await arrived(bot, 'see https://example.com');
    const changed = { type: 'message', subtype: 'message_changed', channel: GENERAL, previous_message: message };
    slack.emit({ ...changed, message: { ...message, attachments: [{ from_url: 'https://example.com', title: 'X' }] } });
    slack.emit({ ...changed, message: { ...message, subtype: 'tombstone', user: 'USLACKBOT', text: 'gone' } });
    await until('it is told', () => bot.sink.removals.length > 0);
    expect(bot.sink.edits).toEqual([]);
  });

  test('deletes a channel’s data when the bot leaves, where wanted', async () => {
    const bot = await start({ table: { purge_on_leave: true } });
    slack.say(GENERAL, ADA, 'hello');
    const { conversation } = await arrived(bot, 'hello');
    slack.emit({ type: 'channel_left', channel: GENERAL, actor_id: ADA });
    await until('it is told', () => bot.sink.gone.includes(conversation));
  });

  test('an app removed from the workspace loses nothing at once', async () => {
    const state = createState();
    const bot = await start({ state });
    slack.say(GENERAL, ADA, 'hello');
    await arrived(bot, 'hello');
    const marks = () => state.list('slack.departures');
    const revoked = (tokens: object) => slack.emit({ type: 'tokens_revoked', tokens });
    const ids = [revoked({ oauth: [ADA], bot: [] }), revoked({ bot: [BOT] }), slack.emit({ type: 'app_uninstalled' })];
    for (const id of ids) await until('it is acknowledged', () => slack.acks.includes(id));
    expect(await marks()).toEqual([]);
    slack.world.botToken = 'another';
    revoked({ bot: [BOT] });
    await until('it is told', () => bot.refusals.length > 0);
    expect(await marks()).toHaveLength(1);
    expect(bot.sink.gone).toEqual([]);
    await stop(bot);
    slack.world.botToken = BOT_TOKEN;
    await start({ state });
    await until('the mark is gone', async () => (await marks()).length === 0);
  });
});

describe('files', () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  const share = (name: string, mimetype: string, size: number) => ({
    subtype: 'file_share',
    files: [{ id: 'F1', name, mimetype, size, url_private: `${slack.base}/files/${name}` }],
  });

  test('links images, reads texts with the token, names others', async () => {
    const bot = await start();
    slack.files.set('/files/cat.png', { body: png, type: 'image/png' });
    slack.files.set('/files/notes.md', { body: Buffer.from('# Plan\nTea.'), type: 'text/markdown' });
    slack.say(GENERAL, ADA, 'look', share('cat.png', 'image/png', png.length));
    expect((await arrived(bot, 'look')).attachments).toEqual([
      {
        kind: 'attachment',
        name: 'cat.png',
        mediaType: 'image/png',
        sizeBytes: png.length,
        reference: `channel:${slack.base}/files/cat.png`,
      },
    ]);
    slack.say(GENERAL, ADA, 'read', share('notes.md', 'text/markdown', 11));
    await arrived(bot, 'read\n[file notes.md]\n# Plan\nTea.');
    slack.say(GENERAL, ADA, 'and', share('film.mp4', 'video/mp4', 5_000_000));
    expect((await arrived(bot, 'and')).attachments[0]).toMatchObject({ name: 'film.mp4', mediaType: 'video/mp4' });
  });

  test('names files that are no images or too large', async () => {
    const bot = await start({ table: { files: { image_mb: 0.001 } } });
    slack.say(GENERAL, ADA, 'one', share('raw.heic', 'image/heic', 20));
    slack.say(GENERAL, ADA, 'two', share('huge.png', 'image/png', 9_000_000));
    expect((await arrived(bot, 'one\n[image not shown, 0.0 MB: raw.heic]')).attachments).toEqual([]);
    await arrived(bot, 'two\n[image not shown, 9.0 MB: huge.png]');
  });

  test('requests the rest of a file of another workspace', async () => {
    const bot = await start();
    slack.files.set('/files/cat.png', { body: png, type: 'image/png' });
    slack.fileInfos.set('F9', { ...share('cat.png', 'image/png', png.length).files[0], id: 'F9' });
    const bare = (id: string) => ({ id, mode: 'file_access', file_access: 'check_file_info' });
    slack.say(SHARED, GUEST, 'ours', { subtype: 'file_share', files: [bare('F9'), bare('F0')] });
    expect((await arrived(bot, 'ours')).attachments).toMatchObject([
      { name: 'cat.png', mediaType: 'image/png' },
      { name: 'F0' },
    ]);
  });

  test('the token is sent to no other server', async () => {
    const bot = await start();
    const files = [
      { id: 'F1', name: 'x.txt', mimetype: 'text/plain', size: 3, url_private: 'https://evil.example/x.txt' },
    ];
    slack.say(GENERAL, ADA, 'mine', { subtype: 'file_share', files });
    expect((await arrived(bot, 'mine')).attachments[0]).toMatchObject({ name: 'x.txt' });
  });
});

describe('missed messages', () => {
  // Shows: C2
  test('is read at the start, in channels and all threads', async () => {
    const sink = recordSink();
    const state = createState();
    const bot = await start({ sink, state });
    slack.say(GENERAL, ADA, 'before');
    const asked = slack.say(GENERAL, ADA, `<@${BOT}> a question`);
    await arrived(bot, '@strata a question');
    await stop(bot);
    slack.store(GENERAL, BOB, 'meanwhile');
    slack.store(GENERAL, BOB, 'in the thread', { thread_ts: asked.ts });
    const again = await start({ sink, state });
    await arrived(again, 'meanwhile');
    await arrived(again, 'in the thread');
    expect(sink.messages).toHaveLength(4);
    expect(sink.messages.map(({ isPast }) => isPast ?? false)).toEqual([false, false, false, false]);
  });

  // Shows: B
  test('is read page by page within the granted rate', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    slack.say(GENERAL, ADA, 'before');
    await arrived(first, 'before');
    await stop(first);
    for (let index = 0; index < 7; index += 1) slack.store(GENERAL, BOB, `missed ${index}`);
    const table = { catch_up: { page: 3, requests_per_minute: 100 } };
    const again = await start({ sink, table });
    await arrived(again, 'missed 6');
    expect(sink.messages.filter(({ text }) => text.startsWith('missed')).map(({ text }) => text)).toEqual(
      Array.from({ length: 7 }, (_, index) => `missed ${index}`),
    );
    expect(slack.callsOf('conversations.history').every(({ limit }) => Number(limit) === 3)).toBe(true);
  });

  test('tells of edits and deletions too', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    const texts = ['I like te', 'forget me', 'stays', `<@${BOT}> gone with its thread`];
    const [edited, gone, stays, root] = texts.map((text) => slack.say(GENERAL, ADA, text));
    const reply = slack.say(GENERAL, BOB, 'stays as well', { thread_ts: root?.ts });
    await until('all arrive', () => sink.messages.length === 5);
    await stop(first);
    const place = (message: typeof edited) => slack.messages.findIndex(({ ts }) => ts === message?.ts);
    const change = { text: 'I like tea', edited: { user: ADA, ts: `${Number(edited?.ts) + 5}` } };
    slack.messages[place(edited)] = { ...slack.messages[place(edited)], ...change } as never;
    slack.messages[place(root)] = { ...slack.messages[place(root)], subtype: 'tombstone', text: 'gone' } as never;
    slack.messages.splice(place(gone), 1);
    await start({ sink });
    await until('the deletions are told', () => sink.removals.length > 3);
    expect(sink.edits).toContainEqual(
      expect.objectContaining({ externalId: edited?.ts, parts: [{ kind: 'text', text: 'I like tea' }] }),
    );
    const removed = new Set(sink.removals.flatMap(({ externalIds }) => externalIds));
    expect(removed).toEqual(new Set([gone?.ts, root?.ts]));
    expect([stays, reply].some((message) => removed.has(message?.ts ?? ''))).toBe(false);
    expect(sink.removals.map(({ conversation }) => conversation)).toContain(`slack:${TEAM}:${GENERAL}:${root?.ts}`);
  });

  test('is read where the bot was invited or written to', async () => {
    const sink = recordSink();
    slack.store(STAFF, BOB, 'long ago', {});
    const first = await start({ sink });
    slack.say(GENERAL, ADA, 'before');
    await arrived(first, 'before');
    await stop(first);
    slack.messages[0] = { ...slack.messages[0], ts: `${Date.now() / 1000 - 3600}` } as never;
    slack.store(DIRECT, ADA, 'are you there?');
    slack.store(STAFF, BOB, `<@${BOT}> welcome`);
    const again = await start({ sink });
    expect((await arrived(again, 'are you there?')).audience).toBe('dm');
    expect(await arrived(again, '@strata welcome')).toMatchObject({ addressesBot: true, audience: 'private' });
    expect(sink.messages.map(({ text }) => text)).not.toContain('long ago');
  });

  test('is not read by a bot that keeps nothing yet', async () => {
    slack.store(GENERAL, BOB, 'before its time');
    const bot = await start();
    slack.say(STAFF, ADA, 'now');
    await arrived(bot, 'now');
    expect(slack.callsOf('users.conversations')).toEqual([]);
    expect(bot.sink.messages).toHaveLength(1);
  });

  test('is read though Slack fails for a while', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    slack.say(GENERAL, ADA, 'before');
    await arrived(first, 'before');
    await stop(first);
    slack.store(GENERAL, BOB, 'missed');
    slack.fail('conversations.history', { status: 503 }, { lost: true }, { error: 'internal_error' });
    await arrived(await start({ sink }), 'missed');
  });

  test('is read in older threads, those with news first', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    const quiet = slack.say(GENERAL, ADA, `<@${BOT}> quiet`);
    const root = slack.say(GENERAL, ADA, 'before');
    await arrived(first, 'before');
    await stop(first);
    slack.store(GENERAL, BOB, 'the first reply', { thread_ts: root.ts });
    const again = await start({ sink });
    const reply = await arrived(again, '[the thread is about this message of Ada]\n> before\nthe first reply');
    expect(reply.conversation).toBe(`slack:${TEAM}:${GENERAL}:${root.ts}`);
    const asked = await until('the quiet one is looked at', () => {
      const threads = slack.callsOf('conversations.replies').map(({ ts }) => ts);
      return threads.includes(quiet.ts) && threads;
    });
    expect(asked.indexOf(root.ts)).toBeLessThan(asked.indexOf(quiet.ts));
  });

  test('waits as long as Slack asks at the limit', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    slack.say(GENERAL, ADA, 'before');
    await arrived(first, 'before');
    await stop(first);
    slack.store(GENERAL, BOB, 'missed');
    slack.fail('conversations.history', { retryAfter: 1 });
    const began = Date.now();
    const again = await start({ sink });
    await arrived(again, 'missed');
    expect(Date.now() - began).toBeGreaterThan(900);
  });
});
