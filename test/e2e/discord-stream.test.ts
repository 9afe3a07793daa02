import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADA, type DiscordDouble, GENERAL, startDiscord, TOKEN } from '../fixtures/discord/double.ts';
import { until } from '../fixtures/discord/kit.ts';
import { chunk, serve, sse, type TestServer } from '../fixtures/models-server.ts';
import { SIZED, spread } from '../support/size.ts';
import { type Folder, openFolder } from './strata.ts';

/** A process that is killed while it shows a reply by edits. */

let double: DiscordDouble;
let model: TestServer;
let folder: Folder;
/** Otherwise an answer stops halfway. */
let isWhole = false;

beforeEach(async () => {
  isWhole = false;
  double = await startDiscord();
  model = await serve((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    sse(response, [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Once upon ' })]);
    const finish = () => {
      sse(response, [chunk({ content: 'a time.' }), chunk({}, 'stop'), '[DONE]']);
      response.end();
    };
    const look = setInterval(() => {
      if (isWhole) finish();
      if (isWhole || response.destroyed) clearInterval(look);
    }, 20);
  });
  folder = openFolder({ DISCORD_BOT_TOKEN: TOKEN });
  const config = [
    '[defaults]',
    'model = "scripted:m"',
    'mode = "active"',
    '[providers.scripted]',
    `base_url = "${model.url}"`,
    '[channels.discord]',
    'token = "env:DISCORD_BOT_TOKEN"',
    'streaming = true',
    'streaming_seconds = 1',
    `rest_url = "${double.restUrl}"`,
  ];
  writeFileSync(folder.file('config.toml'), config.join('\n'));
});

afterEach(async () => {
  await double.close();
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function start() {
  const before = double.gateway.identifies.length;
  const child = folder.start(['start']);
  const exit = new Promise((resolve) => child.on('close', resolve));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
  };
  await until('a session', () => double.gateway.identifies.length > before && double.gateway.live > 0, 60_000);
  return { kill };
}

const texts = () => double.posted(GENERAL).map(({ content }) => content);
const shows = (text: string) => until(`"${text}"`, () => texts().includes(text), 90_000);

/** What Discord does before the kill, what is then shown, and whether the reply was whole by then. */
const MOMENTS = [
  ['before Discord has answered', 'POST', 'Once upon', false],
  ['after Discord has answered', null, 'Once upon', false],
  ['before the final edit is confirmed', 'PATCH', 'Once upon a time.', true],
  ['after the final edit', null, 'Once upon a time.', true],
] as const;

// Shows: I
test.each(spread(MOMENTS, 2))(
  'killed mid-stream %s, leaves one whole reply',
  { ...SIZED, timeout: 180_000 },
  async (_, silent, shown, isFinal) => {
    if (silent !== null) double.rest.silence(silent, /messages/);
    const first = await start();
    double.say(GENERAL, ADA, 'Tell me a story.');
    await shows('Once upon');
    isWhole = isFinal;
    await shows(shown);
    await first.kill();
    expect(texts()).toEqual([shown]);
    isWhole = true;
    const again = await start();
    await shows('Once upon a time.');
    // What is posted twice is there before the next reply.
    double.say(GENERAL, ADA, 'And now?');
    await until('both replies', () => texts().filter((text) => text === 'Once upon a time.').length === 2, 90_000);
    await until('nothing else is left', () => texts().length === 2);
    await again.kill();
  },
);
