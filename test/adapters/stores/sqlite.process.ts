import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { dieErasing, reportError, writeOn } from '../../support/store-process.ts';

/**
 * A process that uses a store until it is killed: `hold` only keeps it open, `write` reports each durable message, and
 * `erase` dies while it deletes a conversation.
 */
const [directory = '', work = 'hold'] = process.argv.slice(2);

async function main(): Promise<void> {
  const storage = await createSqliteStorage({ directory });
  if (work === 'erase') return await dieErasing(storage);
  process.stdout.write('ready\n');
  if (work === 'hold') return void setInterval(() => undefined, 1_000);
  await writeOn(storage, '');
}

await main().catch(reportError);
