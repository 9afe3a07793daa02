import { createServer, type ServerResponse } from 'node:http';
import {
  describe,
  hasSignIn,
  type InspectorOptions,
  listenAt,
  type Operations,
  requireObject,
  StrataError,
} from '../../../src/adapter-kit.ts';
import type { Site } from './site.ts';

/** Loopback addresses: only programs of this machine reach them. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d+$/u;

/**
 * Pages that show what the bot sees, remembers and spends. `url` includes the key that opens them. Loads everything
 * else at the first request. Throws `INSPECTOR_OPEN` and `LISTEN_FAILED`.
 */
export async function startInspector(options: InspectorOptions): Promise<Operations> {
  requireObject(options, 'startInspector', '{ settings, services, log }');
  requireObject(options.settings, 'startInspector', '{ settings: { listen: "127.0.0.1:0" } }');
  const { listen, url: publicUrl } = options.settings;
  if (!LOOPBACK.test(listen) && !hasSignIn(options.settings))
    throw new StrataError('INSPECTOR_OPEN', { address: listen });
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
  let opening: Promise<Site> | null = null;
  const open = (): Promise<Site> => {
    opening ??= import('./site.ts').then(({ openSite }) => openSite(options, key));
    opening.catch(() => {
      opening = null;
    });
    return opening;
  };
  const server = createServer((request, response) => {
    open()
      .then(({ answer }) => answer(request, response))
      .catch((error: unknown) => {
        options.log.warn('inspector.failed', { error: describe(error) });
        fail(response);
      });
  });
  const url = await listenAt(server, { section: 'inspector', address: listen });
  return {
    url: `${publicUrl === '' ? url : publicUrl.replace(/\/$/u, '')}/?key=${key}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function fail(response: ServerResponse): void {
  if (response.headersSent) return;
  response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('The inspector failed. The log says why.\n');
}
