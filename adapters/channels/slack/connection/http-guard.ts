import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { Clock } from '../../../../src/adapter-kit.ts';

/** The same limit as in Slack's library. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Hardly any request of Slack is larger. */
const LARGE_BODY_BYTES = 64 * 1024;
/** Received at the same time. Only a whole body can be verified, so anybody could fill the memory with many. */
const MAX_LARGE_BODIES = 8;
/** For receiving a whole request, which Slack sends at once. */
export const RECEIVED_WITHIN_MS = 10_000;

/** The library rejects older requests, but not those from the future, which could be repeated until then. */
const MAX_AHEAD_MS = 300_000;

/** The pages of an installation contain a state that is for one browser, and no script. */
const HEADERS = new Headers({
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
});

interface Guard {
  readonly onMalformed: (problem: string) => void;
  readonly clock: Clock;
}

/**
 * Slack's library throws outside any handler for a JSON body that is not an object, and answers 500 for an invalid
 * path. The former is rejected here with 400, the latter with 404.
 */
export function guarded(next: RequestListener, { onMalformed, clock }: Guard): RequestListener {
  const places = { left: MAX_LARGE_BODIES };
  return (request, response) => {
    if (!URL.canParse(request.url ?? '', 'http://localhost')) return end(response, 404);
    response.setHeaders(HEADERS);
    if (request.method !== 'POST') return next(request, response);
    const sentAt = Number(request.headers['x-slack-request-timestamp'] ?? 0) * 1000;
    if (sentAt - clock.now() > MAX_AHEAD_MS) return end(response, 401);
    readBody(request, places).then(
      (rawBody) => {
        if (typeof rawBody === 'number') return end(response, rawBody);
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

/** A status instead if it is too large, or if too many large ones are being received. Slack repeats a refused request. */
async function readBody(request: IncomingMessage, places: { left: number }): Promise<Buffer | 413 | 503> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isLarge = false;
  try {
    // The connection must stay open to send the status.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const part = Buffer.from(chunk);
      bytes += part.byteLength;
      if (bytes > MAX_BODY_BYTES) return 413;
      if (bytes > LARGE_BODY_BYTES && !isLarge) {
        if (places.left === 0) return 503;
        places.left -= 1;
        isLarge = true;
      }
      chunks.push(part);
    }
    return Buffer.concat(chunks);
  } finally {
    if (isLarge) places.left += 1;
  }
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
