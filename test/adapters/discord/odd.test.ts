import { setTimeout as delay } from 'node:timers/promises';
import { GatewayDispatchEvents } from 'discord.js';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  BOT,
  DIRECT,
  type DiscordDouble,
  ELSEWHERE,
  GENERAL,
  GUILD,
  GUILD_TWO,
  OTHER_BOT,
  STAFF,
} from '../../fixtures/discord/double.ts';
import { discordForEachTest } from '../../fixtures/discord/each-test.ts';
import { type Opened, until } from '../../fixtures/discord/kit.ts';
import { member, message, role, snowflake, textChannel, thread, user } from '../../fixtures/discord/payloads.ts';

let double: DiscordDouble;
let opened: Opened;

const { start } = discordForEachTest((fresh) => {
  double = fresh;
});
beforeEach(async () => {
  opened = await start({ table: { channels: { deny: [STAFF] }, hear_bots: false } });
});

const reasons = () => opened.sink.drops.map(({ reason }) => reason);

describe('a message with odd fields', () => {
  const whole = () => ({ ...message({ channel_id: GENERAL, author: ADA, content: 'hello' }), guild_id: GUILD });
  const FIELDS = Object.keys(message({ channel_id: GENERAL, author: ADA })).concat(
    ...[
      'member',
      'webhook_id',
      'message_reference',
      'referenced_message',
      'message_snapshots',
      'poll',
      'sticker_items',
    ],
  );
  const NEEDED = ['id', 'channel_id', 'author'];
  const ODD = [undefined, null, 7, 'odd', true, [], {}, [null], [{}], { id: null }];

  test('is stored without them, or counted without an author', async () => {
    let kept = 0;
    for (const field of FIELDS) {
      for (const value of ODD) {
        const isReadable = !NEEDED.includes(field);
        // Messages of webhooks, system notes and messages without text are dropped for other reasons.
        if (['webhook_id', 'type', 'content'].includes(field)) continue;
        if (isReadable) kept += 1;
        double.gateway.dispatch(GUILD, 'MESSAGE_CREATE', { ...whole(), [field]: value });
      }
    }
    await until('all of them', () => opened.sink.messages.length === kept);
    expect(opened.sink.messages.every(({ text, at }) => text.startsWith('hello') && Number.isFinite(at))).toBe(true);
    expect(reasons().filter((reason) => reason === 'malformed')).toHaveLength(NEEDED.length * ODD.length);
  });
});

test('a file of unknown size and type keeps its message', async () => {
  const file = { id: '1', filename: 'notes.txt', url: 'https://cdn.discordapp.com/attachments/1/2/notes.txt' };
  for (const odd of [{}, { size: null }, { size: '12' }]) {
    double.say(GENERAL, ADA, '', { attachments: [{ ...file, ...odd } as never] });
  }
  await until('all of them', () => opened.sink.messages.length === 3);
  expect(opened.sink.messages.map(({ attachments }) => attachments.map(({ name }) => name))).toEqual(
    Array.from({ length: 3 }, () => ['notes.txt']),
  );
});

test('nothing is withheld from direct messages', async () => {
  double.say(DIRECT, ADA, '');
  await until('the drop', () => opened.sink.drops.length === 1);
  expect(reasons()).toEqual(['empty']);
  expect(opened.log.lines.filter(({ message: text }) => text.includes('withholds'))).toEqual([]);
});

test('everything not stored is counted with its reason', async () => {
  double.say(GENERAL, BOT, 'mine');
  double.say(GENERAL, OTHER_BOT, 'beep');
  double.say(STAFF, ADA, 'among the staff');
  double.say(GENERAL, ADA, '', { type: 7 });
  double.say(GENERAL, ADA, '');
  double.say(GENERAL, ADA, '', { embeds: [{}] });
  double.gateway.dispatch(GUILD, 'MESSAGE_CREATE', { id: '1' });
  double.gateway.dispatch(GUILD, 'MESSAGE_UPDATE', null);
  double.gateway.dispatch(GUILD, 'MESSAGE_DELETE', { id: 5 });
  double.gateway.dispatch(GUILD, 'INTERACTION_CREATE', { id: 5 });
  const unseen = message({ channel_id: '300000000000000099', author: ADA, content: 'far away' });
  double.gateway.dispatch(GUILD, 'MESSAGE_CREATE', { ...unseen, guild_id: GUILD });
  await until('all drops', () => opened.sink.drops.length === 11);
  expect(reasons().toSorted()).toEqual(
    [
      ...['bot', 'empty', 'empty', 'malformed', 'malformed', 'malformed', 'malformed'],
      ...['note', 'own', 'unplaced', 'unserved'],
    ].toSorted(),
  );
  expect(opened.sink.drops).toContainEqual({
    platform: 'discord',
    reason: 'malformed',
    event: 'MESSAGE_CREATE',
    channel: null,
    externalId: '1',
    problem: expect.stringContaining('channel_id'),
  });
});

