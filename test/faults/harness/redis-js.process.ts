import { createRedisMock } from 'js-redis-server';

/** A Redis in a separate process, if no real one is found. It keeps everything in memory, so a kill wipes it. */
const server = await createRedisMock({ port: Number(process.argv[2]) });
process.send?.(server.url);
process.on('disconnect', () => process.exit(0));
