import { describe, expect, test } from 'vitest';
import { ADA, BOB, BOT, BOT_ID, DIRECT, GENERAL, ROBOT, type SlackDouble, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { createState, type Opened, recordSink, until } from '../../fixtures/slack/kit.ts';

/** Who has to mention the bot in a thread of a channel, and who doesn't. */

let slack: SlackDouble;
const { start, stop } = slackForEachTest(
  (fresh) => {
    slack = fresh;
  },
  { sockets: 1, hear_bots: true },
);

/** Whether a message in the thread counts as addressed to the bot. */
async function addresses({ sink }: Opened, user: string, text: string, more: Record<string, unknown>) {
  const { ts } = slack.say(GENERAL, user, text, more);
  const found = await until(`"${text}" arrives`, () => sink.messages.find(({ externalId }) => externalId === ts));
  return found.addressesBot;
}

describe('a thread in a channel', () => {
  test('that a mention opened needs no second mention', async () => {
    const bot = await start();
    const root = slack.say(GENERAL, ADA, `<@${BOT}> when is lunch?`);
    const thread = { thread_ts: root.ts, parent_user_id: ADA };
    slack.store(GENERAL, BOT, 'At noon.', { ...thread, bot_id: BOT_ID });
    expect(await addresses(bot, ADA, 'And supper?', thread)).toBe(true);
    expect(await addresses(bot, ADA, 'And breakfast?', thread)).toBe(true);
  });

  test('continues with everybody who was answered in it', async () => {
    const bot = await start();
    const thread = { thread_ts: slack.store(GENERAL, BOB, 'Lunch?').ts, parent_user_id: BOB };
    expect(await addresses(bot, BOB, 'Anyone?', thread)).toBe(false);
    expect(await addresses(bot, ADA, `<@${BOT}> do you know?`, thread)).toBe(true);
    expect(await addresses(bot, ADA, 'Is it far?', thread)).toBe(true);
    expect(await addresses(bot, BOB, 'I will come.', thread)).toBe(false);
  });

  test('is open to each person who asked in it', async () => {
    const bot = await start();
    const thread = { thread_ts: slack.say(GENERAL, ADA, `<@${BOT}> hello`).ts, parent_user_id: ADA };
    expect(await addresses(bot, BOB, `<@${BOT}> hello`, thread)).toBe(true);
    expect(await addresses(bot, ADA, 'How are you?', thread)).toBe(true);
    expect(await addresses(bot, BOB, 'And how is she?', thread)).toBe(true);
  });

  test('lets people talk to each other, and ignores other bots', async () => {
    const bot = await start();
    const thread = { thread_ts: slack.say(GENERAL, ADA, `<@${BOT}> hello`).ts, parent_user_id: ADA };
    expect(await addresses(bot, ADA, `<@${BOB}> what do you think?`, thread)).toBe(false);
    const robot = { ...thread, bot_id: 'B0ROBOT01' };
    expect(await addresses(bot, ROBOT, `<@${BOT}> beep`, robot)).toBe(true);
    expect(await addresses(bot, ROBOT, 'beep', robot)).toBe(false);
    expect(await addresses(bot, ADA, 'somewhere else', {})).toBe(false);
  });

  test('knows nobody any more after the conversation was erased', async () => {
    const state = createState();
    const bot = await start({ state });
    const thread = { thread_ts: slack.say(GENERAL, ADA, `<@${BOT}> hello`).ts, parent_user_id: ADA };
    await until('it is kept', async () => (await state.list('slack.asked')).length === 1);
    for (const { key } of await state.list('slack.asked')) await state.delete('slack.asked', key);
    expect(await addresses(bot, ADA, 'Are you there?', thread)).toBe(false);
    expect(await addresses(bot, BOB, `<@${BOT}> hello`, thread)).toBe(true);
    expect(await addresses(bot, ADA, 'And now?', thread)).toBe(false);
  });

  test('leaves nothing where no message was stored', async () => {
    const state = createState();
    const dropped: string[] = [];
    const sink = Object.assign(recordSink(), {
      async message({ text }: { readonly text: string }) {
        dropped.push(text);
        return { stored: false, willReply: false };
      },
    });
    const bot = await start({ state, sink, table: { direct_conversation: 'person' } });
    slack.say(GENERAL, ADA, `<@${BOT}> hello`);
    slack.say(DIRECT, ADA, 'hello', { channel_type: 'im' });
    await until('both are dropped', () => dropped.length === 2);
    await stop(bot);
    for (const name of ['asked', 'beginnings', 'threads']) expect(await state.list(`slack.${name}`)).toEqual([]);
    expect(state.writes).toContain(`slack.threads slack:${TEAM}:${DIRECT}`);
  });

  test('is still open to the same people after a restart', async () => {
    const state = createState();
    const first = await start({ state, table: { catch_up: { messages: 0 } } });
    const thread = { thread_ts: slack.say(GENERAL, ADA, `<@${BOT}> hello`).ts, parent_user_id: ADA };
    await until('it is stored', () => first.sink.messages.length === 1);
    await stop(first);
    const again = await start({ state, table: { catch_up: { messages: 0 } } });
    expect(await addresses(again, ADA, 'Are you back?', thread)).toBe(true);
    expect(await addresses(again, BOB, 'Is it?', thread)).toBe(false);
  });
});
