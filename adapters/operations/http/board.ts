import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Board, OperationsOptions } from '../../../src/adapter-kit.ts';

/** Where the pages of the queue are. */
export const BOARD_PATH = '/queues';

/** The page asks nobody but this server, not even for its letters, and stands in no frame of another. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Opened when somebody first asks for it: few do, and what it needs is large. */
export interface LazyBoard {
  /** False when the address is none of its own. Rejects when the queue's server is away. */
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
