import { openChannel } from '../../fixtures/slack/kit.ts';

/** A bot with two sockets that stops when its input ends. */
const [apiUrl = ''] = process.argv.slice(2);
const { channel, sink } = openChannel({ apiUrl }, { table: { sockets: 2 } });
await channel.start(sink);
process.stdin.resume().on('end', () => channel.stop());
