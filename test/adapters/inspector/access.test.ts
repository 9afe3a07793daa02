import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startInspector } from '../../../adapters/inspector/web/index.ts';
import { type AccessRequest, createAccess } from '../../../adapters/inspector/web/serving/access.ts';
import { generalDefaults } from '../../../src/config/defaults.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { faithful, scriptedModel, testClock } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;

beforeEach(async () => {
  inspected = await createInspectorWorld({ models: [scriptedModel(faithful)] });
});
afterEach(async () => {
  await inspected[Symbol.asyncDispose]();
});

const defaults = generalDefaults.inspector;
const request: AccessRequest = {
  host: '127.0.0.1:7080',
  origin: null,
  cookie: null,
  identity: null,
  peer: '127.0.0.1',
};

describe('the printed address', () => {
  it('opens a session with a strict cookie', async () => {
    const response = await fetch(inspected.inspector.url, { redirect: 'manual' });
    expect(response.status).toBe(200);
    const cookie = response.headers.get('set-cookie') ?? '';
    for (const word of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(word);
    expect(await inspected.page('/')).toContain('<h1>Conversations</h1>');
  });

  it('loads nothing before the first request', async () => {
    expect(inspected.opened.count).toBe(0);
    await inspected.page('/');
    await inspected.page('/');
    expect(inspected.opened.count).toBe(1);
  });

  it('is the only way in without a password', async () => {
    for (const path of ['/', '/find?q=x', '/?key=wrong', '/nothing']) {
      const response = await fetch(`${inspected.base}${path}`, { redirect: 'manual' });
      expect({ path, status: response.status, to: response.headers.get('location') }).toEqual({
        path,
        status: 302,
        to: path.includes('key') || path === '/' ? '/login' : `/login?to=${encodeURIComponent(path)}`,
      });
    }
    const login = await (await fetch(`${inspected.base}/login`)).text();
    expect(login).not.toContain('type="password"');
  });

  it('survives a sign-out that another site asks for', async () => {
    const out = await inspected.fetch('/logout', { method: 'POST', headers: { origin: 'https://evil.example' } });
    expect(out.status).toBe(403);
    expect(out.headers.get('set-cookie')).toBeNull();
    expect((await inspected.fetch('/')).status).toBe(200);
  });

  it('ends with the session', async () => {
    const out = await inspected.fetch('/logout', { method: 'POST', headers: { origin: inspected.base } });
    expect(out.status).toBe(303);
    expect((await inspected.fetch('/')).status).toBe(302);
  });
});

describe('signing in', () => {
  const wanted = '/c/test%3Ahere%3Atalk?at=3';
  const withPassword = () =>
    createInspectorWorld({ models: [scriptedModel(faithful)], settings: { password: 'tide' } });

  it('leads to the page that was asked for', async () => {
    await using world = await withPassword();
    const away = await fetch(`${world.base}${wanted}`, { redirect: 'manual' });
    const login = await (await fetch(`${world.base}${away.headers.get('location')}`)).text();
    const to = /name="to" value="([^"]+)"/u.exec(login)?.[1] ?? '';
    const body = new URLSearchParams({ password: 'tide', to });
    const headers = { origin: world.base };
    const page = await (await fetch(`${world.base}/login`, { method: 'POST', body, headers })).text();
    expect(page).toContain(`content="0; url=${wanted}"`);
  });

  it.each([
    '//evil.example',
    '/\t/evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/..//evil.example',
    'x:',
  ])('never leads to another site: %j', async (to) => {
    await using world = await withPassword();
    const headers = { origin: world.base };
    const body = new URLSearchParams({ password: 'tide', to });
    const page = await (await fetch(`${world.base}/login`, { method: 'POST', body, headers })).text();
    expect(page).toContain('content="0; url=/"');
  });

  it('of two inspectors on one host keeps both sessions', async () => {
    await using other = await createInspectorWorld({ models: [scriptedModel(faithful)] });
    const names = await Promise.all(
      [inspected, other].map(async ({ inspector }) => {
        const { headers } = await fetch(inspector.url, { redirect: 'manual' });
        return headers.get('set-cookie')?.split('=')[0];
      }),
    );
    expect(new Set(names).size).toBe(2);
  });
});

describe('a request that nobody expects', () => {
  it.each(['/assets/none.js', '/assets/__proto__', '/assets/..%2fpackage.json'])('%s is not found', async (path) => {
    expect((await fetch(`${inspected.base}${path}`)).status).toBe(404);
  });

  it('changes nothing without a session', async () => {
    const headers = { origin: inspected.base };
    const response = await fetch(`${inspected.base}/audit`, { method: 'POST', headers, redirect: 'manual' });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('nothing was changed');
  });

  it('with an unreadable form is refused', async () => {
    const headers = { origin: inspected.base, 'content-type': 'multipart/form-data' };
    expect((await inspected.fetch('/audit', { method: 'POST', body: 'x', headers })).status).toBe(400);
    expect((await fetch(`${inspected.base}/login`, { method: 'POST', body: 'x', headers })).status).toBe(403);
  });
});

