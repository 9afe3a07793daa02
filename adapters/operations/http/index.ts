import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  describe,
  listenAt,
  type Operations,
  type OperationsOptions,
  requireObject,
} from '../../../src/adapter-kit.ts';
import { BOARD_PATH, createLazyBoard, type LazyBoard } from './board.ts';
import { isOwnHost } from './host.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** For a readiness check, a store that takes longer is as good as none. */
const STORE_LIMIT_MS = 2000;

/**
 * `/livez`: the process is alive. `/readyz`: its dependencies respond; a gateway needs only the store, because replies
 * do not wait for the queue. `/metrics`: for Prometheus. `/queues`: the jobs, if the queue has pages. No page shows the
 * text or the name of a conversation, and none can change anything. Requests with an unknown `Host` are rejected with
 * 421.
 */
export async function startOperations(options: OperationsOptions): Promise<Operations> {
  requireObject(options, 'startOperations', '{ listen: "127.0.0.1:9464", services, log }');
  requireObject(options.services, 'startOperations', '{ services: bot.services }');
  const metrics = createMetrics(options.services);
  const board = options.openBoard && createLazyBoard(options.openBoard);
  const server = createServer((request, response) => {
    answer({ ...options, metrics, board }, request, response).catch((error: unknown) => {
      options.log.warn('operations.failed', { error: describe(error) });
      end(response, { status: 500, text: 'failed\n' });
    });
  });
  const url = await listenAt(server, { section: 'operations', address: options.listen });
  return {
    url,
    async close() {
      server.close();
      server.closeAllConnections();
      metrics.close();
      await board?.close();
    },
  };
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

interface Site extends OperationsOptions {
  readonly metrics: Metrics;
  readonly board: LazyBoard | null;
}

async function answer(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead) return end(response, { status: 405, text: 'GET only\n' });
  if (!isOwnHost(request.headers.host, site.listen)) return end(response, WRONG_HOST);
  if (site.board !== null && (await showBoard(site.board, request, response))) return;
  const [path = ''] = (request.url ?? '/').split('?', 1);
  end(response, await pageOf(site, path));
}

const WRONG_HOST: Page = {
  status: 421,
  text: 'Use an IP address, localhost, the name in [operations] listen, or a name without dots.\n',
};

async function showBoard(board: LazyBoard, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  try {
    return await board.answer(request, response);
  } catch (error) {
    end(response, { status: 503, text: `${describe(error)}\n` });
    return true;
  }
}

async function pageOf(site: Site, path: string): Promise<Page> {
  switch (path) {
    case '/livez':
      return { status: 200, text: 'ok\n' };
    case '/readyz':
      return await readiness(site);
    case '/metrics':
      return { status: 200, text: await site.metrics.text(), type: site.metrics.contentType };
    default:
      return { status: 404, text: `Known: /livez /readyz /metrics${site.board === null ? '' : ` ${BOARD_PATH}`}\n` };
  }
}

async function readiness({ services, role }: Site): Promise<Page> {
  const store = await within(services.store.conversations.get(0));
  const { trouble } = services.queue.stats();
  const isReady = store === 'ok' && (role !== 'worker' || trouble === null);
  const body = { ready: isReady, role, store, queue: trouble ?? 'ok' };
  return { status: isReady ? 200 : 503, text: `${JSON.stringify(body)}\n`, type: 'application/json' };
}

async function within(work: Promise<unknown>): Promise<string> {
  const late = sleep(STORE_LIMIT_MS, `no answer within ${STORE_LIMIT_MS} ms`, { ref: false });
  return await Promise.race([
    work.then(
      () => 'ok',
      (error: unknown) => describe(error),
    ),
    late,
  ]);
}

function end(response: ServerResponse, { status, text, type = 'text/plain; charset=utf-8' }: Page): void {
  if (response.headersSent) return;
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
