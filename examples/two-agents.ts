// Two agents in one bot. Routes decide which one answers. Start it: node two-agents.ts kitchen    (or: garden)
import { createBot, makeKey } from 'stratabot';
import { createTerminalChannel } from 'stratabot/adapters/channels/terminal';
import { createAiSdkModels } from 'stratabot/adapters/models/ai-sdk';
import { createOfflineModel } from 'stratabot/adapters/models/offline';
import { createLocalQueue } from 'stratabot/adapters/queues/local';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';

const channel = process.argv[2] ?? 'kitchen';
const terminal = createTerminalChannel({
  conversation: makeKey({ platform: 'terminal', workspace: 'local', channel }),
});
const bot = createBot({
  channels: [terminal],
  models: createAiSdkModels({ environment: process.env, builtIn: { offline: async () => createOfflineModel() } }),
  queue: createLocalQueue(),
  storage: await createSqliteStorage({ directory: 'data' }),
  agents: [
    {
      id: 'cook',
      persona: 'You are a cook. You answer with recipes.',
      default: true,
    },
    {
      id: 'gardener',
      persona: 'You are a gardener. You answer with advice about plants.',
      // A small budget for summaries, and a cheaper model for them: each agent overrides what it needs.
      compaction: { stack_share: 0.1, model: process.env['SUMMARY_MODEL'] ?? 'auto' },
      routes: [{ match: 'terminal:*:garden', mode: 'active' }],
    },
  ],
});
await bot.start();
await terminal.ended;
await bot.stop();
