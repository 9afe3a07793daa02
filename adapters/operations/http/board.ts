import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Board, OperationsOptions } from '../../../src/adapter-kit.ts';

/** The path of the queue's pages. */
export const BOARD_PATH = '/queues';

/** The page loads everything, even fonts, only from this server, and cannot be framed. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Opened on first request: few ask for it, and it needs much memory. */
export interface LazyBoard {
  /** False if the URL does not belong to the board. Rejects if the queue's server is unreachable. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  close(): Promise<void>;
}

export function createLazyBoard(open: NonNullable<OperationsOptions['openBoard']>): LazyBoard {
  let opening: Promise<Board> | null = null;
  return {
    async answer(request, response) {
      const path = pathInside(request.url ?? '/');
      if (path === null) return false;
      opening ??= open(BOARD_PATH);
      opening.catch(() => {
        opening = null;
      });
      const board = await opening;
      request.url = path;
      response.setHeader('content-security-policy', POLICY);
      response.setHeader('x-content-type-options', 'nosniff');
      board.answer(request, response);
      return true;
    },
    async close() {
      const board = await opening?.catch(() => null);
      await board?.close();
    },
  };
}

function pathInside(url: string): string | null {
  if (url === BOARD_PATH) return '/';
  return url.startsWith(`${BOARD_PATH}/`) ? url.slice(BOARD_PATH.length) : null;
}
