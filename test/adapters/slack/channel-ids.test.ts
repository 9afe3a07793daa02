import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { forgetWorkspace } from '../../../adapters/channels/slack/inbound/leaving.ts';
import { createChannelIds } from '../../../adapters/channels/slack/places/channel-ids.ts';
import { parseKey } from '../../../src/adapter-kit.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { recordLog } from '../../fixtures/channel-kit.ts';
import { ADA, BOB, BOT, DIRECT, GENERAL, GROUP, type SlackDouble, STAFF, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, type Opened, recordSink, until } from '../../fixtures/slack/kit.ts';

/** Slack gives a channel another id: when it is shared, converted, or moved. */

const MOVED = 'C0MOVED01';
const AGAIN = 'C0AGAIN01';

let slack: SlackDouble;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});

const known = (bot: Opened, count: number) =>
  until('the change is known', () => bot.log.lines.filter(({ message }) => message.includes('a new id'))[count - 1]);
const post = async ({ channel }: Opened, conversation: Parameters<Opened['channel']['post']>[0]['conversation']) => {
  const body = { kind: 'text', text: 'still here' } as const;
  const { signal } = new AbortController();
  return await channel.post({ conversation, nonce: '1', body, replyTo: null, attempt: 1 }, { signal });
};

test('events that wait for the same query keep their order', async () => {
  const state = createState();
  const answers = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const waiting = [...answers];
  const slow = { ...state, get: async () => await (waiting.shift()?.promise ?? undefined) };
  const ids = createChannelIds({
    state: slow,
    clock: createSystemClock(),
    log: recordLog(),
    teamId: TEAM,
    sink: recordSink(),
    web: { knows: async () => true },
  });
  const order: string[] = [];
  const both = ['one', 'two'].map((event) => ids.first(GENERAL).then(() => order.push(event)));
  for (const { resolve } of answers.reverse()) {
    await delay(0);
    resolve(undefined);
  }
  await Promise.all(both);
  expect(order).toEqual(['one', 'two']);
});

test('events that wait for the same search keep their order', async () => {
  const searches = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const waiting = [...searches];
  const { conversations } = recordSink();
  const slow: typeof conversations = {
    ...conversations,
    async *within() {
      await waiting.shift()?.promise;
      yield* [];
    },
  };
  const ids = createChannelIds({
    state: createState(),
    clock: createSystemClock(),
    log: recordLog(),
    teamId: TEAM,
    sink: { conversations: slow },
    web: { knows: async () => true },
  });
  const order: string[] = [];
  const both = ['one', 'two'].map((event) => ids.first(GENERAL).then(() => order.push(event)));
  for (const { resolve } of searches.reverse()) {
    await delay(5);
    resolve();
  }
  await Promise.all(both);
  expect(order).toEqual(['one', 'two']);
});

test('a change is as old as the message showing it', async () => {
  const [closed, open] = ['G0PLANS01', 'C0PLANS01'];
  const sink = recordSink();
  const system = createSystemClock();
  const stored = { ...sink.conversations, within: () => [{ conversation: closed }] };
  const ids = createChannelIds({
    state: createState(),
    log: recordLog(),
    teamId: TEAM,
    web: { knows: async (id: string) => id !== closed },
    clock: { ...system, now: () => system.now() + HOUR_MS },
    sink: { conversations: stored as never },
  });
  const now = Date.now() / 1000;
  expect(await ids.first(open, now)).toBe(closed);
  await ids.changed({ from: open, to: AGAIN, at: now + 60 });
  expect(await ids.current(closed)).toBe(AGAIN);
});

