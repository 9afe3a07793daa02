import { describe, expect, test } from 'vitest';
import { ADA, BOB, BOT, GENERAL, type SlackDouble, STAFF } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { createState, recordSink, until } from '../../fixtures/slack/kit.ts';

/** What was said in a channel while the bot was not in it. */

let slack: SlackDouble;
let sink = recordSink();
let state = createState();
const bots = slackForEachTest((fresh) => {
  slack = fresh;
  sink = recordSink();
  state = createState();
});
const start = () => bots.start({ sink, state });
const arrived = (text: string) =>
  until(`"${text}" arrives`, () => sink.messages.find((message) => message.text.endsWith(text)));
const texts = () => sink.messages.map(({ text }) => text);
const joins = (user: string) => slack.store(STAFF, user, `<@${user}> has joined`, { subtype: 'channel_join' });
const leaves = (user: string) => slack.store(STAFF, user, `<@${user}> was removed`, { subtype: 'channel_leave' });

/** Starts the bot once, so that there is something to catch up with. */
async function wasStarted(channel = GENERAL): Promise<void> {
  const first = await start();
  slack.say(channel, ADA, 'hello');
  await arrived('hello');
  await bots.stop(first);
}

describe('missed messages', () => {
  test('begin in a new channel with the invitation', async () => {
    await wasStarted();
    const root = slack.store(STAFF, ADA, 'among us: the plan');
    slack.store(STAFF, BOB, 'a reply among us', { thread_ts: root.ts });
    slack.store(STAFF, ADA, `<@${BOT}> a question before it came`);
    joins(BOT);
    slack.store(STAFF, BOB, 'welcome');
    joins(ADA);
    slack.store(STAFF, BOB, 'now with the bot', { thread_ts: root.ts });
    await start();
    await arrived('now with the bot');
    await arrived('welcome');
    await arrived('a question before it came');
    expect(texts().filter((text) => text.includes('among us') && !text.endsWith('now with the bot'))).toEqual([]);
  });

  test('leave out the time between removal and return', async () => {
    await wasStarted(STAFF);
    slack.store(STAFF, ADA, 'before the removal');
    leaves(BOT);
    slack.store(STAFF, ADA, 'now that it is gone');
    joins(BOT);
    slack.store(STAFF, ADA, 'after its return');
    await start();
    await arrived('before the removal');
    await arrived('after its return');
    expect(texts()).not.toContain('now that it is gone');
  });
});
