import { createOfflineModel } from '../../adapters/models/offline/index.ts';
import { createBullMqQueue } from '../../adapters/queues/bullmq/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { createBot } from '../../src/bot/bot.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';

/** A worker on the same file as the gateway of the test. It exists to be killed, and reports when it has begun. */
const [directory = '', url = ''] = process.argv.slice(2);
const log = silentLog;
const model = createOfflineModel();
const storage = await createSqliteStorage({ directory, shared: true });
const bot = createBot({
  storage,
  queue: createBullMqQueue({ url, storage, log, onTrouble: () => undefined }),
  models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
  agents: [{ id: 'main', model: model.id, mode: 'active' }],
  role: 'worker',
});
await bot.start();
process.stdout.write('ready\n');
setInterval(() => undefined, 1000);
