import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';

/** What Slack's library takes, too. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Slack's library throws outside of any handler for a body that is JSON but no object, and answers 500 for a path that
 * is none: the first is refused here with 400, the second with 404.
 */
export function guarded(next: RequestListener, onMalformed: (problem: string) => void): RequestListener {
  return (request, response) => {
    if (!URL.canParse(request.url ?? '', 'http://localhost')) return end(response, 404);
    if (request.method !== 'POST') return next(request, response);
    readBody(request).then(
      (rawBody) => {
        if (rawBody === null) return end(response, 413);
        if (!holdsObject(rawBody.toString(), request.headers['content-type'])) {
          onMalformed('the body of a request is not an object');
          return end(response, 400);
        }
        // The library takes a body that was read already.
        dispatch(next, Object.assign(request, { rawBody }), response);
      },
      () => response.destroy(),
    );
  };
}

/** For an address that it does not serve the library throws, which nobody would catch by now. */
function dispatch(next: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  try {
    next(request, response);
  } catch {
    end(response, 404);
  }
}

/** Null for one that is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk);
    bytes += part.byteLength;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

/** Reads a body as the library does. Whether it is JSON at all the library finds out, after it has checked the signature. */
function holdsObject(body: string, contentType: string | undefined): boolean {
  if (contentType !== 'application/x-www-form-urlencoded') return body.trimStart().startsWith('{');
  const { payload } = parse(body);
  return typeof payload !== 'string' || payload.trimStart().startsWith('{');
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status);
  response.end();
}
