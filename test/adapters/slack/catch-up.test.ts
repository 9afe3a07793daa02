import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import {
  ADA,
  BOB,
  BOT,
  DIRECT,
  GENERAL,
  type Message,
  type SlackDouble,
  STAFF,
  TEAM,
} from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { createState, recordSink, until } from '../../fixtures/slack/kit.ts';

/** Messages sent, edited and deleted while the bot was offline. */

let slack: SlackDouble;
let sink = recordSink();
let state = createState();
const bots = slackForEachTest((fresh) => {
  slack = fresh;
  sink = recordSink();
  state = createState();
});
const { stop } = bots;
const start = (table: Record<string, unknown> = {}) => bots.start({ sink, state, table });
const arrived = (text: string, withinMs?: number) =>
  until(`"${text}" arrives`, () => sink.messages.find((message) => message.text.endsWith(text)), withinMs);
const removed = () => new Set(sink.removals.flatMap(({ externalIds }) => externalIds));
const change = (message: Message, fields: Record<string, unknown>) => {
  const index = slack.messages.findIndex(({ ts }) => ts === message.ts);
  slack.messages[index] = { ...message, ...slack.messages[index], ...fields } as Message;
};
const remove = ({ ts }: Message) =>
  slack.messages.splice(
    slack.messages.findIndex((message) => message.ts === ts),
    1,
  );

describe('what cannot be read', () => {
  test('costs nothing else of its channel', async () => {
    const first = await start();
    const lost = slack.say(GENERAL, ADA, `<@${BOT}> lost`);
    slack.say(GENERAL, ADA, 'before');
    await arrived('before');
    await stop(first);
    slack.store(GENERAL, BOB, 'odd', { attachments: [null], files: [{}], edited: {}, type: 'unheard_of' });
    const odd = `${Math.floor(Date.now() / 1000)}.1234567890`;
    slack.messages.push({ ts: odd, channel: GENERAL, type: 'message', user: BOB, text: 'timeless' });
    slack.store(GENERAL, BOB, 'a reply', { thread_ts: lost.ts });
    slack.fail('conversations.replies', { error: 'internal_error_of_a_kind' });
    slack.store(GENERAL, BOB, 'the last');
    const bot = await start();
    await arrived('odd');
    await arrived('the last');
    expect(sink.drops.filter(({ reason }) => reason === 'malformed')).toMatchObject([{ channel: GENERAL }]);
    await until('the thread is told of', () => bot.log.lines.some(({ fields }) => fields['thread'] === lost.ts));
  });

  test('holds up no other thread, and is read later', async () => {
    const first = await start();
    const roots = ['one', 'two', 'three', 'four'].map((text) => slack.say(GENERAL, ADA, `<@${BOT}> ${text}`));
    await arrived('four');
    await stop(first);
    for (const [index, { ts }] of roots.entries()) slack.store(GENERAL, BOB, `reply ${index}`, { thread_ts: ts });
    let failures = 0;
    let failing: unknown;
    // The gates of the process with the plain URL.
    slack.gates.set('', (method, body) => {
      if (method !== 'conversations.replies') return null;
      failing ??= body['ts'];
      if (body['ts'] !== failing || failures === 5) return null;
      failures += 1;
      return { status: 503 };
    });
    await start();
    for (const index of roots.keys()) await arrived(`reply ${index}`);
    // The first one asked for is read last, at the side.
    expect(sink.messages.at(-1)?.text).toBe(`reply ${roots.findIndex(({ ts }) => ts === failing)}`);
    expect(failures).toBe(5);
  });

  test('is read after the next start, whatever came in between', async () => {
    const first = await start();
    slack.say(GENERAL, ADA, 'before');
    await arrived('before');
    await stop(first);
    slack.store(GENERAL, BOB, 'missed');
    slack.hanging.add('conversations.history');
    const second = await start();
    slack.say(GENERAL, ADA, 'live');
    await arrived('live');
    await stop(second);
    slack.hanging.clear();
    await start();
    await arrived('missed');
  });
});

test('a clock ahead of Slack loses no missed message', async () => {
  const system = createSystemClock();
  const clock = { ...system, now: () => system.now() + 240_000 };
  const first = await bots.start({ sink, state, clock });
  slack.say(GENERAL, ADA, 'before');
  await arrived('before');
  await stop(first);
  slack.store(GENERAL, BOB, 'missed');
  await bots.start({ sink, state, clock });
  await arrived('missed');
});

test('a clock a year ahead loses no missed message', async () => {
  const system = createSystemClock();
  const ahead = { ...system, now: () => system.now() + 365 * DAY_MS };
  const first = await bots.start({ sink, state, clock: ahead });
  slack.say(GENERAL, ADA, 'before');
  await arrived('before');
  await stop(first);
  slack.store(GENERAL, BOB, 'missed');
  await start();
  await arrived('missed');
});

