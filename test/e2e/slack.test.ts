import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADA, APP_TOKEN, BOT, BOT_TOKEN, GENERAL, type SlackDouble, startSlack } from '../fixtures/slack/double.ts';
import { until } from '../fixtures/slack/kit.ts';
import { jsonLines, openFolder } from './strata.ts';

let slack: SlackDouble;
beforeEach(async () => {
  slack = await startSlack();
});
afterEach(() => slack.close());

const tokens = { SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_APP_TOKEN: APP_TOKEN };
const config = () => `
[channels.slack]
bot_token = "env:SLACK_BOT_TOKEN"
app_token = "env:SLACK_APP_TOKEN"
api_url = "${slack.apiUrl}"
`;
const repliesIn = (thread: string) =>
  slack.posted(GENERAL).filter(({ thread_ts: threadTs, text }) => threadTs === thread && text !== '');

test('a thread passes all tiers, the process is killed and restarted in between, memories are managed, nothing is lost or doubled', async () => {
  using folder = openFolder(tokens);
  writeFileSync(folder.file('config.toml'), config());
  let child = folder.start(['start']);
  try {
    await until('it is connected', () => slack.sockets() > 0, 20_000);
    const root = slack.say(GENERAL, ADA, `<@${BOT}> My name is Ada and I prefer tea to coffee.`);
    await until('the first answer', () => repliesIn(root.ts).length === 1, 20_000);
    const long = 'We talked about the garden, the tables, the wood, the music and the weather. '.repeat(12);
    for (let index = 0; index < 12; index += 1) {
      slack.say(GENERAL, ADA, `<@${BOT}> Note ${index}: ${long}`, { thread_ts: root.ts });
      await until(`answer ${index}`, () => repliesIn(root.ts).length === index + 2, 20_000);
    }

    child.kill('SIGKILL');
    await until('it is gone', () => slack.sockets() === 0, 10_000);
    slack.store(GENERAL, ADA, `<@${BOT}> Said while you were away: the party is on 14 June.`, { thread_ts: root.ts });
    child = folder.start(['start']);
    await until('what was missed is answered', () => repliesIn(root.ts).length === 14, 30_000);

    slack.slash('memory list');
    await until('memories are listed', () => JSON.stringify(slack.answers).includes('tea'), 30_000);
    slack.emit({ type: 'app_home_opened', user: ADA, channel: 'D0ADA0001', tab: 'home' });
    await until('the home is published', () => slack.callsOf('views.publish').length === 1, 10_000);
    await delay(300);
    const nonces = repliesIn(root.ts).map(({ metadata }) => JSON.stringify(metadata));
    expect(new Set(nonces).size).toBe(14);
  } finally {
    child.kill('SIGTERM');
    await delay(500);
    child.kill('SIGKILL');
  }
  const summaries = await folder.run(['summaries', 'list', '--conversation', keyOfThread(), '--json']);
  expect(summaries).toMatchObject({ code: 0, stderr: '' });
  expect(jsonLines(summaries.stdout).length).toBeGreaterThan(0);
}, 180_000);

function keyOfThread(): string {
  const [root] = slack.messages;
  return `slack:T0HOME001:${GENERAL}:${root?.ts ?? ''}`;
}
