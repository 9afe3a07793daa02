import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ADA, BOB, DIRECT, type SlackDouble, startSlack, TEAM } from '../../fixtures/slack/double.ts';
import { type Opened, openChannel, until } from '../../fixtures/slack/kit.ts';

/** A direct message between Ada and Bob, which the bot is not part of: Slack does not show it. */
const BETWEEN_PEOPLE = 'D0BETWEEN';

let slack: SlackDouble;
let bot: Opened;
beforeEach(async () => {
  slack = await startSlack();
  bot = openChannel(slack, { table: { sockets: 1 } });
  await bot.channel.start(bot.sink);
});
afterEach(async () => {
  await bot.channel.stop();
  await slack.close();
});

const answered = (count: number) => until('it is answered', () => slack.answers.length >= count);

describe('a direct message between two other people', () => {
  test('is served by no command', async () => {
    slack.slash('memory remember Bob is leaving in May', { channel_id: BETWEEN_PEOPLE });
    await answered(1);
    slack.slash('memory list', { channel_id: BETWEEN_PEOPLE, user_id: BOB });
    await answered(2);
    expect(bot.sink.commands).toEqual([]);
    for (const answer of slack.answers) expect(JSON.stringify(answer)).toContain('it is not part of this conversation');
  });

  test('is served by no menu of a message', async () => {
    const message = { type: 'message', ts: '1700000000.000100', user: BOB, text: 'I am leaving in May' };
    const user = { id: ADA, team_id: TEAM };
    const menu = { type: 'message_action', user, channel: { id: BETWEEN_PEOPLE }, message };
    slack.interact({ ...menu, callback_id: 'remember_message' });
    await answered(1);
    expect(bot.sink.commands).toEqual([]);
  });
});

describe('a direct message with the bot', () => {
  test('is served although Slack describes it slowly', async () => {
    slack.delays.set('conversations.info', new Promise((resolve) => setTimeout(resolve, 1_500)));
    slack.slash('memory list', { channel_id: DIRECT });
    await answered(1);
    expect(bot.sink.commands).toMatchObject([{ audience: 'dm', author: { id: ADA } }]);
  });

  test('is served without Slack once somebody wrote there', async () => {
    slack.say(DIRECT, ADA, 'hello');
    await until('it is stored', () => bot.sink.messages.length === 1);
    slack.fail('conversations.info', ...Array.from({ length: 5 }, () => ({ error: 'missing_scope' })));
    slack.slash('memory list', { channel_id: DIRECT });
    await answered(1);
    expect(bot.sink.commands).toMatchObject([{ audience: 'dm', author: { id: ADA } }]);
  });
});
