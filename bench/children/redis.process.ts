import { createRedisMock } from 'js-redis-server';

/** Replaces a missing Redis, in a separate process so that its work does not count as Strata's. */
const [port] = process.argv.slice(2);
await createRedisMock({ port: Number(port) });
process.stdout.write('ready\n');
