import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ADA, BOB, BOT, type DiscordDouble, GENERAL, GUILD, VIEW } from '../../fixtures/discord/double.ts';
import { discordForEachTest } from '../../fixtures/discord/each-test.ts';
import { createState, type Opened, recordSink, until } from '../../fixtures/discord/kit.ts';
import { textChannel, thread } from '../../fixtures/discord/payloads.ts';

let double: DiscordDouble;
const { start } = discordForEachTest((fresh) => {
  double = fresh;
});

const PRIVATE = '300000000000000071';
const PUBLIC = '300000000000000072';
const options = () => ({ table: { purge_on_leave: true }, sink: recordSink(), state: createState() });
const removes = (threadId: string, id: string) =>
  double.gateway.dispatch(GUILD, 'THREAD_MEMBERS_UPDATE', {
    ...{ id: threadId, guild_id: GUILD, member_count: 1, added_members: [], removed_member_ids: [id] },
  });
/** Discord no longer shows the thread. */
const shuts = (threadId: string) =>
  double.rest.fail('GET', new RegExp(`/channels/${threadId}$`), { status: 403, code: 50001, times: 100 });

async function talk(opened: ReturnType<typeof options>): Promise<Opened> {
  double.addChannel(thread({ id: PRIVATE, guild_id: GUILD, parent_id: GENERAL, type: 12 }));
  double.addChannel(thread({ id: PUBLIC, guild_id: GUILD, parent_id: GENERAL }));
  const bot = await start(opened);
  for (const place of [PRIVATE, PUBLIC, GENERAL]) double.say(place, ADA, 'hello');
  await until('all of it', () => opened.sink.messages.length === 3);
  return bot;
}
const privateKey = ({ sink }: Pick<Opened, 'sink'>) =>
  sink.messages.map(({ conversation }) => conversation).find((key) => key.includes(PRIVATE));

describe('a private thread from which the bot was removed', () => {
  test('is purged where wanted, and no other one', async () => {
    const opened = options();
    await talk(opened);
    removes(PRIVATE, BOB.id);
    shuts(PUBLIC);
    removes(PUBLIC, BOT.id);
    await delay(50);
    expect(opened.sink.gone).toEqual([]);
    shuts(PRIVATE);
    removes(PRIVATE, BOT.id);
    await until('it is purged', () => opened.sink.gone.length > 0);
    expect(opened.sink.gone).toEqual([privateKey(opened)]);
  });

  test('stays while the bot still sees it', async () => {
    const opened = options();
    await talk(opened);
    removes(PRIVATE, BOT.id);
    await until('Discord is asked', () => double.rest.sent('GET', new RegExp(`/channels/${PRIVATE}$`)).length > 0);
    await delay(50);
    expect(opened.sink.gone).toEqual([]);
  });

  test.each([403, 404])('stays if a %s does not concern the thread', async (status) => {
    const opened = options();
    await talk(opened);
    double.rest.fail('GET', new RegExp(`/channels/${PRIVATE}$`), { status, times: 100 });
    removes(PRIVATE, BOT.id);
    await until('Discord is asked', () => double.rest.sent('GET', new RegExp(`/channels/${PRIVATE}$`)).length > 0);
    await delay(50);
    expect(opened.sink.gone).toEqual([]);
  });

  test.each([true, false])('while it was away is purged: sees the channel %s', async (isVisible) => {
    const opened = options();
    const bot = await talk(opened);
    await bot.channel.stop();
    double.removeChannel(PRIVATE);
    const hidden = [{ id: GUILD, type: 0, allow: '0', deny: String(VIEW) }];
    const overwrites = isVisible ? {} : { permission_overwrites: hidden };
    double.addChannel(textChannel({ id: GENERAL, guild_id: GUILD, ...overwrites }) as never);
    shuts(PRIVATE);
    const again = await start(opened);
    await until('it was looked up', () => double.rest.sent('GET', /\/messages$/).length > 2);
    await delay(300);
    await again.channel.stop();
    expect(opened.sink.gone).toEqual(isVisible ? [privateKey(opened)] : []);
  });

  test('while it was away is purged although another fails', async () => {
    const opened = options();
    const other = '300000000000000073';
    double.addChannel(thread({ id: other, guild_id: GUILD, parent_id: GENERAL, type: 12 }));
    const bot = await talk(opened);
    double.say(other, ADA, 'the newest');
    await until('it is stored', () => opened.sink.messages.length === 4);
    await bot.channel.stop();
    for (const id of [PRIVATE, other]) double.removeChannel(id);
    double.rest.fail('GET', new RegExp(`/channels/${other}$`), { status: 404, times: 100 });
    shuts(PRIVATE);
    await start(opened);
    await until('it is purged', () => opened.sink.gone.length > 0);
    expect(opened.sink.gone).toEqual([privateKey(opened)]);
  });
});
