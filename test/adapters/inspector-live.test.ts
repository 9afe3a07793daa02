import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PageApp, PageEnvironment } from '../../adapters/inspector/web/environment.ts';
import { html } from '../../adapters/inspector/web/html.ts';
import { addLive, createLive } from '../../adapters/inspector/web/live.ts';
import { createLiveParts } from '../../adapters/inspector/web/live-parts.ts';
import { type ConversationKey, makeKey } from '../../src/adapter-kit.ts';
import { scriptedModel, until } from '../core/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../support/inspector-world.ts';

const keyOf = (channel: number) => makeKey({ platform: 'test', workspace: 'here', channel: String(channel) });
const { signal } = new AbortController();

function watched() {
  const listeners = new Set<(conversation: ConversationKey) => void>();
  return {
    listeners,
    watch(listener: (conversation: ConversationKey) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change(conversation: ConversationKey) {
      for (const listener of listeners) listener(conversation);
    },
  };
}

describe('viewers', () => {
  it('hear each change once, merged while they are busy', async () => {
    const bot = watched();
    const viewer = createLive(bot.watch).join();
    for (const channel of [1, 2, 1]) bot.change(keyOf(channel));
    expect(await viewer?.next(signal)).toEqual(new Set([keyOf(1), keyOf(2)]));
    const waiting = viewer?.next(signal);
    bot.change(keyOf(3));
    expect([...((await waiting) ?? [])]).toEqual([keyOf(3)]);
  });

  it('that sleep are told to load the page again', async () => {
    const bot = watched();
    const viewer = createLive(bot.watch).join();
    for (let channel = 0; channel < 10_000; channel += 1) bot.change(keyOf(channel));
    expect(await viewer?.next(signal)).toBeNull();
  });

  it('get a heartbeat', async () => {
    const viewer = createLive(watched().watch, { heartbeatMs: 1 }).join();
    expect((await viewer?.next(signal))?.size).toBe(0);
  });

  it('listen to the bot only while they are there', () => {
    const bot = watched();
    const live = createLive(bot.watch);
    const viewers = Array.from({ length: 201 }, () => live.join());
    expect(viewers.at(-1)).toBeNull();
    expect(bot.listeners.size).toBe(1);
    for (const viewer of viewers) viewer?.leave();
    expect(bot.listeners.size).toBe(0);
  });
});

describe('parts that follow the bot', () => {
  it('are rendered once for all, within their share', async () => {
    let now = 0;
    let rendered = 0;
    const parts = createLiveParts({ now: () => now });
    const render = async () => {
      now += 10;
      rendered += 1;
      return html`<p>${rendered}</p>`;
    };
    expect(await parts.get('a', render)).toEqual({ text: '<p>1</p>', staleMs: 0 });
    expect(await parts.get('b', render)).toEqual({ text: null, staleMs: 1000 });
    const all = await Promise.all(Array.from({ length: 50 }, () => parts.get('a', render)));
    expect(new Set(all.map(({ text }) => text))).toEqual(new Set(['<p>1</p>']));
    now += 60_000;
    const later = await Promise.all(Array.from({ length: 50 }, () => parts.get('b', render)));
    expect(later.filter(({ text }) => text === '<p>2</p>')).toHaveLength(1);
    for (const until = now + 100_000; now < until; now += 7) await parts.get('b', render);
    expect(rendered).toBeLessThan((100_000 * 0.03) / 10);
  });

  it('are forgotten beyond two hundred', async () => {
    let now = 0;
    const parts = createLiveParts({ now: () => now });
    for (let index = 0; index < 500; index += 1) {
      now += 1;
      await parts.get(String(index), async () => html`${index}`);
    }
    const { text } = await parts.get('0', async () => html`again`);
    expect(text).toBe('again');
    expect((await parts.get('499', async () => html`again`)).text).toBe('499');
  });
});

describe('a viewer that reads nothing', () => {
  it('is cut off and fills no memory', async () => {
    const bot = watched();
    const app: PageApp = new Hono<PageEnvironment>();
    const times = { pauseMs: 0, heartbeatMs: 1000, stallMs: 50 };
    addLive(app, { live: createLive(bot.watch, times), isSignedIn: () => true, times });
    const sockets: Socket[] = [];
    const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
    server.on('connection', (socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const viewer = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
    viewer.pause();
    viewer.on('error', () => undefined);
    viewer.write('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => bot.listeners.size === 1);
    let most = 0;
    const keys = Array.from({ length: 40 }, (_, index) =>
      makeKey({ platform: 'test', workspace: 'here', channel: `${index}${'x'.repeat(200)}` }),
    );
    await until(() => {
      for (const key of keys) bot.change(key);
      most = Math.max(most, sockets[0]?.writableLength ?? 0);
      return bot.listeners.size === 0;
    });
    expect(sockets[0]?.destroyed).toBe(true);
    expect(most).toBeLessThan(1_000_000);
    viewer.destroy();
    server.close();
  }, 60_000);
});

describe('the stream', () => {
  let inspected: InspectorWorld;
  beforeEach(async () => {
    inspected = await createInspectorWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  });
  afterEach(async () => {
    await inspected[Symbol.asyncDispose]();
  });

  it('names the conversations that change', async () => {
    const response = await inspected.fetch('/live');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await inspected.world.say('Hello.');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const chunk = await reader?.read();
    expect(chunk?.value).toContain(`data: ["${inspected.world.key}"]`);
    await reader?.cancel();
  });

  it('sends the parts of pages, and says how old they are', async () => {
    const { world } = inspected;
    await world.say('Hello.');
    await world.settled();
    const health = await inspected.fetch('/live/health');
    expect(await health.text()).toContain('Owed replies');
    expect(health.headers.get('x-stale-ms')).toBe('0');
    await world.clock.advance(60_000);
    const gauge = await inspected.fetch(`/live/gauge/${encodeURIComponent(world.key)}`);
    expect(await gauge.text()).toMatch(/\d+ % of the window/u);
    expect((await inspected.fetch('/live/gauge/nonsense')).status).toBe(404);
    for (const path of ['/live/health', `/live/gauge/${encodeURIComponent(world.key)}`]) {
      expect((await fetch(`${inspected.base}${path}`, { redirect: 'manual' })).status).toBe(302);
    }
  });

  it('is closed to those who are not signed in', async () => {
    const response = await fetch(`${inspected.base}/live`, { redirect: 'manual' });
    expect(response.status).toBe(302);
  });
});