test('messages in a channel of an unknown kind are private', async () => {
  const odd = '300000000000000098';
  double.addChannel({ id: odd, type: 97, guild_id: GUILD, name: 'odd' } as never);
  const made = [double.say(odd, ADA, 'hello'), double.say(odd, ADA, 'again')];
  await until('both', () => opened.sink.messages.length === 2);
  const conversation = `discord:${GUILD}:${odd}`;
  expect(opened.sink.messages[0]).toMatchObject({ conversation, audience: 'private', isAudienceAssumed: true });
  expect(double.rest.sent('GET', new RegExp(`/channels/${odd}$`))).toHaveLength(1);
  for (const one of made.slice(0, 1)) double.remove(one);
  await until('the removal', () => opened.sink.removals.length === 1);
  expect(opened.sink.removals).toEqual([{ conversation, externalIds: [made[0]?.id] }]);
});

test('a thread that becomes known is placed in its channel', async () => {
  const odd = '300000000000000097';
  double.addChannel({ id: odd, type: 97, guild_id: GUILD, name: 'odd' } as never);
  const made = double.say(odd, ADA, 'hello');
  await until('the message', () => opened.sink.messages.length === 1);
  double.gateway.dispatch(GUILD, 'THREAD_CREATE', thread({ id: odd, guild_id: GUILD, parent_id: GENERAL }));
  double.remove(made);
  await until('the removal', () => opened.sink.removals.length === 1);
  expect(opened.sink.removals).toMatchObject([{ conversation: `discord:${GUILD}:${GENERAL}:${odd}` }]);
});

test('a channel message without its server is no direct message', async () => {
  double.gateway.dispatch(GUILD, 'MESSAGE_CREATE', message({ channel_id: GENERAL, author: ADA, content: 'hello' }));
  await until('the message', () => opened.sink.messages.length === 1);
  expect(opened.sink.messages).toMatchObject([{ conversation: `discord:${GUILD}:${GENERAL}`, audience: 'public' }]);
});

test('channels with null for their overwrites are known', async () => {
  const named = textChannel({ id: '300000000000000077', guild_id: GUILD, name: 'old' });
  const old = { ...named, permission_overwrites: null };
  await opened.channel.stop();
  double.addChannel(old);
  opened = await start();
  for (const place of [GENERAL, old.id]) double.say(place, ADA, 'hello');
  await until('both', () => opened.sink.messages.length === 2);
  expect(opened.sink.messages.map(({ audience }) => audience)).toEqual(['public', 'public']);
  expect(opened.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

test('a handler that throws is survived, and its packet named', async () => {
  opened.sink.dropped = () => {
    throw new Error('the disk is full');
  };
  double.gateway.dispatch(GUILD, 'MESSAGE_DELETE', { id: 5 });
  double.say(GENERAL, ADA, 'still there?');
  await until('the message', () => opened.sink.messages.length === 1);
  expect(opened.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
    { fields: { type: 'MESSAGE_DELETE', cause: 'the disk is full' } },
  ]);
});

/** A generator of numbers from 0 to 1, the same in every run. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('packets of every type that the gateway knows', () => {
  const PACKETS = 10_000;
  const TYPES = Object.values(GatewayDispatchEvents).filter((type) => !['READY', 'RESUMED'].includes(type));
  const VALUES = [undefined, null, 0, -1, 'x', '', true, [], {}, [null], [{}], { id: '1' }, 'toString', 1e308];

  test('with missing and odd fields are survived', async () => {
    const chance = createChance(7);
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(chance() * items.length)];
    const spoil = (value: unknown, depth: number): unknown => {
      if (chance() < 0.12) return pick(VALUES);
      if (typeof value !== 'object' || value === null || depth === 0) return value;
      if (Array.isArray(value)) return value.map((item) => spoil(item, depth - 1));
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, spoil(inner, depth - 1)]));
    };
    for (let index = 0; index < PACKETS; index += 1) {
      const type = TYPES[index % TYPES.length] ?? '';
      double.gateway.dispatch(GUILD_TWO, type, spoil(payload(index), 3));
      if (index % 500 === 0) await delay(1);
    }
    double.gateway.dispatch(GUILD, 'GUILD_CREATE', double.guildPayload(GUILD));
    double.say(GENERAL, ADA, 'still there?');
    await until('the message', () => opened.sink.messages.some(({ text }) => text === 'still there?'), 90_000);
    expect(double.gateway.identifies).toHaveLength(1);
  }, 120_000);

  /** One object with the fields of all payload types. */
  function payload(index: number): object {
    const someone = user(`20000000000000${1000 + (index % 50)}`, 'someone');
    const shapes = [
      { ...message({ channel_id: ELSEWHERE, author: someone, content: `text ${index}` }), guild_id: GUILD_TWO },
      { ...double.guildPayload(GUILD_TWO), guild_id: GUILD_TWO },
      { ...textChannel({ id: ELSEWHERE, guild_id: GUILD_TWO }), channels: [], threads: [], members: [] },
      thread({ id: snowflake(), guild_id: GUILD_TWO, parent_id: ELSEWHERE }),
      { guild_id: GUILD_TWO, role: role(snowflake(), 'a role', 0n), role_id: GUILD_TWO },
      { guild_id: GUILD_TWO, status: 'online', activities: [], client_status: {}, ...member(someone) },
      { guild_id: GUILD_TWO, channel_id: ELSEWHERE, user_id: someone.id, emoji: { id: null, name: 'x' } },
      { id: snowflake(), type: 2, token: 't', application_id: BOT.id, user: someone, data: { name: 'help' } },
    ];
    return shapes[Math.floor(index / TYPES.length) % shapes.length] ?? {};
  }
});
