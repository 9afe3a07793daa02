import { describe, expect, test } from 'vitest';
import type { StateStore } from '../../../src/adapter-kit.ts';
import { ADA, BOB, BOT, DIRECT, GENERAL, type SlackDouble, STAFF } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, type Opened, type OpenOptions, recordSink, until } from '../../fixtures/slack/kit.ts';

/** Events that arrive while Slack responds slowly, or not at all. */

let slack: SlackDouble;
const bots = slackForEachTest((fresh) => {
  slack = fresh;
});

async function start(options: OpenOptions = {}): Promise<Opened> {
  const opened = await bots.start(options);
  await until('a socket is open', () => slack.sockets() === 1);
  return opened;
}
const acknowledged = (id: string) => until('it is acknowledged', () => slack.acks.includes(id));
const note = Buffer.from('A note.');
const withFile = () => ({
  subtype: 'file_share',
  files: [
    { id: 'F1', name: 'cat.txt', mimetype: 'text/plain', size: note.length, url_private: `${slack.base}/files/cat` },
  ],
});
const emit = (channel: string, text: string, more = {}) => {
  const message = slack.store(channel, ADA, text, more);
  return { id: slack.emit({ ...message, channel_type: channel === DIRECT ? 'im' : 'channel' }), ts: message.ts };
};

/** Below every time limit of a call that is not a lookup, also on a busy machine. */
const SOON_MS = 4_000;

