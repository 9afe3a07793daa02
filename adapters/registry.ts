import type { Adapters } from '../src/index.ts';

const postgres = async () => (await import('./stores/postgres/index.ts')).createPostgresStorage;
const bullMq = async () => (await import('./queues/bullmq/index.ts')).bullMqAdapter;

/** Everything that can be plugged in, by name. Nothing is loaded before it is asked for. */
export const adapters: Adapters = {
  channels: {
    discord: async () => (await import('./channels/discord/index.ts')).discordAdapter,
    slack: async () => (await import('./channels/slack/index.ts')).slackAdapter,
    terminal: async () => (await import('./channels/terminal/index.ts')).terminalAdapter,
  },
  queues: {
    local: async () => (await import('./queues/local/index.ts')).localAdapter,
    redis: bullMq,
    rediss: bullMq,
    postgres: bullMq,
    postgresql: bullMq,
  },
  stores: {
    sqlite: async () => (await import('./stores/sqlite/index.ts')).createSqliteStorage,
    postgres,
    postgresql: postgres,
  },
  models: async () => (await import('./models/ai-sdk/index.ts')).createAiSdkModels,
  builtInModels: {
    offline: async () => (await import('./models/offline/index.ts')).createOfflineModel(),
  },
  operations: async () => (await import('./operations/http/index.ts')).startOperations,
  log: async () => (await import('./logs/pino/index.ts')).createPinoLog,
};
