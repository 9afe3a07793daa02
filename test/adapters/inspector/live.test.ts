import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { streamTopic } from '../../../adapters/inspector/web/live.ts';
import { createBroadcasts, withOwnLimit } from '../../../adapters/inspector/web/serving/broadcasts.ts';
import type { PageApp, PageEnvironment } from '../../../adapters/inspector/web/serving/environment.ts';
import type { ViewerRole } from '../../../src/inspection/viewer.ts';
import { scriptedModel, testClock, until } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

/** A part that counts how often it is rendered. */
function counted(textOf: (count: number) => string) {
  const self = {
    count: 0,
    name: 'part',
    render: async () => {
      self.count += 1;
      return textOf(self.count);
    },
  };
  return self;
}

describe('parts that follow the bot', () => {
  it('are rendered once for all viewers', async () => {
    const clock = testClock();
    const broadcasts = createBroadcasts(clock);
    const part = counted((count) => `v${count}`);
    const received: (string | null)[] = [];
    for (let viewer = 0; viewer < 50; viewer += 1)
      await broadcasts.follow(part, (text) => viewer === 49 && received.push(text));
    expect(part.count).toBe(1);
    await clock.advance(1000);
    await clock.advance(1000);
    expect(part.count).toBe(3);
    expect(received).toEqual(['v1', 'v2', 'v3']);
  });

  it('are sent only when they have changed', async () => {
    const clock = testClock();
    const received: (string | null)[] = [];
    await createBroadcasts(clock).follow(
      counted((count) => (count < 4 ? 'same' : 'other')),
      (text) => received.push(text),
    );
    for (let second = 0; second < 5; second += 1) await clock.advance(1000);
    expect(received).toEqual(['same', 'other']);
    for (let second = 0; second < 26; second += 1) await clock.advance(1000);
    expect(received).toEqual(['same', 'other', null]);
  });

  it('take no more than their share of the time', async () => {
    const clock = testClock();
    const part = counted(String);
    const { signal } = new AbortController();
    const slow = { name: 'slow', render: () => clock.sleep(60, { signal }).then(part.render) };
    const following = createBroadcasts(clock).follow(slow, () => undefined);
    await clock.advance(60);
    await following;
    const before = part.count;
    for (let ms = 0; ms < 60_000; ms += 100) await clock.advance(100);
    expect(part.count - before).toBeLessThanOrEqual(60_000 / (60 / 0.02));
    expect(part.count - before).toBeGreaterThan(10);
  });

  it('stay as they are while they cannot be rendered', async () => {
    const clock = testClock();
    const received: (string | null)[] = [];
    const part = {
      name: 'part',
      count: 0,
      async render() {
        this.count += 1;
        if (this.count === 2) throw new Error('The database is locked.');
        return `v${this.count}`;
      },
    };
    await createBroadcasts(clock).follow({ name: 'part', render: () => part.render() }, (text) => received.push(text));
    await clock.advance(1000);
    await clock.advance(1000);
    expect(received).toEqual(['v1', 'v3']);
  });

  it('are rendered only while somebody looks', async () => {
    const clock = testClock();
    const broadcasts = createBroadcasts(clock);
    const part = counted(String);
    const leaves = [];
    for (let viewer = 0; viewer < 200; viewer += 1) leaves.push(await broadcasts.follow(part, () => undefined));
    expect(await broadcasts.follow(part, () => undefined)).toBeNull();
    for (const leave of leaves) leave?.();
    await clock.advance(60_000);
    expect(part.count).toBe(1);
    expect(await broadcasts.follow(part, () => undefined)).not.toBeNull();
    await clock.advance(1000);
    expect(part.count).toBe(3);
  });

  it('leave places for others', async () => {
    const broadcasts = createBroadcasts(testClock());
    const taken = new Map<string, number>();
    const follow = (name: string, role: ViewerRole) =>
      withOwnLimit(broadcasts, { name, role }, taken).follow(counted(String), () => undefined);
    const eves = await Promise.all(Array.from({ length: 150 }, () => follow('eve', 'viewer')));
    expect(eves.filter((leave) => leave !== null)).toHaveLength(40);
    expect(await follow('bob', 'moderator')).not.toBeNull();
    for (const leave of eves) leave?.();
    const operators = await Promise.all(Array.from({ length: 150 }, () => follow('ada', 'operator')));
    expect(operators).not.toContain(null);
    expect(await follow('eve', 'viewer')).not.toBeNull();
  });

  it('are the same for viewers that come at once', async () => {
    const clock = testClock();
    const broadcasts = createBroadcasts(clock);
    const renderings = Array.from({ length: 250 }, () => Promise.withResolvers<string>());
    let asked = 0;
    const render = () => renderings[asked++]?.promise ?? Promise.resolve('new');
    const received: (string | null)[] = [];
    const joined = renderings.map(() => broadcasts.follow({ name: 'part', render }, (text) => received.push(text)));
    renderings[1]?.resolve('new');
    await joined[1];
    for (const { resolve } of renderings) resolve('old');
    expect((await Promise.all(joined)).filter((leave) => leave !== null)).toHaveLength(200);
    expect(new Set(received)).toEqual(new Set(['new']));
  });
});

describe('a viewer that reads nothing', () => {
  it('is cut off and fills no memory', async () => {
    const clock = testClock();
    const part = counted((count) => `${count} ${'x'.repeat(100_000)}`);
    const options = { broadcasts: createBroadcasts(clock), isSignedIn: () => true, stallMs: 50 };
    const app: PageApp = new Hono<PageEnvironment>().get('/live', (c) => streamTopic(c, options, part));
    const sockets: Socket[] = [];
    const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
    server.on('connection', (socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const viewer = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
    viewer.pause();
    viewer.on('error', () => undefined);
    viewer.write('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
    let most = 0;
    await until(async () => {
      await clock.advance(1000);
      most = Math.max(most, sockets[0]?.writableLength ?? 0);
      return sockets[0]?.destroyed === true;
    });
    expect(most).toBeLessThan(1_000_000);
    const { count } = part;
    await clock.advance(60_000);
    expect(part.count).toBe(count);
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

  /** Reads until the text appears. */
  async function readUntil({ body }: Response, wanted: string): Promise<string> {
    let text = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.includes(wanted)) return text;
    }
    return text;
  }

  it('shows a part now and after a change', async () => {
    const { world } = inspected;
    const response = await inspected.fetch('/live/health');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const read = readUntil(response, '1 model call,');
    await world.say('Hello.');
    await world.settled();
    await world.clock.advance(1000);
    expect(await read).toMatch(/Owed replies[\s\S]*Owed replies/u);
  });

  it('shows the gauge of one conversation', async () => {
    const { world } = inspected;
    await world.say('Hello.');
    await world.settled();
    const path = `/live/gauge/${encodeURIComponent(world.key)}`;
    expect(await readUntil(await inspected.fetch(path), 'of the window')).toMatch(/\d+ % of the window/u);
    for (const unknown of ['nonsense', encodeURIComponent(`${world.key}0`)])
      expect((await inspected.fetch(`/live/gauge/${unknown}`)).status).toBe(404);
  });

  it('is closed to those who are not signed in', async () => {
    for (const path of ['/live/health', `/live/gauge/${encodeURIComponent(inspected.world.key)}`])
      expect((await fetch(`${inspected.base}${path}`, { redirect: 'manual' })).status).toBe(302);
  });
});
