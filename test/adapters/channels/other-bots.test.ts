import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createDiscordChannel } from '../../../adapters/channels/discord/index.ts';
import { createSlackChannel } from '../../../adapters/channels/slack/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type Channel,
  createSystemClock,
  type Storage,
  type StrataEvent,
  silentLog,
} from '../../../src/adapter-kit.ts';
import { createBot } from '../../../src/bot/bot.ts';
import { scriptedModel, until } from '../../core/compaction/compaction.world.ts';
import * as discord from '../../fixtures/discord/double.ts';
import * as slack from '../../fixtures/slack/double.ts';
import { settingsFor } from '../../fixtures/slack/kit.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

interface Platform {
  open(storage: Storage): Channel;
  /** Another bot addresses this one in a channel. */
  beep(text: string): void;
  close(): Promise<void>;
}

async function openDiscord(): Promise<Platform> {
  const double = await discord.startDiscord();
  const settings = { token: discord.TOKEN, rest_url: double.restUrl, hear_bots: true };
  return {
    open: ({ state }) => createDiscordChannel({ settings, log: silentLog, state }),
    beep: (text) =>
      void double.say(discord.GENERAL, discord.OTHER_BOT, `<@${discord.BOT.id}> ${text}`, { mentions: [discord.BOT] }),
    close: () => double.close(),
  };
}

async function openSlack(): Promise<Platform> {
  const double = await slack.startSlack();
  const settings = settingsFor(double, { sockets: 1, hear_bots: true });
  return {
    open: ({ state }) => createSlackChannel({ settings, log: silentLog, state, clock: createSystemClock(), fetch }),
    // Each begins its own thread.
    beep: (text) => void double.say(slack.GENERAL, slack.ROBOT, `<@${slack.BOT}> ${text}`, { bot_id: 'B0ROBOT01' }),
    close: () => double.close(),
  };
}

const BEEPS = 25;
/** The number of triggers that the guard allows per minute. */
const MAX_ANSWERED = 20;

// Shows: E
test.each([
  ['Discord', openDiscord],
  ['Slack', openSlack],
])('another bot on %s is not answered endlessly', async (_, openPlatform) => {
  const platform = await openPlatform();
  const directory = await createStoreFolder('bots');
  const storage = await createSqliteStorage({ directory });
  const model = scriptedModel(() => ({ text: 'Beep.' }), { id: 'test:chat' });
  const bot = createBot({
    storage,
    queue: createLocalQueue({ log: silentLog, clock: createSystemClock() }),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'main', model: model.id, context_window: 8_000, tools: [], mode: 'active', allow_bots: true }],
    channels: [platform.open(storage)],
    log: silentLog,
  });
  const accepted: Extract<StrataEvent, { kind: 'message.accepted' }>[] = [];
  bot.events.on((event) => {
    if (event.kind === 'message.accepted') accepted.push(event);
  });
  await bot.start();
  for (let count = 0; count < BEEPS; count += 1) platform.beep(`beep ${count}`);
  await until(() => accepted.length === BEEPS);
  expect(accepted.filter(({ wantsReply }) => wantsReply)).toHaveLength(MAX_ANSWERED);
  await bot.stop({ deadlineMs: 20 });
  await platform.close();
  await rm(directory, { recursive: true, force: true });
});
