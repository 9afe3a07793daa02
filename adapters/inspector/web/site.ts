import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, type Inspection, type InspectorOptions, StrataError } from '../../../src/adapter-kit.ts';
import { addEntrance, turnAway } from './entrance.ts';
import { addLive } from './live.ts';
import { troublePage } from './pages/layout.ts';
import { addPages } from './routes.ts';
import { type AccessRequest, createAccess } from './serving/access.ts';
import { assets } from './serving/assets.ts';
import { createBroadcasts } from './serving/broadcasts.ts';
import type { PageApp, PageContext, PageEnvironment } from './serving/environment.ts';

export interface Site {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
/** The longest system prompt, with three bytes for each character, and the other fields. */
const MAX_FORM_BYTES = 200_000;

export async function openSite(options: InspectorOptions, key: string): Promise<Site> {
  const app = createSite(options, { key, inspection: await options.open() });
  // The classes of the platform stay as they are for the rest of the process.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return { answer: async (request, response) => void (await listener(request, response)) };
}

function createSite(
  options: InspectorOptions,
  { key, inspection }: { readonly key: string; readonly inspection: Inspection },
): PageApp {
  const access = createAccess(options, key);
  const header = options.settings.identity_header;
  const requestOf = (c: PageContext): AccessRequest => ({
    host: c.req.header('host') ?? null,
    origin: c.req.header('origin') ?? null,
    cookie: c.req.header('cookie') ?? null,
    identity: header === '' ? null : (c.req.header(header) ?? null),
    peer: c.env.incoming.socket.remoteAddress ?? '',
  });
  const app: PageApp = new Hono<PageEnvironment>();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    c.header('cache-control', 'no-store');
    if (!access.isOwnHost(requestOf(c))) return c.text('Use the address that the inspector printed.\n', 421);
    // Without a length, only reading the body would show how large it is. Browsers always declare it.
    if (c.req.header('transfer-encoding') !== undefined) return c.text('Send the form with its length.\n', 411);
    if (Number(c.req.header('content-length') ?? 0) > MAX_FORM_BYTES) return c.text('The form is too large.\n', 413);
    return await next();
  });
  app.onError((error, c) => answerError(options, error, c));
  app.route('/assets', assets());
  addEntrance(app, { access, requestOf });
  app.use(async (c, next) => {
    const visit = access.visit(requestOf(c));
    if (visit === null) return turnAway(c);
    c.set('visit', visit);
    c.set('inspection', inspection);
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      const form = await c.req.parseBody().catch(() => null);
      if (form === null) return c.text('The form cannot be read.\n', 400);
      const { token } = form;
      const isOwn = access.isOwnOrigin(requestOf(c)) && typeof token === 'string' && access.isFormToken(visit, token);
      if (!isOwn) return c.text('The form is out of date. Load the page again.\n', 403);
    }
    return await next();
  });
  addPages(app);
  const broadcasts = createBroadcasts(options.clock);
  addLive(app, { broadcasts, isSignedIn: (c) => access.visit(requestOf(c)) !== null });
  app.notFound((c) =>
    c.html(troublePage(c.get('visit') ?? null, { title: 'Not found', text: `There is no page ${c.req.path}.` }), 404),
  );
  return app;
}

const STATUSES = {
  INSPECTOR_BUSY: 503,
  MODEL_UNKNOWN: 503,
  MODEL_KEY_MISSING: 503,
  MODEL_KEY_INVALID: 503,
  MODEL_FAILED: 503,
  MODEL_PAUSED: 503,
  PACKAGE_MISSING: 503,
  STORE_UNREACHABLE: 503,
  STORE_UNUSABLE: 503,
  NOT_FOUND: 404,
  CONVERSATION_UNKNOWN: 404,
  KEY_INVALID: 404,
  ACCESS_DENIED: 403,
  COMMAND_FORBIDDEN: 403,
  USAGE: 400,
} as const;

function statusOf(error: unknown): 400 | 403 | 404 | 500 | 503 {
  const known = Object.entries(STATUSES).find(([code]) => error instanceof StrataError && error.code === code);
  return known?.[1] ?? 500;
}

function answerError({ log }: InspectorOptions, error: unknown, c: PageContext) {
  const status = statusOf(error);
  if (status === 500) log.warn('inspector.failed', { path: c.req.path, error: describe(error) });
  const title = status === 500 ? 'This page failed' : status === 404 ? 'Not found' : 'Not possible';
  const visit = c.get('visit') ?? null;
  // An unexpected error may quote what it failed on.
  const isTold = status !== 500 || visit?.viewer.role === 'operator';
  return c.html(troublePage(visit, { title, text: isTold ? describe(error) : 'The log says why.' }), status);
}
