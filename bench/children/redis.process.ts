import { createRedisMock } from 'js-redis-server';

/** Stands in for Redis where there is none, in a process of its own so that its work is not counted as ours. */
const [port] = process.argv.slice(2);
await createRedisMock({ port: Number(port) });
process.stdout.write('ready\n');
