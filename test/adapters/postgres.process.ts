import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { makeKey, type Storage } from '../../src/adapter-kit.ts';
import { beginErasure } from '../contracts/begin-erasure.ts';

/**
 * A process that uses a database: `open` only opens and closes it, `hold` keeps it open until it is killed, `write` reports
 * each durable message, and `erase` dies while it deletes a conversation.
 */
const [url = '', work = 'open', name = '0'] = process.argv.slice(2);

async function main(): Promise<void> {
  const storage = await createPostgresStorage({ url });
  const { store } = storage;
  if (work === 'erase') return await dieErasing(storage);
  process.stdout.write('ready\n');
  if (work === 'open') return await store.close();
  if (work === 'hold') return void setInterval(() => undefined, 1_000);
  await Promise.all(Array.from({ length: 8 }, (_, writer) => write(store, writer)));
}

async function dieErasing(storage: Storage): Promise<void> {
  const { erased } = await beginErasure(storage);
  process.kill(process.pid, 'SIGKILL');
  await erased;
}

async function write(store: Awaited<ReturnType<typeof createPostgresStorage>>['store'], writer: number): Promise<void> {
  const conversation = makeKey({ platform: 'terminal', workspace: 'local', channel: `room${writer % 3}` });
  for (let n = 0; ; n++) {
    const externalId = `${name}-${writer}-${n}`;
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
        parts: [{ kind: 'text', text: `durable message ${externalId}` }],
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