describe('a channel with another id', () => {
  test('continues its conversation, and posts under the new id', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'before');
    const { conversation } = await arrived(bot, 'before');
    slack.renumber(GENERAL, MOVED);
    slack.say(MOVED, ADA, 'right behind');
    expect((await arrived(bot, 'right behind')).conversation).toBe(conversation);
    await post(bot, conversation);
    expect(slack.posted(MOVED)).toHaveLength(1);
    expect(slack.posted(GENERAL)).toEqual([]);
    expect(await bot.channel.linkTo({ conversation, externalId: slack.posted(MOVED)[0]?.ts ?? '' })).toContain(MOVED);
  });

  test('continues its threads', async () => {
    const bot = await start();
    const { ts } = slack.say(GENERAL, ADA, `<@${BOT}> before`);
    const { conversation } = await arrived(bot, '@strata before');
    slack.renumber(GENERAL, MOVED);
    slack.say(MOVED, ADA, 'after', { thread_ts: ts });
    expect((await arrived(bot, 'after')).conversation).toBe(conversation);
    await post(bot, conversation);
    expect(slack.posted(MOVED)[0]).toMatchObject({ thread_ts: ts });
  });

  test('applies edits and deletions of earlier messages', async () => {
    const bot = await start();
    const first = slack.say(GENERAL, ADA, 'orange');
    const second = slack.say(GENERAL, ADA, 'secret');
    const { conversation } = await arrived(bot, 'secret');
    await arrived(bot, 'orange');
    slack.renumber(GENERAL, MOVED);
    const message = { ...first, channel: undefined, text: 'blue', edited: { user: ADA, ts: first.ts } };
    slack.emit({ type: 'message', subtype: 'message_changed', channel: MOVED, message, ts: first.ts });
    slack.emit({ type: 'message', subtype: 'message_deleted', channel: MOVED, deleted_ts: second.ts, ts: first.ts });
    await until('the edit', () => bot.sink.edits.find((edit) => edit.conversation === conversation));
    await until('the removal', () =>
      bot.sink.removals.find((one) => one.conversation === conversation && one.externalIds.includes(second.ts)),
    );
  });

  test('uses the kept text of earlier messages in quotations', async () => {
    const bot = await start();
    const { ts } = slack.say(GENERAL, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    slack.renumber(GENERAL, MOVED);
    slack.say(STAFF, BOB, 'see', { attachments: [{ channel_id: MOVED, ts, text: 'one', is_share: true }] });
    const asked = await until('the quotation', () => bot.sink.quotations.find((one) => one.externalId === ts));
    expect(asked.conversations).toContain(conversation);
  });

  test('receives files', async () => {
    const bot = await start();
    slack.renumber(GENERAL, MOVED);
    await known(bot, 1);
    const body = { kind: 'file', name: 'reply.md', text: 'long', mediaType: 'text/markdown' } as const;
    const conversation = parseKey(`slack:${TEAM}:${GENERAL}`).key;
    const { signal } = new AbortController();
    await bot.channel.post({ conversation, nonce: '1', body, replyTo: null, attempt: 1 }, { signal });
    expect(slack.uploads).toMatchObject([{ name: 'reply.md', channel: MOVED }]);
  });

  test('remembers it after a restart, and reads what it missed', async () => {
    const state = createState();
    const sink = recordSink();
    const bot = await start({ state, sink });
    slack.say(GENERAL, ADA, 'before');
    const { conversation } = await arrived(bot, 'before');
    slack.renumber(GENERAL, MOVED);
    await known(bot, 1);
    await stop(bot);
    slack.store(MOVED, BOB, 'missed');
    const again = await start({ state, sink });
    expect((await arrived(again, 'missed')).conversation).toBe(conversation);
    expect(sink.messages.map(({ text }) => text)).toEqual(['before', 'missed']);
  });

  test('may change it again, and back', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    for (const [from, to] of [
      [GENERAL, MOVED],
      [MOVED, AGAIN],
      [AGAIN, GENERAL],
    ] as const) {
      slack.renumber(from, to);
      slack.say(to, ADA, `in ${to}`);
      expect((await arrived(bot, `in ${to}`)).conversation).toBe(conversation);
    }
    await post(bot, conversation);
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('ignores a late redelivery of an older change', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    slack.renumber(GENERAL, MOVED);
    slack.renumber(MOVED, AGAIN);
    await known(bot, 2);
    slack.emit({ type: 'channel_id_changed', old_channel_id: GENERAL, new_channel_id: MOVED });
    await known(bot, 3);
    await post(bot, conversation);
    expect(slack.posted(AGAIN)).toHaveLength(1);
  });

  test('ignores a late redelivery after it was changed back', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    const times: string[] = [];
    for (const [from, to] of [
      [GENERAL, MOVED],
      [MOVED, AGAIN],
      [AGAIN, GENERAL],
    ] as const) {
      times.push(slack.renumber(from, to));
    }
    await known(bot, 3);
    slack.emit({ type: 'channel_id_changed', old_channel_id: GENERAL, new_channel_id: MOVED, event_ts: times[0] });
    await known(bot, 4);
    await post(bot, conversation);
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('is found if the older of two changes arrives last', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    const first = slack.renumber(GENERAL, MOVED, { emits: false });
    slack.renumber(MOVED, AGAIN);
    await known(bot, 1);
    slack.emit({ type: 'channel_id_changed', old_channel_id: GENERAL, new_channel_id: MOVED, event_ts: first });
    await known(bot, 2);
    slack.say(AGAIN, ADA, 'two');
    expect((await arrived(bot, 'two')).conversation).toBe(conversation);
    await post(bot, conversation);
    expect(slack.posted(AGAIN)).toHaveLength(1);
  });

  test('also changes what was stored under the new id before', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'one');
    await arrived(bot, 'one');
    slack.renumber(GENERAL, MOVED, { emits: false });
    const early = slack.say(MOVED, ADA, 'too early');
    const { conversation } = await arrived(bot, 'too early');
    slack.emit({ type: 'channel_id_changed', old_channel_id: GENERAL, new_channel_id: MOVED });
    await known(bot, 1);
    slack.emit({ type: 'message', subtype: 'message_deleted', channel: MOVED, deleted_ts: early.ts, ts: early.ts });
    await until('the removal', () => bot.sink.removals.find((one) => one.conversation === conversation));
    slack.say(MOVED, ADA, 'made private', { subtype: 'channel_convert_to_private' });
    await until('it is private', () =>
      bot.sink.audiences.find((one) => one.conversation === conversation && one.audience === 'private'),
    );
  });

  test('becomes private with a new id that is private', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    slack.channels.set(GENERAL, { name: 'general', is_private: true });
    slack.renumber(GENERAL, MOVED);
    await until('it is private', () =>
      bot.sink.audiences.find((one) => one.conversation === conversation && one.audience === 'private'),
    );
  });

  test('takes commands to its conversation', async () => {
    const bot = await start();
    slack.say(STAFF, ADA, 'one');
    const { conversation } = await arrived(bot, 'one');
    slack.renumber(STAFF, MOVED);
    await known(bot, 1);
    slack.slash('status', { channel_id: MOVED });
    await until('the command', () => bot.sink.commands.find((command) => command.conversation === conversation));
  });

  test('is unknown once the workspace has removed the app', async () => {
    const state = createState();
    const bot = await start({ state });
    slack.renumber(GENERAL, MOVED);
    await known(bot, 1);
    await until('it is stored', async () => (await state.list('slack.channels')).length === 2);
    await forgetWorkspace({ sink: bot.sink, state, log: recordLog() }, TEAM);
    expect(await state.list('slack.channels')).toEqual([]);
  });
});

