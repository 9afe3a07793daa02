import type { RequestListener } from 'node:http';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { Queue } from 'bullmq';
import type { BoardOpener } from '../../../src/adapter-kit.ts';
import { createDriver } from './drivers.ts';
import { openInTime } from './open.ts';

/** bull-board for the maintenance jobs, read-only. A job contains only the number of a conversation. */
export const openBoard: BoardOpener = async ({ path, ...place }) => {
  const { queue, close } = await openInTime(createDriver(place));
  // Its types know only queues on Redis, but it works with Postgres too.
  if (!(queue instanceof Queue)) throw new Error('The board shows only BullMQ queues.');
  const serverAdapter = new ExpressAdapter().setBasePath(path);
  createBullBoard({
    queues: [new BullMQAdapter(queue, { readOnlyMode: true })],
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Strata' } },
  });
  const answer: RequestListener = serverAdapter.getRouter();
  return { answer, close };
};
