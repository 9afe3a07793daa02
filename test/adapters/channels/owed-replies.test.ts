import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDiscordChannel } from '../../../adapters/channels/discord/index.ts';
import { createSlackChannel } from '../../../adapters/channels/slack/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { type Channel, createSystemClock, type Storage, silentLog } from '../../../src/adapter-kit.ts';
import { createBot } from '../../../src/bot/bot.ts';
import { type ScriptedModel, scriptedModel, until } from '../../core/compaction/compaction.world.ts';
import * as discord from '../../fixtures/discord/double.ts';
import { TOKEN } from '../../fixtures/discord/double.ts';
import * as slack from '../../fixtures/slack/double.ts';
import { settingsFor } from '../../fixtures/slack/kit.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/** Replies that an earlier run owed, whose question was edited or deleted before the next start. */

interface Question {
  edit(text: string): void;
  remove(): void;
}

/** A platform with two places in which the bot answers. */
interface Platform {
  open(storage: Storage): Channel;
  /** Asked while the bot is connected. */
  ask(place: 'here' | 'there', text: string): Question;
  /** The next posts fail. */
  failPosts(times: number): void;
  /** How often the bot tried to post, and what it posted. */
  tried(): number;
  posted(): string;
  /** Delays the requests that find edits and deletions. */
  delayHistory(until: Promise<void>): void;
  close(): Promise<void>;
}

const POSTS = /^\/channels\/\d+\/messages$/;

async function openDiscord(): Promise<Platform> {
  const double = await discord.startDiscord();
  const channels = { here: discord.DIRECT, there: discord.GENERAL };
  return {
    open: ({ state }) =>
      createDiscordChannel({ settings: { token: TOKEN, rest_url: double.restUrl }, log: silentLog, state }),
    ask(place, text) {
      const mentions = place === 'here' ? {} : { content: `<@${discord.BOT.id}> ${text}`, mentions: [discord.BOT] };
      const made = double.say(channels[place], discord.ADA, mentions.content ?? text, mentions);
      return {
        edit: (edited) => double.edit(made, edited, { silent: true }),
        remove: () => double.remove(made, { silent: true }),
      };
    },
    failPosts: (times) => double.rest.fail('POST', POSTS, { status: 503, times }),
    tried: () => double.rest.requests.filter(({ method, path }) => method === 'POST' && POSTS.test(path)).length,
    posted: () => JSON.stringify(Object.values(channels).map((channel) => double.messagesIn(channel))),
    delayHistory: (end) => double.rest.delay('GET', new RegExp(`^/channels/${discord.DIRECT}/messages`), end),
    close: () => double.close(),
  };
}

async function openSlack(): Promise<Platform> {
  const double = await slack.startSlack();
  return {
    open: ({ state }) => {
      const parts = { log: silentLog, state, clock: createSystemClock(), fetch };
      return createSlackChannel({ settings: settingsFor(double, { sockets: 1 }), ...parts });
    },
    ask(place, text) {
      const made =
        place === 'here'
          ? double.say(slack.DIRECT, slack.ADA, text)
          : double.say(slack.GENERAL, slack.ADA, `<@${slack.BOT}> ${text}`);
      const index = double.messages.findIndex(({ ts }) => ts === made.ts);
      return {
        edit(edited) {
          const fields = { text: edited, edited: { user: slack.ADA, ts: `${Number(made.ts) + 5}` } };
          double.messages[index] = { ...made, ...fields };
        },
        remove: () => void double.messages.splice(index, 1),
      };
    },
    failPosts: (times) =>
      double.fail('chat.postMessage', ...Array.from({ length: times }, () => ({ error: 'service_unavailable' }))),
    tried: () => double.callsOf('chat.postMessage').length,
    posted: () => JSON.stringify(double.messages),
    delayHistory(end) {
      for (const method of ['conversations.history', 'conversations.replies']) double.delays.set(method, end);
    },
    close: () => double.close(),
  };
}

describe.each([
  ['Discord', openDiscord],
  ['Slack', openSlack],
])('a reply owed on %s', (_, openPlatform) => {
  let platform: Platform;
  let directory: string;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    platform = await openPlatform();
    directory = await createStoreFolder('owed');
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await platform.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** The model's requests, as text. */
  const asked = ({ requests }: ScriptedModel) => requests.map(({ messages }) => JSON.stringify(messages));

  async function run(model: ScriptedModel) {
    const storage = await createSqliteStorage({ directory });
    const bot = createBot({
      storage,
      queue: createLocalQueue({ log: silentLog, clock: createSystemClock() }),
      models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
      agents: [{ id: 'main', model: model.id, context_window: 8_000, tools: [] }],
      channels: [platform.open(storage)],
      log: silentLog,
    });
    await bot.start();
    const stop = () => bot.stop({ deadlineMs: 20 });
    stops.push(stop);
    return stop;
  }

  const hanging = () => scriptedModel((_request, { signal }) => untilAborted(signal), { id: 'test:chat' });
  const answering = () => scriptedModel(() => ({ text: 'Nice.' }), { id: 'test:chat' });

  /** The bot stores the question and stops before it answers. */
  async function leaveOwed(text: string): Promise<Question> {
    const model = hanging();
    const stop = await run(model);
    const question = platform.ask('here', text);
    await until(() => model.requests.length === 1);
    await stop();
    return question;
  }

  test('is written for the question as it was edited', async () => {
    const question = await leaveOwed('my tent is orange');
    question.edit('my tent is turquoise');
    const model = answering();
    await run(model);
    await until(() => model.requests.length > 0);
    expect(asked(model)[0]).toContain('turquoise');
    expect(asked(model)[0]).not.toContain('orange');
  });

  test('is not written when the question was deleted', async () => {
    const question = await leaveOwed('my tent is orange');
    question.remove();
    const model = answering();
    await run(model);
    platform.ask('there', 'are you there?');
    await until(() => model.requests.length > 0);
    expect(asked(model).filter((request) => request.includes('orange'))).toEqual([]);
  });

  test('is not posted when it repeats what was deleted', async () => {
    const saying = (text: string) => scriptedModel(() => ({ text }), { id: 'test:chat' });
    platform.failPosts(1);
    const stop = await run(saying('Good to know: your tent is orange.'));
    const question = platform.ask('here', 'my tent is orange');
    await until(() => platform.tried() > 0);
    await stop();
    question.remove();
    await run(saying('Here I am.'));
    platform.ask('there', 'are you there?');
    await until(() => platform.posted().includes('Here I am.'));
    await delay(3_000);
    expect(platform.posted()).not.toContain('Good to know');
  });

  test('waits for history, and live messages do not', async () => {
    const history = Promise.withResolvers<void>();
    await leaveOwed('my tent is orange');
    const model = answering();
    platform.delayHistory(history.promise);
    await run(model);
    platform.ask('there', 'are you there?');
    await until(() => model.requests.length > 0);
    expect(asked(model)[0]).toContain('are you there?');
    history.resolve();
    await until(() => model.requests.length > 1);
    expect(asked(model)[1]).toContain('orange');
  });
});

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}
