import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chunk, serve, sse, type TestServer } from '../fixtures/models-server.ts';
import { ADA, APP_TOKEN, BOT_TOKEN, DIRECT, type SlackDouble, startSlack } from '../fixtures/slack/double.ts';
import { until } from '../fixtures/slack/kit.ts';
import { SIZED, spread } from '../support/size.ts';
import { type Folder, openFolder } from './strata.ts';

/** A process that is killed while it streams a reply. */

let slack: SlackDouble;
let model: TestServer;
let folder: Folder;
/** The first answer stops halfway. */
let isWhole = false;

beforeEach(async () => {
  isWhole = false;
  slack = await startSlack();
  model = await serve((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    sse(response, [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Once upon ' })]);
    if (!isWhole) return;
    sse(response, [chunk({ content: 'a time.' }), chunk({}, 'stop'), '[DONE]']);
    response.end();
  });
  folder = openFolder({ SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_APP_TOKEN: APP_TOKEN });
  const config = [
    '[defaults]',
    'model = "scripted:m"',
    '[providers.scripted]',
    `base_url = "${model.url}"`,
    '[channels.slack]',
    'bot_token = "env:SLACK_BOT_TOKEN"',
    'app_token = "env:SLACK_APP_TOKEN"',
    'streaming = true',
    'streaming_seconds = 0.1',
    `api_url = "${slack.apiUrl}"`,
  ];
  writeFileSync(folder.file('config.toml'), config.join('\n'));
});

afterEach(async () => {
  await slack.close();
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function start() {
  const before = slack.opened();
  const child = folder.start(['start']);
  const exit = new Promise((resolve) => child.on('close', resolve));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
    await until('its sockets are gone', () => slack.sockets() === 0);
  };
  await until('a connection', () => slack.opened() > before && slack.sockets() > 0, 60_000);
  return { kill };
}

const texts = () => slack.posted(DIRECT).map(({ text }) => text);

const MOMENTS = [
  ['before Slack has answered', [{ hangs: true }]],
  ['after Slack has answered', []],
] as const;

// Shows: I
test.each(spread(MOMENTS, 1))(
  'killed mid-stream %s, leaves one whole reply',
  { ...SIZED, timeout: 180_000 },
  async (_, failures) => {
    slack.fail('chat.startStream', ...failures);
    const first = await start();
    slack.say(DIRECT, ADA, 'Tell me a story.');
    await until('a draft', () => texts().includes('Once upon '), 60_000);
    await first.kill();
    expect(texts()).toEqual(['Once upon ']);
    isWhole = true;
    const again = await start();
    await until('the whole reply', () => texts().includes('Once upon a time.'), 90_000);
    await until('nothing else is left', () => texts().length === 1);
    await again.kill();
  },
);
