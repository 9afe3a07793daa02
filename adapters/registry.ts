import { type Adapters, loadOptional } from '../src/adapter-kit.ts';

const postgres = async () =>
  (await loadOptional(['pg'], () => import('./stores/postgres/index.ts'))).createPostgresStorage;
const bullMq = (packages: readonly string[]) => async () =>
  (await loadOptional(packages, () => import('./queues/bullmq/index.ts'))).bullMqAdapter;
const onRedis = bullMq(['bullmq', 'ioredis']);
const onPostgres = bullMq(['bullmq', 'ioredis', 'pg']);

/** Every adapter by name. Each is loaded on first use. */
export const adapters: Adapters = {
  channels: {
    discord: async () => (await import('./channels/discord/index.ts')).discordAdapter,
    slack: async () => (await import('./channels/slack/index.ts')).slackAdapter,
    terminal: async () => (await import('./channels/terminal/index.ts')).terminalAdapter,
  },
  queues: {
    local: async () => (await import('./queues/local/index.ts')).localAdapter,
    redis: onRedis,
    rediss: onRedis,
    postgres: onPostgres,
    postgresql: onPostgres,
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
  prices: async () => (await import('./prices/genai-prices/index.ts')).createPriceList,
  reranker: async () => (await import('./rerankers/http/index.ts')).createHttpReranker,
  operations: async () => (await import('./operations/http/index.ts')).startOperations,
  inspector: async () => (await import('./inspector/web/index.ts')).startInspector,
  log: async () => (await import('./logs/pino/index.ts')).createPinoLog,
};