describe('a live page', () => {
  it('ends with the session', async () => {
    const { body } = await inspected.fetch('/live/health');
    const chunks = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    expect((await chunks.read()).value).toContain('Owed replies');
    await inspected.fetch('/logout', { method: 'POST', headers: { origin: inspected.base } });
    await inspected.world.say('Hello.');
    await inspected.world.settled();
    await inspected.world.clock.advance(1000);
    expect(await chunks.read()).toEqual({ value: undefined, done: true });
  });

  it('needs a reader to take a place', async () => {
    for (let request = 0; request < 205; request += 1) await inspected.fetch('/live/health', { method: 'HEAD' });
    const { status, body } = await inspected.fetch('/live/health');
    expect(status).toBe(200);
    await body?.cancel();
  });
});

describe('a request', () => {
  it('with a foreign host name is refused', async () => {
    const access = createAccess({ settings: defaults, clock: testClock() }, 'key');
    const isOwn = (host: string | null) => access.isOwnHost({ ...request, host });
    expect(['127.0.0.1:7080', 'localhost:7080', '[::1]:7080'].map(isOwn)).toEqual([true, true, true]);
    expect([null, '', 'evil.example:7080', 'localhost.evil.example', 'a@127.0.0.1', '127.0.0.1/x'].map(isOwn)).toEqual(
      Array.from({ length: 6 }, () => false),
    );
  });

  it('that changes something needs origin and token', async () => {
    await inspected.page('/');
    const post = (headers: Record<string, string>) =>
      inspected.fetch('/settings', { method: 'POST', body: new URLSearchParams({ token: 'x' }), headers });
    expect((await post({})).status).toBe(403);
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await post({ origin: inspected.base })).status).toBe(403);
  });

  it.each(['/login', '/settings'])('%s refuses a body without a length', async (path) => {
    const megabyte = new Uint8Array(1_000_000).fill(97);
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(megabyte) });
    const headers = { origin: inspected.base, 'content-type': 'application/x-www-form-urlencoded' };
    const response = await inspected.fetch(path, { method: 'POST', body, headers, duplex: 'half' });
    expect(response.status).toBe(411);
    expect((await inspected.fetch('/')).status).toBe(200);
  });

  it('of a stranger holds little memory', async () => {
    const body = new URLSearchParams({ password: 'x'.repeat(20_000) });
    const headers = { origin: inspected.base };
    expect((await fetch(`${inspected.base}/login`, { method: 'POST', body, headers })).status).toBe(413);
  });

  it('gets a policy without inline script or foreign content', async () => {
    const response = await inspected.fetch('/');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
    const text = await response.text();
    expect(text).not.toMatch(/ style=| on\w+=|<script>|https?:\/\/(?!www\.w3\.org)/u);
  });
});

describe('a listener that others can reach', () => {
  it.each(['0.0.0.0:0', '192.168.1.4:7080', '[::]:0', 'bot.example.org:80'])(
    '%s needs a password or a proxy',
    async (listen) => {
      const start = (settings: object) =>
        startInspector({
          settings: { ...defaults, listen, ...settings },
          open: () => Promise.reject(new Error('It is never opened.')),
          clock: testClock(),
          log: silentLog,
        });
      await expect(start({})).rejects.toThrow('Other machines can reach the inspector');
      await expect(start({ identity_header: 'x-user' })).rejects.toThrow('Other machines can reach the inspector');
    },
  );

  it('accepts the password, and few wrong ones', () => {
    const access = createAccess({ settings: { ...defaults, password: 'tide' }, clock: testClock() }, 'key');
    const session = access.enter({ password: 'tide' }, '10.0.0.5');
    expect(access.visit({ ...request, cookie: `a=b; strata_inspector_7080=${session}` })?.viewer.role).toBe('operator');
    const tryWrong = (count: number, peer: string) => {
      for (let attempt = 0; attempt < count; attempt += 1) expect(access.enter({ password: 'wave' }, peer)).toBeNull();
    };
    tryWrong(10, '10.0.0.6');
    expect(access.enter({ password: 'tide' }, '10.0.0.6'), 'blocked for a minute').toBeNull();
    expect(access.enter({ password: 'tide' }, '10.0.0.5'), 'from another address').not.toBeNull();
    for (let peer = 7; peer < 16; peer += 1) tryWrong(10, `10.0.0.${peer}`);
    expect(access.enter({ password: 'tide' }, '10.0.0.5'), 'after many from everywhere').toBeNull();
  });

  it('believes the header of named proxies only', () => {
    const settings = {
      ...defaults,
      identity_header: 'x-user',
      proxies: ['10.0.0.2'],
      operators: ['ada'],
      moderators: ['bob'],
    };
    const access = createAccess({ settings, clock: testClock() }, 'key');
    const seen = (identity: string, peer: string) => access.visit({ ...request, identity, peer })?.viewer ?? null;
    expect(seen('ada', '10.0.0.2')).toEqual({ name: 'ada', role: 'operator' });
    expect(seen('bob', '::ffff:10.0.0.2')).toEqual({ name: 'bob', role: 'moderator' });
    expect(seen('eve', '10.0.0.2')).toEqual({ name: 'eve', role: 'viewer' });
    expect(seen('ada', '10.0.0.3')).toBeNull();
    expect(seen(' ', '10.0.0.2')).toBeNull();
  });
});
