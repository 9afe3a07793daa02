import { get } from 'node:http';

/**
 * People who look at the inspector: each follows its stream and loads the part that has changed, as the pages' script
 * does. The last one reads nothing. Reports when all are connected.
 */
const [base = '', cookie = '', count = '0', ...sources] = process.argv.slice(2);
const headers = { cookie };

/** Resolves with the time after which the part is new. */
async function load(source: string): Promise<number> {
  const response = await fetch(new URL(source, base), { headers });
  await response.arrayBuffer();
  return Number(response.headers.get('x-stale-ms'));
}

function follow(source: string, sleeps: boolean): Promise<void> {
  let later: NodeJS.Timeout | undefined;
  const update = async (): Promise<void> => {
    clearTimeout(later);
    const staleMs = await load(source);
    if (staleMs > 0) later = setTimeout(() => void update(), staleMs * (1 + Math.random()));
  };
  return new Promise((resolve, reject) => {
    const request = get(new URL('/live', base), { headers }, (response) => {
      resolve();
      if (!sleeps) response.on('data', () => void update());
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