describe('a private channel that got another id while the bot was away', () => {
  const [PRIVATE, OPEN] = ['G0PLANS01', 'C0PLANS01'];

  /** The bot has stored a message of the channel, and is stopped. */
  async function leave() {
    slack.channels.set(PRIVATE, { name: 'plans', is_private: true });
    const kept = { state: createState(), sink: recordSink() };
    const bot = await start(kept);
    const { ts } = slack.say(PRIVATE, ADA, 'before', { channel_type: 'group' });
    const { conversation } = await arrived(bot, 'before');
    await stop(bot);
    return { kept, conversation, ts };
  }

  test('continues its conversation', async () => {
    const { kept, conversation, ts } = await leave();
    slack.renumber(PRIVATE, OPEN, { emits: false });
    slack.store(OPEN, BOB, 'missed');
    const bot = await start(kept);
    expect((await arrived(bot, 'missed')).conversation).toBe(conversation);
    slack.say(OPEN, ADA, 'live');
    expect((await arrived(bot, 'live')).conversation).toBe(conversation);
    slack.emit({ type: 'message', subtype: 'message_deleted', channel: OPEN, deleted_ts: ts, ts });
    await until('the removal', () => bot.sink.removals.find((one) => one.conversation === conversation));
    await post(bot, conversation);
    expect(slack.posted(OPEN)).toHaveLength(1);
  });

  test('continues with the first event, without a catch-up', async () => {
    const { kept, conversation } = await leave();
    slack.renumber(PRIVATE, OPEN, { emits: false });
    const bot = await start({ ...kept, table: { catch_up: { messages: 0 } } });
    slack.say(OPEN, ADA, 'live');
    expect((await arrived(bot, 'live')).conversation).toBe(conversation);
  });

  test('gets the posts that it is owed, without an event', async () => {
    const { kept, conversation } = await leave();
    slack.renumber(PRIVATE, OPEN, { emits: false });
    const bot = await start({ ...kept, table: { catch_up: { messages: 0 } } });
    await post(bot, conversation);
    expect(slack.posted(OPEN)).toHaveLength(1);
  });

  test('has its events acknowledged before Slack tells', async () => {
    const { kept, conversation } = await leave();
    slack.renumber(PRIVATE, OPEN, { emits: false });
    const bot = await start({ ...kept, table: { catch_up: { messages: 0 } } });
    const gate = Promise.withResolvers<void>();
    slack.delays.set('conversations.info', gate.promise);
    const id = slack.emit({ ...slack.store(OPEN, ADA, 'live'), channel_type: 'channel' });
    await until('it is acknowledged', () => slack.acks.includes(id), 2_500).finally(gate.resolve);
    expect((await arrived(bot, 'live')).conversation).toBe(conversation);
  });

  test('stays itself if Slack refuses to tell', async () => {
    const { kept, conversation } = await leave();
    slack.channels.set(OPEN, { name: 'other' });
    const bot = await start({ ...kept, table: { catch_up: { messages: 0 } } });
    slack.fail('conversations.info', ...Array.from({ length: 20 }, () => ({ error: 'missing_scope' })));
    slack.say(OPEN, ADA, 'elsewhere');
    expect((await arrived(bot, 'elsewhere')).conversation).toBe(`slack:${TEAM}:${OPEN}`);
    slack.fail('chat.postMessage', { error: 'channel_not_found' });
    await expect(post(bot, conversation)).rejects.toThrow('the channel does not exist');
    expect(slack.posted(OPEN)).toEqual([]);
  });

  test('stays itself while Slack knows both ids', async () => {
    const { kept, conversation } = await leave();
    slack.channels.set(OPEN, { name: 'other' });
    const bot = await start(kept);
    slack.say(OPEN, ADA, 'elsewhere');
    expect((await arrived(bot, 'elsewhere')).conversation).toBe(`slack:${TEAM}:${OPEN}`);
    await post(bot, conversation);
    expect(slack.posted(PRIVATE)).toHaveLength(1);
  });

  test('is not found by an id in a text', async () => {
    const bot = await start();
    const forged = `G${GENERAL.slice(1)}`;
    slack.say(GENERAL, ADA, `see <#${forged}>`);
    const { conversation } = await until('the message', () => bot.sink.messages[0]);
    expect(conversation).toBe(`slack:${TEAM}:${GENERAL}`);
    slack.say(GENERAL, ADA, 'and on');
    expect((await arrived(bot, 'and on')).conversation).toBe(conversation);
    expect(bot.log.lines.filter(({ message }) => message.includes('a new id'))).toEqual([]);
  });
});

