import { withParameters } from './markup/html.ts';
import { troublePage } from './pages/layout.ts';
import { entrancePage, loginPage } from './pages/login-page.ts';
import { type Access, type AccessRequest, cookieName, SESSION_SECONDS } from './serving/access.ts';
import type { PageApp, PageContext } from './serving/environment.ts';

interface Entrance {
  readonly access: Access;
  readonly requestOf: (c: PageContext) => AccessRequest;
}

/** A password, and the longest path with three bytes for each character. Anybody may send this form. */
const MAX_LOGIN_BYTES = 10_000;

/** The key in the address, or the password, becomes a cookie that no script and no other site can use. */
export function addEntrance(app: PageApp, { access, requestOf }: Entrance): void {
  const setCookie = (c: PageContext, value: string, seconds: number) => {
    const isSecure = new URL(c.req.url).protocol === 'https:' || (c.req.header('x-forwarded-proto') ?? '') === 'https';
    const secure = isSecure ? '; Secure' : '';
    const name = cookieName(requestOf(c));
    c.header('set-cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`);
  };
  const welcome = (c: PageContext, session: string, to: string) => {
    setCookie(c, session, SESSION_SECONDS);
    // A redirect would still count as coming from the page with the link, and the browser would keep the cookie back.
    return c.html(entrancePage(to));
  };
  app.get('/', async (c, next) => {
    const key = c.req.query('key');
    if (key === undefined) return await next();
    const session = access.enter({ key }, requestOf(c).peer);
    return session === null ? c.redirect('/login') : welcome(c, session, '/');
  });
  app.get('/login', (c) => {
    const to = ownPath(c.req.query('to'));
    return c.html(loginPage({ hasPassword: access.hasPassword, failed: false, to }));
  });
  app.post('/login', async (c) => {
    if (Number(c.req.header('content-length') ?? 0) > MAX_LOGIN_BYTES) return c.text('The form is too large.\n', 413);
    const { password, to: wanted } = await c.req.parseBody().catch((): Record<string, unknown> => ({}));
    if (!access.isOwnOrigin(requestOf(c)) || typeof password !== 'string') return c.text('Load the page again.\n', 403);
    const session = access.enter({ password }, requestOf(c).peer);
    const to = ownPath(wanted);
    if (session !== null) return welcome(c, session, to);
    return c.html(loginPage({ hasPassword: access.hasPassword, failed: true, to }), 403);
  });
  app.post('/logout', (c) => {
    if (!access.isOwnOrigin(requestOf(c))) return c.text('Load the page again.\n', 403);
    access.leave(requestOf(c));
    setCookie(c, '', 0);
    return c.redirect('/login', 303);
  });
}

/**
 * Without a session. A browser that follows a link on another site keeps the cookie back, so it asks once more from a
 * page of this site.
 */
export function turnAway(c: PageContext): Response | Promise<Response> {
  if (c.req.method !== 'GET')
    return c.html(
      troublePage(null, { title: 'Signed out', text: 'The session has ended, so nothing was changed.' }),
      401,
    );
  const { pathname, search } = new URL(c.req.url);
  const to = ownPath(`${pathname}${search}`);
  if (c.req.header('sec-fetch-site') === 'cross-site') return c.html(entrancePage(to));
  return c.redirect(withParameters('/login', { to: to === '/' ? null : to }));
}

const MAX_PATH_LENGTH = 2000;
const ANY_ORIGIN = 'http://inspector.invalid';

/** The path of a page of this site; anything else becomes the overview. */
function ownPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > MAX_PATH_LENGTH || !URL.canParse(wanted, ANY_ORIGIN)) return '/';
  const { origin, pathname, search } = new URL(wanted, ANY_ORIGIN);
  return origin === ANY_ORIGIN && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}