describe('a live message', () => {
  test('is acknowledged and stored while every lookup hangs', async () => {
    const bot = await start();
    for (const method of ['users.info', 'conversations.info', 'conversations.replies', 'conversations.history']) {
      slack.hanging.add(method);
    }
    const root = slack.store(GENERAL, BOB, 'the beginning');
    const began = Date.now();
    const sent = [
      emit(GENERAL, `<@${BOT}> hello <@${BOB}>`),
      emit(DIRECT, 'directly'),
      emit(GENERAL, 'in a thread', { thread_ts: root.ts }),
    ];
    for (const { id } of sent) await acknowledged(id);
    expect(Date.now() - began).toBeLessThan(SOON_MS);
    await until('all are stored', () => bot.sink.messages.length === 3);
    expect(Date.now() - began).toBeLessThan(SOON_MS);
    expect(bot.sink.messages.map(({ author }) => author.name)).toEqual([ADA, ADA, ADA]);
  });

  test('whose file hangs is acknowledged, and stored without it', async () => {
    const bot = await start();
    slack.hanging.add('files');
    const { id } = emit(GENERAL, 'look', withFile());
    const began = Date.now();
    await acknowledged(id);
    expect(Date.now() - began).toBeLessThan(SOON_MS);
    emit(STAFF, 'elsewhere');
    await arrived(bot, 'elsewhere');
    expect(Date.now() - began).toBeLessThan(SOON_MS);
    expect((await arrived(bot, 'look')).attachments).toMatchObject([{ name: 'cat.txt' }]);
  });

  test('that was acknowledged is stored by the next start', async () => {
    const sink = recordSink();
    const state = createState();
    slack.files.set('/files/cat', { body: note, type: 'text/plain' });
    const first = await start({ sink, state, table: { catch_up: { messages: 0 } } });
    slack.hanging.add('files');
    await acknowledged(emit(GENERAL, 'look', withFile()).id);
    await acknowledged(emit(GENERAL, 'and this').id);
    // As if killed: nothing it does afterwards counts.
    await bots.stop(first);
    expect(sink.messages).toEqual([]);
    slack.hanging.clear();
    const again = await start({ sink, state, table: { catch_up: { messages: 0 } } });
    await arrived(again, 'and this');
    expect(sink.messages.map(({ text }) => text)).toEqual(['look\n[file cat.txt]\nA note.', 'and this']);
    await until('nothing is left', async () => (await state.list('slack.inbox')).length === 0);
  });

  test('that is parked is stored though the store fails briefly', async () => {
    const bot = await start();
    slack.hanging.add('users.info');
    let failures = 2;
    bot.sink.before = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the disk is full');
    };
    await acknowledged(emit(GENERAL, 'in the end').id);
    await arrived(bot, 'in the end');
  });

  test('keeps its place in its conversation', async () => {
    const bot = await start();
    slack.hanging.add('files');
    emit(GENERAL, 'first', withFile());
    emit(GENERAL, 'second');
    await until('both are stored', () => bot.sink.messages.length === 2);
    expect(bot.sink.messages.map(({ text }) => text.split('\n')[0])).toEqual(['first', 'second']);
  });

  test('is asked about once, however often it comes', async () => {
    const bot = await start();
    slack.hanging.add('users.info');
    const message = slack.store(GENERAL, ADA, 'again and again');
    const ids = Array.from({ length: 20 }, () => slack.emit({ ...message, channel_type: 'channel' }));
    for (const id of ids) await acknowledged(id);
    await arrived(bot, 'again and again');
    expect(bot.sink.messages).toHaveLength(1);
    expect(slack.callsOf('conversations.info')).toHaveLength(1);
  });

  test('that is deleted while it waits stays deleted', async () => {
    const state = createState();
    const bot = await start({ state, table: { catch_up: { messages: 0 } } });
    const moved = 'C0MOVED01';
    slack.renumber(GENERAL, moved);
    await until('the change is known', async () => (await state.list('slack.channels')).length === 2);
    slack.hanging.add('files');
    const { id, ts } = emit(moved, 'forget me', withFile());
    await acknowledged(id);
    expect(await state.list('slack.inbox')).toHaveLength(1);
    await acknowledged(slack.emit({ type: 'message', subtype: 'message_deleted', channel: moved, deleted_ts: ts }));
    expect(JSON.stringify(await state.list('slack.inbox'))).not.toContain('forget me');
    await until('the bot is told', () => bot.sink.removals.some(({ externalIds }) => externalIds.includes(ts)));
  });

  test('that is deleted while it waits does not come back', async () => {
    const state = createState();
    const sink = recordSink();
    const bot = await start({ sink, state, table: { catch_up: { messages: 0 } } });
    slack.hanging.add('files');
    const { id, ts } = emit(GENERAL, 'forget me', withFile());
    await acknowledged(id);
    await acknowledged(slack.emit({ type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: ts }));
    expect(JSON.stringify(await state.list('slack.inbox'))).not.toContain('forget me');
    await until('the bot is told', () => bot.sink.removals.some(({ externalIds }) => externalIds.includes(ts)));
  });

  test('that is stored during its deletion leaves no mark', async () => {
    const kept = createState();
    const lookup = Promise.withResolvers<void>();
    const isEmpty = async () => (await kept.list('slack.inbox')).length === 0;
    const list: StateStore['list'] = async (namespace) => {
      const rows = await kept.list(namespace);
      if (namespace !== 'slack.inbox' || rows.length === 0) return rows;
      lookup.resolve();
      await until('it is stored', isEmpty);
      return rows;
    };
    const bot = await start({ state: { ...kept, list }, table: { catch_up: { messages: 0 } } });
    slack.delays.set('users.info', lookup.promise);
    const { id, ts } = emit(GENERAL, 'forget me');
    await acknowledged(id);
    expect(await isEmpty()).toBe(false);
    await acknowledged(slack.emit({ type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: ts }));
    await until('the bot is told', () => bot.sink.removals.some(({ externalIds }) => externalIds.includes(ts)));
    expect(await kept.list('slack.inbox')).toEqual([]);
  });

  test('that comes again after its deletion stays deleted', async () => {
    const state = createState();
    await start({ state, table: { catch_up: { messages: 0 } } });
    slack.hanging.add('files');
    const message = slack.store(GENERAL, ADA, 'forget me', withFile());
    const heard = { ...message, channel_type: 'channel' };
    await acknowledged(slack.emit(heard));
    const deletion = { type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: message.ts };
    await acknowledged(slack.emit(deletion));
    await acknowledged(slack.emit(heard));
    expect(await state.list('slack.inbox')).toMatchObject([{ value: { event: null } }]);
  });

  test('that waits in one gateway is deleted by another', async () => {
    const [state, table] = [createState(), { catch_up: { messages: 0 } }];
    const storing = await start({ state, table });
    const hearing = await bots.start({ state, table });
    await until('both are connected', () => slack.sockets() === 2);
    /** Slack sends one event to each in turn. The next one goes to this bot. */
    const isNext = async (bot: Opened) => {
      for (let probe = 0; ; probe += 1) {
        const text = `probe ${probe}`;
        emit(STAFF, text);
        const has = ({ sink }: Opened) => sink.messages.some((message) => message.text === text);
        await until('one hears it', () => has(storing) || has(hearing));
        if (!has(bot)) return;
      }
    };
    slack.hanging.add('files');
    await isNext(storing);
    const { id, ts } = emit(GENERAL, 'forget me', withFile());
    await acknowledged(id);
    await isNext(hearing);
    await acknowledged(slack.emit({ type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: ts }));
    // One that starts meanwhile leaves the mark to the one that stores.
    await bots.start({ state, table });
    slack.hanging.clear();
    await until('it is stored', () => storing.sink.messages.some(({ externalId }) => externalId === ts));
    await until('it is deleted', () => storing.sink.removals.some(({ externalIds }) => externalIds.includes(ts)));
  });

  test('that two gateways store is kept', async () => {
    const [state, table] = [createState(), { catch_up: { messages: 0 } }];
    const first = await start({ state, table });
    slack.hanging.add('files');
    const { id, ts } = emit(GENERAL, 'keep me', withFile());
    await acknowledged(id);
    const second = await bots.start({ state, table });
    for (const { sink } of [first, second]) {
      await until('it is stored', () => sink.messages.some(({ externalId }) => externalId === ts));
    }
    for (const { channel } of [first, second]) await channel.stop();
    expect([...first.sink.removals, ...second.sink.removals]).toEqual([]);
  });

  test('that is deleted after a restart does not come back', async () => {
    const options = { sink: recordSink(), state: createState(), table: { catch_up: { messages: 0 } } };
    const first = await start(options);
    slack.hanging.add('files');
    const { id, ts } = emit(GENERAL, 'forget me', withFile());
    await acknowledged(id);
    await bots.stop(first);
    await start(options);
    await acknowledged(slack.emit({ type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: ts }));
    expect(JSON.stringify(await options.state.list('slack.inbox'))).not.toContain('forget me');
    await until('nothing is left', async () => (await options.state.list('slack.inbox')).length === 0);
  });

  test('that is deleted while the store fails is deleted later', async () => {
    const table = { catch_up: { messages: 0 } };
    const kept = createState();
    const gate = Promise.withResolvers<void>();
    const state = {
      ...kept,
      async get(namespace: string, key: string) {
        if (namespace === 'slack.channels') await gate.promise;
        return await kept.get(namespace, key);
      },
    };
    const sink = recordSink();
    let failures = 0;
    const removed = async () => {
      failures += 1;
      throw new Error('the disk is full');
    };
    const first = await start({ sink: { ...sink, removed }, state, table });
    const { ts } = slack.store(GENERAL, ADA, 'forget me');
    await acknowledged(slack.emit({ type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: ts }));
    gate.resolve();
    await until('it fails', () => failures > 0);
    // As if killed.
    await bots.stop(first);
    await start({ sink, state: kept, table });
    await until('the bot is told', () => sink.removals.some(({ externalIds }) => externalIds.includes(ts)), 5_000);
  });

  test('does not wait for missed messages', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    for (const channel of [GENERAL, STAFF, DIRECT]) emit(channel, `before in ${channel}`);
    await until('all arrive', () => sink.messages.length === 3);
    await bots.stop(first);
    for (const method of ['conversations.history', 'conversations.replies']) slack.hanging.add(method);
    const bot = await start({ sink });
    const began = Date.now();
    for (const channel of [GENERAL, STAFF, DIRECT]) await acknowledged(emit(channel, `live in ${channel}`).id);
    for (const channel of [GENERAL, STAFF, DIRECT]) await arrived(bot, `live in ${channel}`);
    expect(Date.now() - began).toBeLessThan(SOON_MS);
  });

  test('is stored while eighty threads wait to be read', async () => {
    const sink = recordSink();
    const first = await start({ sink });
    const roots = Array.from({ length: 80 }, (_, index) => emit(GENERAL, `<@${BOT}> thread ${index}`));
    await until('all arrive', () => sink.messages.length === 80);
    await bots.stop(first);
    for (const { ts } of roots) slack.store(GENERAL, BOB, 'a reply', { thread_ts: ts });
    slack.store(DIRECT, ADA, 'a direct question');
    const threads = Promise.withResolvers<void>();
    slack.delays.set('conversations.replies', threads.promise);
    const bot = await start({ sink });
    const live = Array.from({ length: 12 }, (_, index) => emit(GENERAL, `<@${BOT}> live ${index}`));
    for (const { id } of live) await acknowledged(id);
    await until('all are stored', () => live.every(({ ts }) => sink.messages.some((one) => one.externalId === ts)));
    await arrived(bot, 'a direct question');
    expect(sink.messages.filter(({ text }) => text.endsWith('a reply'))).toEqual([]);
    threads.resolve();
    await until('a reply arrives', () => sink.messages.some(({ text }) => text.endsWith('a reply')));
  });

  test('says by the event that its channel is shared', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'for the workspace');
    expect(await arrived(bot, 'for the workspace')).toMatchObject({ audience: 'public' });
    const shared = slack.store(GENERAL, ADA, 'for others too');
    slack.emit({ ...shared, channel_type: 'channel' }, { is_ext_shared_channel: true });
    expect(await arrived(bot, 'for others too')).toMatchObject({ audience: 'private' });
  });
});

describe('events that are not stored', () => {
  test('is counted with its reason', async () => {
    const bot = await start({ table: { hear_bots: false, users: { deny: [BOB] } } });
    slack.say(GENERAL, BOT, 'I said');
    slack.say(GENERAL, ADA, 'beep', { bot_id: 'B0ROBOT01', subtype: 'bot_message' });
    slack.say(GENERAL, BOB, 'not me');
    slack.say(GENERAL, ADA, 'has joined', { subtype: 'channel_join' });
    slack.say(GENERAL, ADA, '');
    slack.emit({ type: 'message', channel: GENERAL, ts: 'x', text: 'odd' });
    slack.emit({ ...slack.store(GENERAL, ADA, 'elsewhere') }, { team_id: 'T0OTHER01', context_team_id: 'T0OTHER01' });
    await until('all are counted', () => bot.sink.drops.length === 7);
    expect(bot.sink.drops.map(({ reason }) => reason).toSorted()).toEqual([
      'bot',
      'empty',
      'malformed',
      'note',
      'own',
      'unplaced',
      'unserved',
    ]);
    expect(bot.sink.drops.every(({ channel }) => channel === GENERAL)).toBe(true);
  });
});
