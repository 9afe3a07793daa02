import { makeKey, type Storage } from '../../src/adapter-kit.ts';
import { beginErasure } from '../contracts/begin-erasure.ts';

/** What processes of the tests do with a store until they are killed. */

/** Dies while it deletes a conversation. */
export async function dieErasing(storage: Storage): Promise<void> {
  const { erased } = await beginErasure(storage);
  process.kill(process.pid, 'SIGKILL');
  await erased;
}

const WRITERS = 8;

/** Writes messages without end, and reports each one that is durable. `name` begins their ids. */
export async function writeOn(storage: Storage, name: string): Promise<void> {
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(storage, `${name}${writer}`, writer)));
}

async function write({ store }: Storage, name: string, writer: number): Promise<void> {
  const conversation = makeKey({ platform: 'terminal', workspace: 'local', channel: `room${writer % 3}` });
  for (let n = 0; ; n++) {
    const externalId = `${name}-${n}`;
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

/** The code of the error, for the test. */
export function reportError(error: unknown): void {
  process.stderr.write(`${error instanceof Error && 'code' in error ? String(error.code) : String(error)}\n`);
  process.exitCode = 1;
}
