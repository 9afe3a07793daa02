import { Worker } from 'bullmq';

/** A BullMQ worker with default settings and a job that never ends. Reports when it takes one. */
const [port, name = ''] = process.argv.slice(2);
const work = async () => {
  process.stdout.write('began\n');
  await new Promise(() => undefined);
};
const worker = new Worker(name, work, { connection: { port: Number(port) } });
worker.on('error', () => undefined);
await worker.waitUntilReady();
process.stdout.write('ready\n');
