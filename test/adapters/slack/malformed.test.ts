import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADA, BOB, DIRECT, GENERAL, type SlackDouble, signed, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, type Opened, until } from '../../fixtures/slack/kit.ts';
import { freePort } from '../../support/port.ts';

let slack: SlackDouble;
const bots = slackForEachTest((fresh) => {
  slack = fresh;
});
const start = (table: Record<string, unknown> = {}) => bots.start({ table });
const warned = ({ sink }: Opened) => sink.drops.filter(({ reason }) => reason === 'malformed');

describe('a malformed packet', () => {
  test('on a socket is logged, acknowledged and survived', async () => {
    const bot = await start();
    await until('a socket is open', () => slack.sockets() === 1);
    for (const frame of ['null', '7', '"x"', '[]', '{', '{}', '{"type":null}', Buffer.from([1, 2, 3])])
      slack.frame(frame);
    const broken = [null, [], 'x', 7, { type: 'event_callback' }, slack.eventBody(null as never), slack.eventBody({})];
    const ids = broken.map((payload) => slack.envelope('events_api', payload as never));
    ids.push(slack.envelope('events_api', undefined as never), slack.envelope('interactive', null as never));
    for (const type of ['close', 'error', 'ws_message', 'disconnected', 'slack_event', 'unheard_of']) {
      ids.push(slack.envelope(type, {}));
    }
    slack.say(GENERAL, ADA, 'still here');
    await arrived(bot, 'still here');
    await until('all are acknowledged', () => ids.every((id) => slack.acks.includes(id)));
    expect(slack.opened()).toBe(1);
    expect(warned(bot).length).toBe(8 + ids.length);
  });

  test('over HTTP is refused and survived', async () => {
    const port = await freePort();
    const bot = await start({ transport: 'http', http: { host: '127.0.0.1', port } });
    const url = `http://127.0.0.1:${port}/slack/events`;
    const post = async (body: string, type: string, secret?: string) => {
      const headers = { 'content-type': type, ...signed(body, { secret }) };
      return (await fetch(url, { method: 'POST', body, headers })).status;
    };
    const json = 'application/json';
    const form = 'application/x-www-form-urlencoded';
    for (const body of ['null', '7', '"x"', '[]', '', '{']) expect(await post(body, json)).toBe(400);
    expect(await post('payload=null', form)).toBe(400);
    expect(await post('a=b', form)).toBe(200);
    expect(await post(JSON.stringify(slack.eventBody(null as never)), json)).toBe(200);
    const body = slack.eventBody({ ...slack.store(GENERAL, ADA, 'still here'), channel_type: 'channel' });
    expect(await post(JSON.stringify(body), json)).toBe(200);
    await arrived(bot, 'still here');
    expect(warned(bot).length).toBe(8);
  });

  test('that nothing handles is logged and acknowledged', async () => {
    const bot = await start();
    await until('a socket is open', () => slack.sockets() === 1);
    const kinds = ['shortcut', 'view_closed', 'block_suggestion', 'unheard_of'];
    const from = { user: { id: ADA }, team: { id: TEAM }, callback_id: 'x', view: { id: 'V1', callback_id: 'x' } };
    const ids = kinds.map((type) => slack.envelope('interactive', { type, ...from, action_id: 'x', block_id: 'x' }));
    ids.push(slack.envelope('slash_commands', {}));
    await until('all are acknowledged', () => ids.every((id) => slack.acks.includes(id)));
    expect(warned(bot)).toHaveLength(ids.length);
    slack.frame('{"type":"events_api","payload":{}}');
    await until('it is logged', () => warned(bot).length === ids.length + 1);
  });

  test('that the library cannot read is logged and acknowledged', async () => {
    const bot = await start();
    await until('a socket is open', () => slack.sockets() === 1);
    const from = { user: { id: ADA }, team: { id: TEAM }, callback_id: 'x' };
    const action = { type: 'block_actions', ...from };
    const broken = [
      ...[undefined, null, 'x', 7, []].map((view) => ({ type: 'view_submission', ...from, view })),
      ...[undefined, null, 3, 'x', [], [null], [3], {}].map((actions) => ({ ...action, actions })),
      { type: 'view_submission', view: { id: 'V1', callback_id: 'x' } },
      { ...action, user: null, actions: [{ type: 'button', action_id: 'x' }] },
      { type: 'message_action', ...from, channel: null, message: null },
      { type: 'interactive_message', ...from },
    ];
    const ids = broken.map((payload) => slack.envelope('interactive', payload));
    ids.push(slack.envelope('slash_commands', { command: 7, user_id: {} }));
    await until('all are acknowledged', () => ids.every((id) => slack.acks.includes(id)));
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('of any shape ends nothing', async () => {
    const bot = await start();
    await until('a socket is open', () => slack.sockets() === 1);
    const names = [
      'message',
      'app_mention',
      'channel_left',
      'channel_shared',
      'app_home_opened',
      'app_context_changed',
    ];
    const more = ['assistant_thread_started', 'tokens_revoked', 'reaction_added', 'unheard_of', 'close'];
    const subtypes = ['message_changed', 'message_deleted', 'channel_convert_to_private', 'file_share', undefined];
    const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(GENERAL, DIRECT, ADA));
    const event = fc.record({
      type: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names, ...more) }, odd),
      subtype: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...subtypes) }, odd),
      channel: odd,
      ts: odd,
      user: odd,
      text: odd,
      message: odd,
      item: odd,
      tokens: odd,
      assistant_thread: odd,
    });
    for (const one of fc.sample(event, 400)) slack.emit(one);
    for (const payload of fc.sample(fc.jsonValue(), 100)) slack.envelope('interactive', payload as never);
    slack.say(GENERAL, ADA, 'still here');
    await arrived(bot, 'still here');
  });
});

