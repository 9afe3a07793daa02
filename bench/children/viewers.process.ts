import { get } from 'node:http';

/**
 * People who look at the inspector: each follows the stream of a part, as the pages' script does. The last one reads
 * nothing. Reports when all are connected.
 */
const [base = '', cookie = '', count = '0', ...sources] = process.argv.slice(2);

function follow(source: string, sleeps: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(new URL(source, base), { headers: { cookie } }, (response) => {
      resolve();
      if (!sleeps) response.resume();
    });
    request.on('error', reject);
  });
}

const viewers = Array.from({ length: Number(count) }, (_, index) =>
  follow(sources[index % sources.length] ?? '/live/health', index === Number(count) - 1),
);
await Promise.all(viewers);
process.send?.('ready');
process.on('disconnect', () => process.exit());