describe('a minute whose events Slack withheld', () => {
  const report = (since: number) =>
    slack.envelope('events_api', { type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: since });
  const now = () => Math.floor(Date.now() / 1000);
  /** Said in the past, and not read again only because of the overlap. */
  const saidBefore = (text: string) =>
    slack.messages.push({
      type: 'message',
      user: ADA,
      text,
      team: TEAM,
      ts: `${now() - 400}.000001`,
      channel: GENERAL,
    });
  const known = async (): Promise<void> => {
    const first = await start();
    slack.say(GENERAL, ADA, 'before');
    await arrived('before');
    await stop(first);
  };

  test('is read', async () => {
    await known();
    await start();
    saidBefore('withheld');
    report(now() - 410);
    await arrived('withheld');
  });

  test('is read although an earlier reading ends in between', async () => {
    await known();
    const reading = Promise.withResolvers<void>();
    slack.delays.set('conversations.history', reading.promise);
    await start();
    await until('it is reading', () => slack.callsOf('conversations.history').length > 0);
    saidBefore('withheld');
    const id = report(now() - 410);
    await until('it is noted', () => slack.acks.includes(id));
    reading.resolve();
    await arrived('withheld', 10_000);
  });

  test('is read when it is over', async () => {
    await known();
    await start();
    const id = report(now() - 57);
    await until('it is noted', () => slack.acks.includes(id));
    await delay(1_000);
    slack.store(GENERAL, ADA, 'at its end');
    await arrived('at its end', 10_000);
  });

  test('is read once, however many were reported', async () => {
    await known();
    await start();
    await until('the first reading', () => slack.callsOf('users.conversations').length === 1);
    const reading = Promise.withResolvers<void>();
    slack.delays.set('users.conversations', reading.promise);
    saidBefore('withheld');
    const ids = [411, 412, 413, 414, 415].map((ago) => report(now() - ago));
    await until('they are noted', () => ids.every((id) => slack.acks.includes(id)));
    reading.resolve();
    await arrived('withheld');
    await delay(1_000);
    expect(slack.callsOf('users.conversations').length).toBeLessThanOrEqual(3);
  });
});

test('a list of channels that repeats itself is left', async () => {
  const first = await start();
  slack.say(GENERAL, ADA, 'before');
  await arrived('before');
  await stop(first);
  const page = JSON.stringify({ ok: true, channels: [], response_metadata: { next_cursor: 'again' } });
  slack.fail('users.conversations', ...Array.from({ length: 100 }, () => ({ page })));
  slack.store(GENERAL, BOB, `<@${BOT}> asks`);
  await start();
  await arrived('asks');
  await delay(1_000);
  expect(slack.callsOf('users.conversations').length).toBe(2);
});

describe('edits and deletions', () => {
  test('in threads and direct messages are applied', async () => {
    const first = await start();
    const root = slack.say(GENERAL, ADA, `<@${BOT}> a question`);
    const own = slack.say(DIRECT, ADA, 'directly');
    const replies = [root, own].map(({ ts, channel }) => [
      slack.say(channel, ADA, 'the tent is orange', { thread_ts: ts }),
      slack.say(channel, ADA, 'forget me', { thread_ts: ts }),
      slack.say(channel, ADA, 'stays', { thread_ts: ts }),
    ]);
    await until('all arrive', () => sink.messages.length === 8);
    await stop(first);
    for (const [orange, gone] of replies) {
      if (orange === undefined || gone === undefined) continue;
      change(orange, { text: 'the tent is turquoise', edited: { user: ADA, ts: `${Number(orange.ts) + 5}` } });
      remove(gone);
    }
    await start();
    await until('all deletions are told', () => replies.every(([, gone]) => removed().has(gone?.ts ?? '')));
    await until('all edits are told', () =>
      replies.every(([orange]) => sink.edits.some(({ externalId }) => externalId === orange?.ts)),
    );
    expect(removed()).toEqual(new Set(replies.map(([, gone]) => gone?.ts)));
  });

  test.each([
    ['the newest of a channel', 100, 4],
    ['the last of a page', 2, 3],
    ['the first of a page', 2, 2],
    ['the only one on the last page', 4, 0],
  ])('are noticed for %s', async (_where, page, index) => {
    const first = await start();
    const said = Array.from({ length: 5 }, (_, number) => slack.say(GENERAL, ADA, `line ${number}`));
    await until('all arrive', () => sink.messages.length === 5);
    await stop(first);
    const gone = said[index];
    if (gone === undefined) throw new Error('nothing was said');
    remove(gone);
    await start({ catch_up: { page } });
    await until('the deletion is told', () => removed().has(gone.ts));
    expect(removed()).toEqual(new Set([gone.ts]));
  });

  test('are noticed in a channel that is empty now', async () => {
    const first = await start();
    const only = slack.say(GENERAL, ADA, 'the only line');
    await arrived('the only line');
    await stop(first);
    remove(only);
    await start();
    await until('the deletion is told', () => removed().has(only.ts));
  });

  test('keeps replies from before the time to catch up', async () => {
    const first = await start();
    const nowSeconds = Math.floor(Date.now() / 1000);
    const ago = (days: number) => `${nowSeconds - days * 86_400}.000001`;
    const say = (text: string, ts: string) => {
      const message = { type: 'message', user: ADA, text, team: TEAM, ts, thread_ts: ago(9), channel: GENERAL };
      slack.messages.push(message);
      slack.emit({ ...message, channel_type: 'channel' });
    };
    say(`<@${BOT}> one`, ago(9));
    await arrived('one');
    say('two', ago(8));
    await arrived('two');
    say('three', ago(0));
    await arrived('three');
    await stop(first);
    await start();
    await until('the thread is read', () => slack.callsOf('conversations.replies').length > 0);
    slack.say(GENERAL, BOB, 'the end');
    await arrived('the end');
    await delay(500);
    expect(sink.removals).toEqual([]);
  });

  test('are applied before anything is answered', async () => {
    const order: string[] = [];
    const first = await start();
    const orange = slack.say(GENERAL, ADA, 'my tent is orange');
    await arrived('my tent is orange');
    await stop(first);
    change(orange, { text: 'my tent is turquoise', edited: { user: ADA, ts: `${Number(orange.ts) + 5}` } });
    slack.store(GENERAL, ADA, `<@${BOT}> which colour?`);
    const { message, edited } = sink;
    Object.assign(sink, {
      async message(one: Parameters<typeof message>[0]) {
        order.push('message');
        return await message(one);
      },
      async edited(one: Parameters<typeof edited>[0]) {
        order.push('edit');
        await edited(one);
      },
    });
    await start();
    await arrived('which colour?');
    expect(order[0]).toBe('edit');
    expect(order.at(-1)).toBe('message');
  });
});

