// A bot in the terminal, with memory and background summaries. Start it: node minimal-bot.ts
import { createBot } from 'stratabot';
import { createTerminalChannel } from 'stratabot/adapters/channels/terminal';
import { createAiSdkModels } from 'stratabot/adapters/models/ai-sdk';
import { createOfflineModel } from 'stratabot/adapters/models/offline';
import { createLocalQueue } from 'stratabot/adapters/queues/local';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';

const terminal = createTerminalChannel();
const bot = createBot({
  channels: [terminal],
  models: createAiSdkModels({ environment: process.env, builtIn: { offline: async () => createOfflineModel() } }),
  queue: createLocalQueue(),
  storage: await createSqliteStorage({ directory: 'data' }),
  agents: [{ id: 'main', persona: 'You are Vera, a calm and precise assistant.' }],
});
await bot.start();
await terminal.ended;
await bot.stop();
