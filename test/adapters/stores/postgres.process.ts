import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { dieErasing, reportError, writeOn } from '../../support/store-process.ts';

/**
 * A process that uses a database: `open` only opens and closes it, `hold` keeps it open until it is killed, `write` reports
 * each durable message, and `erase` dies while it deletes a conversation.
 */
const [url = '', work = 'open', name = '0'] = process.argv.slice(2);

async function main(): Promise<void> {
  const storage = await createPostgresStorage({ url });
  if (work === 'erase') return await dieErasing(storage);
  process.stdout.write('ready\n');
  if (work === 'open') return await storage.store.close();
  if (work === 'hold') return void setInterval(() => undefined, 1_000);
  await writeOn(storage, `${name}-`);
}

await main().catch(reportError);