describe('a message with a badly typed field', () => {
  const odd: readonly Record<string, unknown>[] = [
    { attachments: [null, { text: 7 }] },
    { attachments: {} },
    { files: [{}, null, 'F1'] },
    { files: 'F1' },
    { edited: {} },
    { bot_profile: 'x' },
    { blocks: { type: 'section' } },
    { thread_ts: 7 },
    { parent_user_id: [] },
    { team: {}, user_team: 7 },
    { metadata: [] },
    { username: {} },
    { app_context: 'x' },
    { channel_type: 7 },
  ];

  test('is stored without the field', async () => {
    const bot = await start();
    for (const [index, fields] of odd.entries()) slack.say(GENERAL, BOB, `number ${index}`, fields);
    for (const index of odd.keys()) await arrived(bot, `number ${index}`);
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('in a place that cannot exist is acknowledged', async () => {
    const bot = await start();
    const about = { user: ADA, text: 'lost', ts: '1700000000.000100', deleted_ts: '1700000000.000100' };
    const kinds = [{ type: 'message' }, { type: 'message', subtype: 'message_deleted' }, { type: 'channel_shared' }];
    const ids = ['', 'C'.repeat(5_000), '\ud800', 'C1:x'].flatMap((channel) => [
      ...kinds.map((kind) => slack.emit({ ...about, ...kind, channel })),
      slack.emit({ type: 'channel_id_changed', old_channel_id: channel, new_channel_id: GENERAL }),
    ]);
    await until('all are acknowledged', () => ids.every((id) => slack.acks.includes(id)));
    expect(warned(bot)).toHaveLength(ids.length);
  });

  test('without a place or a time is dropped by name', async () => {
    const bot = await start();
    const id = slack.emit({ type: 'message', channel: GENERAL, ts: null, user: ADA, text: 'timeless' });
    await until('it is acknowledged', () => slack.acks.includes(id));
    expect(warned(bot)).toMatchObject([{ event: 'message', channel: GENERAL, externalId: null }]);
  });
});
