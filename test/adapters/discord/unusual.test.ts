import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ADA, type DiscordDouble, GENERAL, GUILD, OTHER_BOT, type Stored } from '../../fixtures/discord/double.ts';
import { discordForEachTest } from '../../fixtures/discord/each-test.ts';
import { createState, type Opened, recordSink, until } from '../../fixtures/discord/kit.ts';
import { snowflake } from '../../fixtures/discord/payloads.ts';

/** What Discord tells about a message or a server without an event of its own. */

let double: DiscordDouble;
const { start } = discordForEachTest((fresh) => {
  double = fresh;
});
const texts = ({ sink }: Opened) => sink.messages.map(({ text }) => text);
const heard = (bot: Opened, text: string) => until(text, () => texts(bot).includes(text));
const update = (message: Stored, fields: object = {}) =>
  double.gateway.dispatch(GUILD, 'MESSAGE_UPDATE', { ...message, ...fields, guild_id: GUILD });

test('nothing said while the bot was removed is read', async () => {
  const bot = await start();
  double.say(GENERAL, ADA, 'before');
  await heard(bot, 'before');
  double.gateway.dispatch(GUILD, 'GUILD_DELETE', { id: GUILD });
  double.say(GENERAL, ADA, 'now that it is gone', { silent: true });
  await delay(5);
  double.world.joinedAt = new Date().toISOString();
  await delay(5);
  double.say(GENERAL, ADA, 'right after it came back', { silent: true });
  double.gateway.dispatch(GUILD, 'GUILD_CREATE', double.guildPayload(GUILD));
  await heard(bot, 'right after it came back');
  expect(texts(bot)).toEqual(['before', 'right after it came back']);
});

describe('a message of a followed channel that is deleted there', () => {
  const GONE = { content: '[Original Message Deleted]', flags: 1 << 3 };
  const crosspost = () =>
    double.say(GENERAL, OTHER_BOT, 'Version 2 is out', { webhook_id: OTHER_BOT.id, flags: 1 << 1 });

  test.each([null, '2026-11-01T00:00:00.000000+00:00'])('is deleted: edited at %s', async (edited) => {
    const bot = await start();
    const copy = crosspost();
    await heard(bot, 'Version 2 is out');
    update(copy, { ...GONE, edited_timestamp: edited });
    await until('the removal', () => bot.sink.removals.length > 0);
    expect(bot.sink.removals).toMatchObject([{ externalIds: [copy.id] }]);
    expect(bot.sink.edits).toEqual([]);
  });

  test('is deleted although the bot was offline', async () => {
    const options = { sink: recordSink(), state: createState() };
    const bot = await start(options);
    const copy = crosspost();
    await heard(bot, 'Version 2 is out');
    await bot.channel.stop();
    Object.assign(copy, GONE);
    await start(options);
    await until('the removal', () => bot.sink.removals.length > 0);
    expect(bot.sink.removals).toMatchObject([{ externalIds: [copy.id] }]);
  });
});

test('an invitation to a game is no withheld text', async () => {
  const bot = await start();
  double.say(GENERAL, ADA, '', { activity: { type: 3, party_id: '1' }, application: { id: '1', name: 'Chess' } });
  double.say(GENERAL, ADA, 'after it');
  await heard(bot, 'after it');
  expect(bot.sink.drops.map(({ reason }) => reason)).toEqual(['empty']);
  expect(bot.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

describe('the late answer of another bot to a command', () => {
  const waiting = (details: object = {}) =>
    double.say(GENERAL, OTHER_BOT, '', { type: 20, webhook_id: OTHER_BOT.id, flags: 1 << 7, ...details });

  test.each([null, new Date().toISOString()])('is read once: edited at %s', async (edited) => {
    const bot = await start();
    const answer = waiting();
    const filled = { content: 'It rains.', flags: 0, edited_timestamp: edited };
    update(answer, filled);
    update(answer, { ...filled, embeds: [] });
    double.say(GENERAL, ADA, 'after it');
    await heard(bot, 'after it');
    expect(texts(bot)).toEqual(['It rains.', 'after it']);
  });

  test('of long ago is not taken for a new one', async () => {
    const bot = await start();
    const older = waiting({ id: snowflake(Date.now() - 3_600_000) });
    update(older, { content: 'It snowed.', pinned: true });
    double.say(GENERAL, ADA, 'after it');
    await heard(bot, 'after it');
    expect(texts(bot)).toEqual(['after it']);
  });
});