describe('a direct message that becomes a group', () => {
  test('begins a conversation of its own', async () => {
    const bot = await start({ table: { direct_conversation: 'person' } });
    const said = slack.say(DIRECT, ADA, 'between us');
    const direct = await arrived(bot, 'between us');
    slack.channels.set(DIRECT, { name: 'mpdm-ada--bob--strata-1', is_mpim: true, is_private: true });
    slack.renumber(DIRECT, MOVED);
    slack.say(MOVED, BOB, 'hello', { channel_type: 'mpim' });
    expect(await arrived(bot, 'hello')).toMatchObject({ conversation: `slack:${TEAM}:${MOVED}`, audience: 'private' });
    await expect(post(bot, direct.conversation)).rejects.toThrow('the channel does not exist');
    expect(slack.posted(MOVED)).toEqual([]);
    slack.emit({ type: 'message', subtype: 'message_deleted', channel: MOVED, deleted_ts: said.ts, ts: said.ts });
    await until('the removal', () => bot.sink.removals.find((one) => one.conversation === direct.conversation));
    const changes = bot.sink.audiences.filter(({ conversation }) => conversation === direct.conversation);
    expect(changes).not.toContainEqual(expect.objectContaining({ audience: 'private' }));
  });
});

describe('a group that becomes a channel', () => {
  test('stays private', async () => {
    const bot = await start();
    slack.say(GROUP, ADA, 'among us');
    const { conversation } = await arrived(bot, 'among us');
    slack.channels.set(GROUP, { name: 'plans', is_private: true });
    slack.renumber(GROUP, MOVED);
    slack.say(MOVED, ADA, 'more of us', { channel_type: 'group' });
    expect(await arrived(bot, 'more of us')).toMatchObject({ conversation, audience: 'private' });
  });
});
