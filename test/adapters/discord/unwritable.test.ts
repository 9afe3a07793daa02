import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type ConversationKey, makeKey, type Post } from '../../../src/adapter-kit.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { ADA, BOT, BOT_ROLE, type DiscordDouble, GENERAL, GUILD } from '../../fixtures/discord/double.ts';
import { discordForEachTest } from '../../fixtures/discord/each-test.ts';
import { type Opened, until } from '../../fixtures/discord/kit.ts';
import { member, textChannel, thread } from '../../fixtures/discord/payloads.ts';

let double: DiscordDouble;
const { start } = discordForEachTest((fresh) => {
  double = fresh;
});

const THREAD = '300000000000000077';
const SEND = String(1n << 11n);
const general = makeKey({ platform: 'discord', workspace: GUILD, channel: GENERAL });
const replyIn = (conversation: ConversationKey): Post => ({
  conversation,
  nonce: '1-1-0',
  body: { kind: 'text', text: 'Hello Ada.' },
  replyTo: null,
  attempt: 1,
});

/** What Discord says without the permission. */
async function refused(bot: Opened, conversation = general, code = 50013): Promise<void> {
  // Then the bot knows what Discord sent before.
  expect(await mayBeAnswered(bot)).toBe(true);
  double.rest.fail('POST', /messages$/, { status: 403, code });
  const reply = bot.channel.post(replyIn(conversation), { signal: new AbortController().signal });
  await expect(reply).rejects.toMatchObject({ data: { final: true } });
}
const writes = (isAllowed: boolean) => {
  const denied = [{ id: BOT_ROLE, type: 0, allow: '0', deny: SEND }];
  const overwrites = { permission_overwrites: isAllowed ? [] : denied };
  double.gateway.dispatch(GUILD, 'CHANNEL_UPDATE', textChannel({ id: GENERAL, guild_id: GUILD, ...overwrites }));
};
/** Whether a message that is said now may be answered. */
async function mayBeAnswered({ sink }: Opened, channelId = GENERAL): Promise<boolean> {
  const { id } = double.say(channelId, ADA, 'and now?', { mentions: [BOT] });
  const heard = await until('it is stored', () => sink.messages.find(({ externalId }) => externalId === id));
  return heard.isPast !== true;
}

describe('a channel in which the bot may not write', () => {
  test('is answered in vain once, until it may write again', async () => {
    const bot = await start();
    writes(false);
    await refused(bot);
    expect([await mayBeAnswered(bot), await mayBeAnswered(bot)]).toEqual([false, false]);
    expect(bot.log.lines.filter(({ message }) => message.includes('may not write'))).toHaveLength(1);
    writes(true);
    expect(await mayBeAnswered(bot)).toBe(true);
  });

  test('is tried again after an hour', async () => {
    let now = Date.now();
    const bot = await start({ clock: { ...createSystemClock(), now: () => now } });
    writes(false);
    await refused(bot);
    expect(await mayBeAnswered(bot)).toBe(false);
    now += 3_600_001;
    expect(await mayBeAnswered(bot)).toBe(true);
  });

  test('is answered where only Discord knows why it refused', async () => {
    const bot = await start();
    await refused(bot);
    expect(await mayBeAnswered(bot)).toBe(true);
  });

  test('a timeout of the bot counts, until it ends', async () => {
    const bot = await start();
    const end = new Date(Date.now() + 1_500).toISOString();
    const self = member(BOT, { roles: [BOT_ROLE], communication_disabled_until: end });
    double.gateway.dispatch(GUILD, 'GUILD_MEMBER_UPDATE', { ...self, guild_id: GUILD });
    await refused(bot);
    expect(await mayBeAnswered(bot)).toBe(false);
    await delay(1_500);
    expect(await mayBeAnswered(bot)).toBe(true);
  });

  test('a role without the permission counts', async () => {
    double.world.everyone &= ~(1n << 11n);
    const bot = await start();
    const hasRole = (roles: readonly string[]) =>
      double.gateway.dispatch(GUILD, 'GUILD_MEMBER_UPDATE', { ...member(BOT), roles, guild_id: GUILD });
    hasRole([]);
    await refused(bot);
    expect(await mayBeAnswered(bot)).toBe(false);
    hasRole([BOT_ROLE]);
    expect(await mayBeAnswered(bot)).toBe(true);
  });

  test('a locked thread counts, until it is opened', async () => {
    const payload = thread({ id: THREAD, guild_id: GUILD, parent_id: GENERAL });
    double.addChannel(payload);
    const bot = await start();
    const locks = (locked: boolean) =>
      double.gateway.dispatch(GUILD, 'THREAD_UPDATE', {
        ...payload,
        thread_metadata: { archived: false, auto_archive_duration: 1440, archive_timestamp: '2026-01-01', locked },
      });
    locks(true);
    const inThread = makeKey({ platform: 'discord', workspace: GUILD, channel: GENERAL, thread: THREAD });
    await refused(bot, inThread, 160005);
    expect([await mayBeAnswered(bot, THREAD), await mayBeAnswered(bot)]).toEqual([false, true]);
    locks(false);
    expect(await mayBeAnswered(bot, THREAD)).toBe(true);
  });
});