describe('of much that was missed', () => {
  test('reads the newest of a thread and reports the rest', async () => {
    const first = await start();
    const root = slack.say(GENERAL, ADA, `<@${BOT}> a question`);
    await arrived('a question');
    await stop(first);
    slack.store(GENERAL, BOB, `<@${BOT}> an old mention`, { thread_ts: root.ts });
    for (let index = 0; index < 300; index += 1) slack.store(GENERAL, BOB, `reply ${index}`, { thread_ts: root.ts });
    slack.store(GENERAL, ADA, 'the newest question', { thread_ts: root.ts });
    await start();
    await arrived('the newest question');
    await arrived('an old mention');
    expect(sink.messages.filter(({ text }) => text.includes('reply '))).toHaveLength(199);
    expect(sink.messages.filter(({ text }) => text.includes('101 older messages were missed'))).toHaveLength(1);
    const notes = () => slack.posted(GENERAL).filter(({ text }) => String(text).includes('did not read 101 older'));
    await until('people are told', () => notes().length > 0);
    expect(notes()).toMatchObject([{ thread_ts: root.ts }]);
  });

  test('a thread is read once, with its first message quoted', async () => {
    const first = await start();
    slack.say(GENERAL, ADA, 'before');
    await arrived('before');
    await stop(first);
    const root = slack.store(GENERAL, BOB, 'The build is red');
    slack.store(GENERAL, ADA, `<@${BOT}> why?`, { thread_ts: root.ts });
    await start();
    const { text } = await arrived('why?');
    expect(text).toBe('[the thread is about this message of Bob]\n> The build is red\n@strata why?');
    expect(slack.callsOf('conversations.replies').filter(({ ts }) => ts === root.ts)).toHaveLength(1);
  });

  test('a mention is found under hundreds of later messages', async () => {
    const first = await start();
    slack.say(GENERAL, ADA, 'before');
    await arrived('before');
    await stop(first);
    const asked = slack.store(GENERAL, ADA, `<@${BOT}> are you there?`);
    for (let index = 0; index < 300; index += 1) slack.store(GENERAL, BOB, `chatter ${index}`);
    await start();
    expect(await arrived('are you there?')).toMatchObject({ conversation: `slack:${TEAM}:${GENERAL}:${asked.ts}` });
    await arrived('chatter 299');
    expect(sink.messages.filter(({ text }) => text.includes('chatter'))).toHaveLength(200);
  });

  test('direct messages and mentions come before threads', async () => {
    const first = await start();
    const roots = Array.from({ length: 20 }, (_, index) => slack.say(GENERAL, ADA, `<@${BOT}> thread ${index}`));
    slack.say(DIRECT, ADA, 'hello');
    slack.say(STAFF, ADA, 'hi');
    await until('all arrive', () => sink.messages.length === 22);
    await stop(first);
    for (const { ts } of roots) slack.store(GENERAL, BOB, 'a reply', { thread_ts: ts });
    slack.store(DIRECT, ADA, 'a direct question');
    slack.store(STAFF, ADA, `<@${BOT}> a question`);
    await start({ catch_up: { requests_per_minute: 6 } });
    await arrived('a direct question');
    await arrived('a question');
    // At most as many as granted, however much there is to read.
    const sent = ['conversations.history', 'conversations.replies', 'users.conversations'].flatMap(slack.callsOf);
    expect(sent.length).toBeLessThanOrEqual(6);
  });
});
