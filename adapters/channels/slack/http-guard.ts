import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';

/** The same limit as in Slack's library. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Slack's library throws outside any handler for a JSON body that is not an object, and answers 500 for an invalid
 * path. The former is rejected here with 400, the latter with 404.
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
        // The library accepts a body that was already read.
        dispatch(next, Object.assign(request, { rawBody }), response);
      },
      () => response.destroy(),
    );
  };
}

/** For a URL that it does not serve, the library throws an error that nothing would catch here. */
function dispatch(next: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  try {
    next(request, response);
  } catch {
    end(response, 404);
  }
}

/** Null if it is too large. */
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

/**
 * Parses a body like the library. After checking the signature, the library decides itself whether it is valid JSON.
 */
function holdsObject(body: string, contentType: string | undefined): boolean {
  if (contentType !== 'application/x-www-form-urlencoded') return body.trimStart().startsWith('{');
  const { payload } = parse(body);
  return typeof payload !== 'string' || payload.trimStart().startsWith('{');
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status);
  response.end();
}
