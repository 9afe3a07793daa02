import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { makeKey, type Storage } from '../../src/adapter-kit.ts';
import { beginErasure } from '../contracts/begin-erasure.ts';

/**
 * A process that uses a store until it is killed: `hold` only keeps it open, `write` reports each durable message, and
 * `erase` dies while it deletes a conversation.
 */
const [directory = '', work = 'hold'] = process.argv.slice(2);

async function main(): Promise<void> {
  const storage = await createSqliteStorage({ directory });
  const { store } = storage;
  if (work === 'erase') return await dieErasing(storage);
  process.stdout.write('ready\n');
  if (work === 'hold') {
    setInterval(() => undefined, 1_000);
    return;
  }
  await Promise.all(Array.from({ length: 8 }, (_, writer) => write(store, writer)));
}

async function dieErasing(storage: Storage): Promise<void> {
  const { erased } = await beginErasure(storage);
  process.kill(process.pid, 'SIGKILL');
  await erased;
}

async function write(store: Awaited<ReturnType<typeof createSqliteStorage>>['store'], writer: number): Promise<void> {
  const conversation = makeKey({ platform: 'terminal', workspace: 'local', channel: `room${writer % 3}` });
  for (let n = 0; ; n++) {
    const externalId = `${writer}-${n}`;
    const parts = [{ kind: 'text', text: `durable message ${externalId}` }] as const;
    const { durable } = await store.transcript.append({
      conversation,
      audience: 'public',
      wantsReply: false,
      claimLeaseMs: null,
      idleExtractMs: 60_000,
      now: Date.now(),
      message: {
        externalId,
        role: 'user',
        author: null,
        parts,
        replyTo: null,
        mentions: [],
        tokens: 3,
        at: Date.now(),
      },
    });
    await durable;
    process.stdout.write(`${conversation} ${externalId}\n`);
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error && 'code' in error ? String(error.code) : String(error)}\n`);
  process.exitCode = 1;
});
