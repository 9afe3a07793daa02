import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { DAY_MS } from '../../src/util/time/time.ts';
import {
  ADA,
  BOT,
  DIRECT,
  GENERAL,
  OTHER,
  OTHER_DIRECT,
  OTHER_GENERAL,
  OTHER_TEAM,
  SIGNING_SECRET,
  type SlackDouble,
  signed,
  startSlack,
  TEAM,
} from '../fixtures/slack/double.ts';
import { install } from '../fixtures/slack/installing.ts';
import { until } from '../fixtures/slack/kit.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../fixtures/slack/oauth.ts';
import { freePort, listening } from '../support/port.ts';
import { type Folder, openFolder } from './strata.ts';

let slack: SlackDouble;
let port: number;
beforeEach(async () => {
  slack = await startSlack();
  port = await freePort();
});
afterEach(() => slack.close());

const secrets = {
  SLACK_CLIENT_SECRET: CLIENT_SECRET,
  SLACK_SIGNING_SECRET: SIGNING_SECRET,
  STRATA_INSTALLATION_KEY: 'a key of at least thirty-two characters',
};
const config = () => `
[channels.slack]
transport = "http"
client_id = "${CLIENT_ID}"
client_secret = "env:SLACK_CLIENT_SECRET"
signing_secret = "env:SLACK_SIGNING_SECRET"
installation_key = "env:STRATA_INSTALLATION_KEY"
http = { host = "127.0.0.1", port = ${port}, public_url = "http://127.0.0.1:${port}" }
api_url = "${slack.apiUrl}"
`;

const post = async (body: string, type: string): Promise<number> => {
  const headers = { 'content-type': type, ...signed(body) };
  return (await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body, headers })).status;
};
const tell = async (teamId: string, event: Parameters<SlackDouble['emit']>[0]): Promise<void> => {
  const body = slack.eventBody(event, { team_id: teamId, context_team_id: teamId, authorizations: [] });
  expect(await post(JSON.stringify(body), 'application/json')).toBe(200);
};
const say = async (teamId: string, channel: string, text: string): Promise<string> => {
  const message = slack.store(channel, ADA, text, { team: teamId, user_team: teamId });
  await tell(teamId, { ...message, channel_type: channel.startsWith('D') ? 'im' : 'channel' });
  return message.ts;
};
const answered = (channel: string, thread: string) =>
  until(`an answer in ${channel}`, () => slack.posted(channel).find(({ thread_ts: ts }) => ts === thread), 60_000);
const OF_HOME = /afraid of geese|on 14 June|under the mat|is flooded/;
/** The output of one of Ada's commands. */
const command = async (teamId: string, channel: string, text: string): Promise<string> => {
  const before = slack.answers.length;
  const fields = { command: '/strata', text, user_id: ADA, team_id: teamId, channel_id: channel };
  const response = { response_url: `${slack.base}/respond`, trigger_id: `${before}` };
  await post(new URLSearchParams({ ...fields, ...response }).toString(), 'application/x-www-form-urlencoded');
  return JSON.stringify(await until(`an answer to ${text}`, () => slack.answers[before], 60_000));
};

/** The next start finds that the period of grace is over. */
async function letAWeekPass(folder: Folder): Promise<void> {
  const { state, store } = await createSqliteStorage({ directory: folder.file('data') });
  const [mark] = await state.list('slack.departures');
  await state.set('slack.departures', TEAM, { ...(mark?.value as object), at: Date.now() - 7 * DAY_MS });
  await store.close();
  const child = folder.start(['start']);
  const ended = once(child, 'exit');
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until('the deletion', () => output.includes('Deleting the data of a workspace'), 60_000);
  child.kill('SIGTERM');
  await ended;
}

test('two workspaces share nothing, and one that leaves is forgotten', async () => {
  using folder = openFolder(secrets);
  writeFileSync(folder.file('config.toml'), config());
  const child = folder.start(['start']);
  try {
    await listening(port);
    expect((await install(port)).status).toBe(200);
    slack.oauth.choice = OTHER;
    expect((await install(port)).status).toBe(200);

    await answered(DIRECT, await say(TEAM, DIRECT, 'My key lies under the mat.'));
    await answered(GENERAL, await say(TEAM, GENERAL, `<@${BOT}> our cellar is flooded.`));
    await command(TEAM, DIRECT, 'memory remember I am afraid of geese');
    await command(TEAM, GENERAL, 'memory remember the party is on 14 June');
    await answered(OTHER_DIRECT, await say(OTHER_TEAM, OTHER_DIRECT, 'Where does my key lie, and what do I fear?'));
    await answered(OTHER_GENERAL, await say(OTHER_TEAM, OTHER_GENERAL, `<@${OTHER.botUserId}> when is the party?`));

    expect(await command(TEAM, DIRECT, 'memory list')).toContain('geese');
    expect(await command(TEAM, DIRECT, 'transcript search mat')).toContain('under the mat');
    for (const place of [OTHER_DIRECT, OTHER_GENERAL]) {
      const asked = ['memory list', 'memory search geese party', 'memory export', 'transcript search mat cellar'];
      for (const text of asked) {
        expect(await command(OTHER_TEAM, place, text)).not.toMatch(OF_HOME);
      }
    }
    const shown = [...slack.posted(OTHER_DIRECT), ...slack.posted(OTHER_GENERAL), ...slack.uploads];
    expect(JSON.stringify(shown)).not.toMatch(OF_HOME);

    slack.oauth.remove(TEAM);
    await tell(TEAM, { type: 'app_uninstalled' });
    await answered(OTHER_DIRECT, await say(OTHER_TEAM, OTHER_DIRECT, 'Are you still here?'));
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await letAWeekPass(folder);
  const doctor = await folder.run(['doctor', '--json']);
  const { findings } = JSON.parse(doctor.stdout) as { findings: { checkId: string; severity: string }[] };
  const slackFindings = findings.filter(({ checkId }) => checkId.includes('slack'));
  expect(slackFindings.map(({ checkId, severity }) => `${checkId} ${severity}`)).toEqual([
    'channel.slack.oauth warn',
    'channel.slack.installations ok',
    `channel.slack.workspace.${OTHER_TEAM} ok`,
    `channel.slack.scopes.${OTHER_TEAM} ok`,
    'channel.slack.events ok',
    'channel.slack.http ok',
  ]);
  const data = folder.file('data');
  const files = readdirSync(data).map((name) => readFileSync(`${data}/${name}`).toString('latin1'));
  for (const gone of ['xoxb-', 'geese', '14 June', 'under the mat', 'is flooded', TEAM]) {
    expect(files.join()).not.toContain(gone);
  }
  expect(files.join()).toContain(OTHER_TEAM);
}, 240_000);
