import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, type Inspection, type InspectorOptions, StrataError } from '../../../src/adapter-kit.ts';
import { type Access, COOKIE, createAccess, type Knock, SESSION_SECONDS } from './access.ts';
import { assets } from './assets.ts';
import { createBroadcasts } from './broadcasts.ts';
import type { PageApp, PageContext, PageEnvironment } from './environment.ts';
import { troublePage } from './layout.ts';
import { addLive } from './live.ts';
import { entrancePage, loginPage } from './login-page.ts';
import { addPages } from './pages.ts';

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
  const knockOf = (c: PageContext): Knock => ({
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
    if (!access.isOwnHost(knockOf(c))) return c.text('Use the address that the inspector printed.\n', 421);
    // Without a length, only reading the body would show how large it is. Browsers always declare it.
    if (c.req.header('transfer-encoding') !== undefined) return c.text('Send the form with its length.\n', 411);
    if (Number(c.req.header('content-length') ?? 0) > MAX_FORM_BYTES) return c.text('The form is too large.\n', 413);
    return await next();
  });
  app.onError((error, c) => answerError(options, error, c));
  app.route('/assets', assets());
  addEntrance(app, { access, knockOf });
  app.use(async (c, next) => {
    const visit = access.visit(knockOf(c));
    if (visit === null) return c.req.method === 'GET' ? c.redirect('/login') : c.text('Sign in first.\n', 401);
    c.set('visit', visit);
    c.set('inspection', inspection);
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      const { token } = await c.req.parseBody();
      const isOwn = access.isOwnOrigin(knockOf(c)) && typeof token === 'string' && access.isFormToken(visit, token);
      if (!isOwn) return c.text('The form is out of date. Load the page again.\n', 403);
    }
    return await next();
  });
  addPages(app);
  const broadcasts = createBroadcasts(options.clock);
  addLive(app, { broadcasts, isSignedIn: (c) => access.visit(knockOf(c)) !== null });
  app.notFound((c) =>
    c.html(troublePage(c.get('visit'), { title: 'Not found', text: `There is no page ${c.req.path}.` }), 404),
  );
  return app;
}

interface Entrance {
  readonly access: Access;
  readonly knockOf: (c: PageContext) => Knock;
}

/** The key in the address, or the password, becomes a cookie that no script and no other site can use. */
function addEntrance(app: PageApp, { access, knockOf }: Entrance): void {
  const welcome = (c: PageContext, session: string) => {
    const isSecure = new URL(c.req.url).protocol === 'https:' || (c.req.header('x-forwarded-proto') ?? '') === 'https';
    const secure = isSecure ? '; Secure' : '';
    c.header(
      'set-cookie',
      `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_SECONDS}${secure}`,
    );
    // A redirect would still count as coming from the page with the link, and the browser would keep the cookie back.
    return c.html(entrancePage());
  };
  app.get('/', async (c, next) => {
    const key = c.req.query('key');
    if (key === undefined) return await next();
    const session = access.enter({ key });
    return session === null ? c.redirect('/login') : welcome(c, session);
  });
  app.get('/login', (c) => c.html(loginPage({ hasPassword: access.hasPassword, failed: false })));
  app.post('/login', async (c) => {
    const { password } = await c.req.parseBody();
    if (!access.isOwnOrigin(knockOf(c)) || typeof password !== 'string') return c.text('Load the page again.\n', 403);
    const session = access.enter({ password });
    if (session !== null) return welcome(c, session);
    return c.html(loginPage({ hasPassword: access.hasPassword, failed: true }), 403);
  });
  app.post('/logout', (c) => {
    if (access.isOwnOrigin(knockOf(c))) access.leave(knockOf(c));
    c.header('set-cookie', `${COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`);
    return c.redirect('/login', 303);
  });
}

const STATUSES = {
  NOT_FOUND: 404,
  CONVERSATION_UNKNOWN: 404,
  KEY_INVALID: 404,
  ACCESS_DENIED: 403,
  COMMAND_FORBIDDEN: 403,
  USAGE: 400,
} as const;

function statusOf(error: unknown): 400 | 403 | 404 | 500 {
  const known = Object.entries(STATUSES).find(([code]) => error instanceof StrataError && error.code === code);
  return known?.[1] ?? 500;
}

function answerError({ log }: InspectorOptions, error: unknown, c: PageContext) {
  const status = statusOf(error);
  if (status === 500) log.warn('inspector.failed', { path: c.req.path, error: describe(error) });
  const title = status === 500 ? 'This page failed' : status === 404 ? 'Not found' : 'Not possible';
  return c.html(troublePage(c.get('visit') ?? null, { title, text: describe(error) }), status);
}
