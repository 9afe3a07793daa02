import { createRedisMock } from 'js-redis-server';

/** A Redis in a process of its own, where no real one is found. It keeps everything in memory: killed is wiped. */
const server = await createRedisMock({ port: Number(process.argv[2]) });
process.send?.(server.url);
process.on('disconnect', () => process.exit(0));
