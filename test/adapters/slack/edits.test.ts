import { describe, expect, test } from 'vitest';
import { ADA, GENERAL, type Message, ROBOT, type SlackDouble } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, type Opened, recordSink, until } from '../../fixtures/slack/kit.ts';

/** Changes of messages that Slack tells in unusual ways. */

let slack: SlackDouble;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});

/** Sends the event of a change, and returns the message after it. */
function change(before: Message, fields: Record<string, unknown>): Message {
  const after = { ...before, ...fields };
  const ts = `${Math.floor(Date.now() / 1000) + 1}.000100`;
  const event = { type: 'message', subtype: 'message_changed', hidden: true, channel: GENERAL, ts };
  slack.emit({ ...event, message: after, previous_message: before });
  return after;
}

const edited = ({ sink }: Opened, text: string) =>
  until(`the edit to "${text}"`, () => sink.edits.find(({ parts }) => JSON.stringify(parts).includes(text)));

describe('an edit', () => {
  test('in the second of the edit before it is read', async () => {
    const bot = await start();
    const said = slack.say(GENERAL, ADA, 'orange');
    await arrived(bot, 'orange');
    const second = { user: ADA, ts: `${Math.floor(Date.now() / 1000)}.000000` };
    change(change(said, { text: 'green', edited: second }), { text: 'blue', edited: second });
    await edited(bot, 'green');
    const last = await edited(bot, 'blue');
    expect(last.at).toBeGreaterThan(Number(said.ts) * 1000);
  });

  test('of a text that an app streams is read', async () => {
    const bot = await start();
    const said = slack.say(GENERAL, ROBOT, 'The answer', { bot_id: 'B0ROBOT01' });
    await arrived(bot, 'The answer');
    change(said, { text: 'The answer is 42.' });
    await edited(bot, 'The answer is 42.');
  });
});

describe('a deleted file', () => {
  const shared = () => {
    slack.files.set('/files/plan', { body: Buffer.from('the secret plan'), type: 'text/plain' });
    const file = { id: 'F1', name: 'plan.txt', mimetype: 'text/plain', size: 15 };
    return { subtype: 'file_share', files: [{ ...file, url_private: `${slack.base}/files/plan` }] };
  };
  const DELETED = { files: [{ id: 'F1', mode: 'tombstone' }] };
  const READ = 'see\n[file plan.txt]\nthe secret plan';

  test('takes its text with it', async () => {
    const bot = await start();
    const said = slack.say(GENERAL, ADA, 'see', shared());
    await arrived(bot, READ);
    change(said, DELETED);
    const { parts } = await edited(bot, 'no longer there');
    expect(JSON.stringify(parts)).not.toContain('secret');
  });

  test('takes its text with it while the bot is offline', async () => {
    const options = { sink: recordSink(), state: createState() };
    const bot = await start(options);
    const said = slack.say(GENERAL, ADA, 'see', shared());
    await arrived(bot, READ);
    await stop(bot);
    slack.messages[slack.messages.findIndex(({ ts }) => ts === said.ts)] = { ...said, ...DELETED };
    const { parts } = await edited(await start(options), 'no longer there');
    expect(JSON.stringify(parts)).not.toContain('secret');
  });
});
