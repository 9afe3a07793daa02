import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startInspector } from '../../adapters/inspector/web/index.ts';
import { formatNumber } from '../../src/adapter-kit.ts';
import { generalDefaults } from '../../src/config/defaults.ts';
import { createInspection } from '../../src/inspection/inspection.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { createSystemClock } from '../../src/util/time/clock.ts';
import { fillSqlite } from '../bulk-sqlite.ts';
import { withDirectory } from '../directory.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { median } from '../samples.ts';
import { measureViewers, viewerRounds } from '../viewers.ts';
import { createWords } from '../words.ts';
import { conversationKey, type World, withWorld } from '../world.ts';

const SEED = 11;
const WORDS = 12;
const ROUNDS = 7;
const LARGE = conversationKey('large');
const TALK = conversationKey('talk');
/** Every page is ready by then; a forecast is redrawn while a slider moves. */
const PAGE_MS = 150;
const REDRAW_MS = 200;

/** Each page of the inspector over a large store: time until the whole page is there, and its size. */
export async function inspector({ quick }: RowOptions): Promise<RowResult> {
  const words = createWords(SEED);
  const text = () => words.text(WORDS);
  const [count, each, large, talk] = quick ? [500, 20, 5_000, 1_000] : [10_000, 90, 100_000, 10_000];
  const places = Array.from({ length: count }, (_, index) => ({ name: `talk-${index}`, entries: each, text }));
  const figures = await withDirectory(async (directory) => {
    await fillSqlite(directory, [
      ...places,
      { name: 'large', entries: large, text, isSummarised: true, memories: 500 },
      { name: 'talk', entries: talk, text, memories: 100 },
    ]);
    return await withWorld({ directory, models: providerOf(replyModel(), summaryModel(0)) }, measure);
  });
  return {
    figures: [...figures, ...(await measureViewers({ quick }))],
    notes: [
      `Viewers follow the stream from a separate process; one of them reads nothing. Rounds of 3 s with and without them alternate; medians of ${viewerRounds(quick)}.`,
      `${formatNumber(count)} conversations of ${each} messages, one of ${formatNumber(large)}, and one of ${formatNumber(talk)} for the forecast, each time with another threshold. Time from the request to the end of the page on an open connection, median of ${ROUNDS} after the first; the first request also loads the pages. The size counts a page, its styles and its scripts as they are sent to a browser that has none of them yet.`,
    ],
  };
}

async function measure({ bot }: World): Promise<readonly Figure[]> {
  const server = await startInspector({
    settings: generalDefaults.inspector,
    open: async () => createInspection({ services: bot.commandServices, configRows: () => [] }),
    clock: createSystemClock(),
    log: silentLog,
  });
  try {
    return await measurePages(server.url);
  } finally {
    await server.close();
  }
}

async function measurePages(url: string): Promise<readonly Figure[]> {
  const cookie = (await fetch(url)).headers.get('set-cookie')?.split(';')[0] ?? '';
  const at = `/c/${encodeURIComponent(LARGE)}`;
  const pages = {
    overview: '/',
    conversation: at,
    past: `${at}?at=40`,
    request: `${at}/context`,
    memories: `/memories?place=${encodeURIComponent(LARGE)}`,
    'memories of all places': '/memories',
    'a memory': `/c/${encodeURIComponent(TALK)}/m/m-talk-7`,
    'what forgetting deletes': `/c/${encodeURIComponent(TALK)}/m/m-talk-7/forget`,
    'what forgetting deletes, longest talk': `${at}/m/m-large-7/forget`,
    graph: `/memories?view=graph&place=${encodeURIComponent(LARGE)}`,
    search: `/find?q=${createWords(SEED).word()}`,
    'search without a match': '/find?q=zzyzx',
    costs: '/costs',
    'what-if': `/c/${encodeURIComponent(TALK)}/what-if`,
  };
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(pages)) {
    const visits = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const isRedraw = name === 'what-if' && round > 0;
      const address = new URL(isRedraw ? `${path}/outcome` : path, url);
      if (isRedraw) address.searchParams.set(TRIED, String(0.5 + round / 100));
      visits.push(await visit(address, cookie));
    }
    const [first, ...rest] = visits;
    const shown = { baseline: null, figure: `page ${name}` };
    figures.push({
      ...shown,
      figure: `${shown.figure}, first request`,
      unit: 'ms',
      ours: first ?? Number.NaN,
      bar: null,
    });
    figures.push({
      ...shown,
      unit: 'ms',
      ours: median(rest),
      bar: { of: 'ours', is: 'below', value: name === 'what-if' ? REDRAW_MS : PAGE_MS },
    });
    figures.push({
      ...shown,
      figure: `${shown.figure}, size`,
      unit: 'bytes',
      ours: await bytesOf(new URL(path, url), cookie),
      bar: { of: 'ours', is: 'below', value: 200_000 },
    });
  }
  return figures;
}

const TRIED = 'compaction.background_threshold';

/** Milliseconds until the whole page is there. */
async function visit(url: URL, cookie: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers: { cookie } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url.pathname} answered ${response.status}`);
  return performance.now() - startedAt;
}

/** Of a page, its styles and its scripts, each once, as a browser gets them that has none of them yet. */
async function bytesOf(url: URL, cookie: string): Promise<number> {
  const page = await bodyOf(url, cookie);
  const files = new Set([...page.toString().matchAll(/"(\/assets\/[^"]+)"/gu)].map(([, path = '']) => path));
  const bodies = await Promise.all([...files].map((path) => bodyOf(new URL(path, url), cookie)));
  return [page, ...bodies].reduce((sum, { length }) => sum + length, 0);
}

async function bodyOf(url: URL, cookie: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { headers: { cookie, 'accept-encoding': 'gzip' } }, resolve).on('error', reject);
  return await buffer(await promise);
}
