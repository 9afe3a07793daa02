import { endsWithin } from '../../../src/adapter-kit.ts';
import type { Driver, OpenQueue } from './driver.ts';
import { reasonOf } from './trouble.ts';

/** A person waits; BullMQ itself would wait until the server is available. */
const LIMIT_MS = 3000;

/** A connected queue. Rejects with an error that names the server and the reason. */
export async function openInTime(driver: Driver): Promise<OpenQueue> {
  let reason = `no answer within ${LIMIT_MS} ms`;
  const onError = (error: unknown) => {
    reason = reasonOf(error);
  };
  const opened = driver.open({ onError, onReady: () => undefined });
  const isReady = await endsWithin(opened.queue.waitUntilReady(), LIMIT_MS).catch(onError);
  if (isReady === true) return opened;
  await opened.close().catch(() => undefined);
  throw new Error(`${driver.where} cannot be used: ${reason}`);
}
