import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDiscordChannel } from '../../../adapters/channels/discord/index.ts';
import { createSlackChannel } from '../../../adapters/channels/slack/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { type Channel, createSystemClock, type Storage, silentLog, textOf } from '../../../src/adapter-kit.ts';
import { type Bot, createBot } from '../../../src/bot/bot.ts';
import { scriptedModel, until } from '../../core/compaction/compaction.world.ts';
import * as discord from '../../fixtures/discord/double.ts';
import { TOKEN } from '../../fixtures/discord/double.ts';
import * as slack from '../../fixtures/slack/double.ts';
import { settingsFor } from '../../fixtures/slack/kit.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/** What was erased stays erased, although the platform still has it. */

interface Platform {
  open(storage: Storage): Channel;
  say(place: 'here' | 'there', text: string): void;
  /** Quotes what was said here last, or continues its thread. */
  reply(text: string): void;
  close(): Promise<void>;
}

async function openDiscord(): Promise<Platform> {
  const double = await discord.startDiscord();
  const channels = { here: discord.GENERAL, there: discord.DIRECT };
  let last: ReturnType<typeof double.say> | null = null;
  return {
    open: ({ state }) =>
      createDiscordChannel({ settings: { token: TOKEN, rest_url: double.restUrl }, log: silentLog, state }),
    say(place, text) {
      if (place === 'there') double.say(channels.there, discord.ADA, text, {});
      else last = double.say(channels.here, discord.ADA, `<@${discord.BOT.id}> ${text}`, { mentions: [discord.BOT] });
    },
    reply(text) {
      const reference = { message_id: last?.id, channel_id: channels.here };
      const quoted = { type: 19, message_reference: reference, referenced_message: last };
      double.say(channels.here, discord.ADA, `<@${discord.BOT.id}> ${text}`, { mentions: [discord.BOT], ...quoted });
    },
    close: () => double.close(),
  };
}

async function openSlack(): Promise<Platform> {
  const double = await slack.startSlack();
  let last = '';
  return {
    open: ({ state }) => {
      const parts = { log: silentLog, state, clock: createSystemClock(), fetch };
      return createSlackChannel({ settings: settingsFor(double, { sockets: 1 }), ...parts });
    },
    say(place, text) {
      if (place === 'there') double.say(slack.DIRECT, slack.ADA, text);
      else last = double.say(slack.GENERAL, slack.ADA, `<@${slack.BOT}> ${text}`).ts;
    },
    reply(text) {
      double.say(slack.GENERAL, slack.ADA, `<@${slack.BOT}> ${text}`, { thread_ts: last });
    },
    close: () => double.close(),
  };
}

describe.each([
  ['Discord', openDiscord],
  ['Slack', openSlack],
])('an erased conversation on %s', (_, openPlatform) => {
  let platform: Platform;
  let directory: string;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    platform = await openPlatform();
    directory = await createStoreFolder('erased');
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await platform.close();
    await rm(directory, { recursive: true, force: true });
  });
  const model = () => scriptedModel(() => ({ text: 'Nice.' }), { id: 'test:chat' });

  async function run() {
    const own = model();
    const storage = await createSqliteStorage({ directory });
    const bot = createBot({
      storage,
      queue: createLocalQueue({ log: silentLog, clock: createSystemClock() }),
      models: { open: async () => own, choose: async () => ({ modelId: own.id, reason: 'it is the only one' }) },
      agents: [{ id: 'main', model: own.id, context_window: 8_000, tools: [] }],
      channels: [platform.open(storage)],
      log: silentLog,
    });
    await bot.start();
    const stop = () => bot.stop({ deadlineMs: 20 });
    stops.push(stop);
    return { bot, model: own, stop };
  }

  /** What is stored of each conversation. */
  async function stored({ services: { store } }: Bot) {
    const all = await store.conversations.list({ order: 'active', limit: 100, after: null });
    const texts = all.map(async ({ id, key }) => {
      const entries = await store.transcript.read(id, { fromSeq: 1, toSeq: 100, limit: 100 });
      return { key, text: entries.map(({ parts }) => textOf(parts)).join(', ') };
    });
    return await Promise.all(texts);
  }
  const isStored = async (bot: Bot, text: string) => (await stored(bot)).some((one) => one.text.includes(text));

  async function erase(bot: Bot, text: string): Promise<void> {
    const found = (await stored(bot)).find((one) => one.text.includes(text));
    if (found === undefined) throw new Error(`"${text}" is not stored.`);
    const by = { author: { id: 'U1', name: 'Ada', kind: 'person' }, rights: 'operator', audience: 'public' } as const;
    const command = { conversation: found.key, path: ['privacy', 'erase'], options: { confirm: 'yes' }, ...by };
    expect((await bot.sink.command(command)).tone).toBe('success');
    expect(await isStored(bot, text)).toBe(false);
  }

  test.each([
    ['nothing', null],
    ['something', 'and now'],
  ])('stays erased at the next start, with %s said since', async (_what, since) => {
    const first = await run();
    platform.say('there', 'hello there');
    await until(() => first.model.requests.length === 1);
    platform.say('here', 'my tent is orange');
    await until(() => first.model.requests.length === 2);
    await first.bot.settled();
    await erase(first.bot, 'orange');
    if (since !== null) {
      platform.say('here', since);
      await until(() => isStored(first.bot, since));
      await first.bot.settled();
    }
    await first.stop();
    await delay(1_100);
    platform.say('here', 'meanwhile');
    const second = await run();
    await until(() => isStored(second.bot, 'meanwhile'));
    await delay(2_000);
    expect(await isStored(second.bot, 'orange')).toBe(false);
    expect(JSON.stringify(second.model.requests)).not.toContain('orange');
  });

  test('is quoted in no later message', async () => {
    const { bot, model } = await run();
    platform.say('here', 'my tent is orange');
    await until(() => model.requests.length === 1);
    await bot.settled();
    await erase(bot, 'orange');
    await delay(1_100);
    platform.reply('and now');
    await until(() => model.requests.length === 2);
    await bot.settled();
    expect(await isStored(bot, 'and now')).toBe(true);
    expect(await isStored(bot, 'orange')).toBe(false);
    expect(JSON.stringify(model.requests[1])).not.toContain('orange');
  });
});
