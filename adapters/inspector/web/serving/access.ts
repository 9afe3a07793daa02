import { createHmac, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type Clock,
  hostNameOf,
  type InspectorOptions,
  isSameSecret,
  MINUTE_MS,
  type Viewer,
} from '../../../../src/adapter-kit.ts';

/** A viewer with the token that their forms must carry. */
export interface Visit {
  readonly viewer: Viewer;
  readonly formToken: string;
}

/** What the access rules need to know of a request. */
export interface AccessRequest {
  readonly host: string | null;
  readonly origin: string | null;
  readonly cookie: string | null;
  /** The value of the identity header; null without one. */
  readonly identity: string | null;
  /** The address of the other end of the connection. */
  readonly peer: string;
}

export interface Access {
  /** Whether the `Host` header names this server: a page of another site cannot get here under its own name. */
  isOwnHost(request: AccessRequest): boolean;
  /** Whether a form was sent from a page of this server. */
  isOwnOrigin(request: AccessRequest): boolean;
  visit(request: AccessRequest): Visit | null;
  /** The value of a new session's cookie; null if key or password is wrong. `peer` is where it came from. */
  enter(secret: { readonly key: string } | { readonly password: string }, peer: string): string | null;
  leave(request: AccessRequest): void;
  isFormToken(visit: Visit, token: string): boolean;
  readonly hasPassword: boolean;
}

const COOKIE = 'strata_inspector';
export const SESSION_SECONDS = 12 * 60 * 60;
const MAX_SESSIONS = 200;
/** Wrong passwords per minute from one address, which keep nobody else out, and from all addresses. */
const MAX_FAILURES = 10;
const MAX_FAILURES_IN_ALL = 100;
/** Of an e-mail address. A longer name is refused: cut, it could be that of somebody else. */
const MAX_NAME_LENGTH = 320;

export function createAccess(
  { settings, clock }: Pick<InspectorOptions, 'settings'> & { readonly clock: Pick<Clock, 'now'> },
  key: string,
): Access {
  const secret = randomBytes(32);
  const sessions = new Map<string, { readonly viewer: Viewer; readonly until: number }>();
  const failures = createFailures(clock);
  const tokenFor = (name: string): string => createHmac('sha256', secret).update(name).digest('base64url');
  const open = (viewer: Viewer): string => {
    const id = randomBytes(24).toString('base64url');
    sessions.set(id, { viewer, until: clock.now() + SESSION_SECONDS * 1000 });
    const [oldest] = sessions.keys();
    if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    return id;
  };
  return {
    hasPassword: settings.password !== '',
    isOwnHost: ({ host }) => host !== null && isOwnName(host, settings),
    isOwnOrigin: ({ host, origin }) =>
      host !== null && origin !== null && isOwnPage(origin, { host, url: settings.url }),
    visit(request) {
      const named = viewerOf(request, settings);
      if (named !== null) return { viewer: named, formToken: tokenFor(`name ${named.name}`) };
      const id = cookieIn(request);
      const session = id === null ? undefined : sessions.get(id);
      if (id === null || session === undefined || session.until <= clock.now()) return null;
      return { viewer: session.viewer, formToken: tokenFor(`session ${id}`) };
    },
    enter(given, peer) {
      if ('key' in given) return isSameSecret(given.key, key) ? open({ name: 'operator', role: 'operator' }) : null;
      if (settings.password === '' || failures.isFull(peer)) return null;
      if (isSameSecret(given.password, settings.password)) return open({ name: 'operator', role: 'operator' });
      failures.add(peer);
      return null;
    },
    leave(request) {
      const id = cookieIn(request);
      if (id !== null) sessions.delete(id);
    },
    isFormToken: (visit, token) => isSameSecret(token, visit.formToken),
  };
}

function createFailures({ now }: Pick<Clock, 'now'>): { isFull(peer: string): boolean; add(peer: string): void } {
  let recent: readonly { readonly at: number; readonly peer: string }[] = [];
  return {
    isFull(peer) {
      recent = recent.filter(({ at }) => at > now() - MINUTE_MS);
      const own = recent.filter((failure) => failure.peer === peer);
      return own.length >= MAX_FAILURES || recent.length >= MAX_FAILURES_IN_ALL;
    },
    add(peer) {
      recent = [...recent, { at: now(), peer }];
    },
  };
}

/** An address needs no name service, so no other site can pretend to be it. */
function isOwnName(host: string, { listen, url }: InspectorOptions['settings']): boolean {
  const name = hostNameOf(host);
  if (name === null) return false;
  if (name === 'localhost' || isIP(name.replace(/^\[|\]$/gu, '')) !== 0) return true;
  return name === hostNameOf(listen) || (url !== '' && name === new URL(url).hostname);
}

function isOwnPage(origin: string, { host, url }: { readonly host: string; readonly url: string }): boolean {
  if (!URL.canParse(origin)) return false;
  const own = new URL(origin);
  return own.host === host || (url !== '' && own.origin === new URL(url).origin);
}

/** The person whom a named proxy vouches for. */
function viewerOf({ identity, peer }: AccessRequest, settings: InspectorOptions['settings']): Viewer | null {
  const { identity_header: header, proxies, operators, moderators } = settings;
  const name = identity?.trim() ?? '';
  const isName = name !== '' && name.length <= MAX_NAME_LENGTH;
  if (header === '' || !isName || !proxies.includes(peer.replace(/^::ffff:/u, ''))) return null;
  const role = operators.includes(name) ? 'operator' : moderators.includes(name) ? 'moderator' : 'viewer';
  return { name, role };
}

/** Browsers send the cookies of a host to all of its ports, so that inspectors of two bots would share one. */
export function cookieName({ host }: Pick<AccessRequest, 'host'>): string {
  const port = /:(\d{1,5})$/u.exec(host ?? '')?.[1];
  return port === undefined ? COOKIE : `${COOKIE}_${port}`;
}

function cookieIn(request: AccessRequest): string | null {
  const name = cookieName(request);
  const own = (request.cookie ?? '').split(';').find((pair) => pair.trim().startsWith(`${name}=`));
  return own === undefined ? null : own.trim().slice(name.length + 1);
}
