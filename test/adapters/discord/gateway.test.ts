import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/adapter-kit.ts';
import { ADA, type DiscordDouble, GENERAL, startDiscord } from '../../fixtures/discord/double.ts';
import { type Opened, openChannel, until } from '../../fixtures/discord/kit.ts';

let double: DiscordDouble;
let opened: Opened;
let clock: ReturnType<typeof createFastClock>;

beforeEach(async () => {
  double = await startDiscord({ heartbeatMs: 2_000 });
  clock = createFastClock(50);
  opened = openChannel(double, { clock });
});
afterEach(async () => {
  await opened.channel.stop();
  await double.close();
  clock[Symbol.dispose]();
});

const TICK_MS = 5;

/**
 * Waits of minutes pass in seconds. Time passes with the event loop: if a busy machine stalls it, the answers of the
 * double are not late.
 */
function createFastClock(factor: number): Clock & Disposable {
  const beganAt = Date.now();
  let passedMs = 0;
  const ticks = setInterval(() => {
    passedMs += TICK_MS * factor;
  }, TICK_MS);
  const now = () => beganAt + passedMs;
  return {
    now,
    async sleep(ms, { signal }) {
      for (const endsAt = now() + ms; now() < endsAt; ) await delay(TICK_MS, undefined, { signal });
    },
    [Symbol.dispose]: () => clearInterval(ticks),
  };
}

/** There is one live session, and each message arrives once. */
async function isWell(): Promise<void> {
  const { sink } = opened;
  await until('a session', () => double.gateway.live === 1, 60_000);
  await delay(50);
  const before = sink.messages.length;
  double.say(GENERAL, ADA, 'are you there?');
  await until('the message', () => sink.messages.length > before, 60_000);
  await delay(300);
  expect(sink.messages).toHaveLength(before + 1);
  expect({ duplicates: sink.duplicates, open: double.gateway.open, most: double.gateway.state.mostLive }).toEqual({
    duplicates: [],
    open: 1,
    most: 1,
  });
}

describe('a shard has one session at most', () => {
  test('though upgrades are refused at the start', async () => {
    double.gateway.state.upgrades.push(502, 502, 503, 429);
    await opened.channel.start(opened.sink);
    await isWell();
    expect(double.gateway.identifies).toHaveLength(1);
    expect(opened.log.lines).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ cause: expect.stringContaining('502') }) }),
    );
  });

  test.each(['hello', 'identify'] as const)(
    'though the server keeps silent instead of the %s',
    async (word) => {
      double.gateway.state.silent.push(word);
      await opened.channel.start(opened.sink);
      await isWell();
    },
    120_000,
  );

  test('though nothing answers its request to resume', async () => {
    await opened.channel.start(opened.sink);
    double.gateway.state.silent.push('resume', 'resume');
    double.gateway.drop();
    await until('a new session', () => double.gateway.identifies.length === 2, 60_000);
    await isWell();
  }, 120_000);

  test.each([1000, 1001, 1011, 3000, 4000, 4001, 4003, 4007, 4008, 4009, 4242])(
    'and comes back after the close code %i',
    async (code) => {
      await opened.channel.start(opened.sink);
      double.gateway.closeAll(code);
      await until('the other connection', () => double.gateway.state.connections === 2);
      await isWell();
      expect(opened.log.lines.filter(({ message }) => message.startsWith('The connection'))).toMatchObject([
        { fields: { shardId: 0, code, cause: expect.any(String), nextTryInMs: expect.any(Number) } },
      ]);
    },
    120_000,
  );

  test('and leaves a line on which nothing comes', async () => {
    double.gateway.state.silent.push('heartbeat');
    await opened.channel.start(opened.sink);
    await until('the other connection', () => double.gateway.resumes.length === 1);
    await isWell();
  });
});

describe('a stop ends connections in progress', () => {
  const stopsQuickly = async () => {
    const began = Date.now();
    await opened.channel.stop();
    expect(Date.now() - began).toBeLessThan(2_000);
    const { connections } = double.gateway.state;
    await delay(500);
    expect([double.gateway.open, double.gateway.state.connections]).toEqual([0, connections]);
  };

  test.each([
    ['refuses upgrades', () => double.gateway.state.upgrades.push(...Array.from({ length: 500 }, () => 502))],
    ['does not answer an upgrade', () => double.gateway.state.upgrades.push(0)],
    ['sends no hello', () => double.gateway.state.silent.push('hello')],
    ['does not answer the identify', () => double.gateway.state.silent.push('identify')],
    ['does not tell its gateway', () => double.rest.fail('GET', /gateway/, { status: 503, times: 500 })],
  ])('with a server that %s', async (_, trouble) => {
    trouble();
    const starting = opened.channel.start(opened.sink);
    await delay(200);
    await stopsQuickly();
    await starting;
  });
});

describe('frames that no server should send', () => {
  const ODD = [
    ...['', 'null', '[]', '7', '"x"', '{', '{}', '{"op":"0"}', '{"op":99}', '{"op":0}', '{"op":0,"t":null,"d":null}'],
    ...['{"op":0,"t":5,"s":"x","d":7}', '{"op":10}', '{"op":10,"d":null}', '{"op":11,"d":[]}', '{"op":1,"d":"x"}'],
    ...['{"op":0,"t":"RESUMED","d":null}', '{"op":0,"t":"GUILD_DELETE","d":null,"s":-1}'],
  ];

  test('change nothing, and those that cannot be read are counted', async () => {
    await opened.channel.start(opened.sink);
    for (const text of ODD) double.gateway.sendRaw(text);
    await isWell();
    expect(double.gateway.state.connections).toBe(1);
    expect(opened.sink.drops.filter(({ event }) => event === 'frame').length).toBeGreaterThan(5);
  });

  test('are read as binary frames too', async () => {
    double.gateway.state.isBinary = true;
    await opened.channel.start(opened.sink);
    await isWell();
  });

  test.each(['{"op":9}', '{"op":9,"d":null}', '{"op":9,"d":true}', '{"op":7}'])(
    'are survived: %s',
    async (text) => {
      await opened.channel.start(opened.sink);
      double.gateway.sendRaw(text);
      await until('the other connection', () => double.gateway.state.connections === 2, 60_000);
      await isWell();
    },
    120_000,
  );
});

describe('a server with odd ways', () => {
  test.each(['not a url', 'ws://127.0.0.1:1/', 'http://127.0.0.1:1/', '', null, 7])(
    'is found again though it names the address %s',
    async (address) => {
      double.world.ready = { resume_gateway_url: address };
      await opened.channel.start(opened.sink);
      double.gateway.drop();
      await until('the other connection', () => double.gateway.resumes.length === 1, 60_000);
      await isWell();
    },
    120_000,
  );

  test('is left alone ever longer in a storm of reconnects', async () => {
    double.gateway.state.storm = 7;
    await opened.channel.start(opened.sink);
    await until('the storm is over', () => double.gateway.state.storm === 0, 60_000);
    await isWell();
    const lines = opened.log.lines.filter(({ message }) => message.startsWith('The connection'));
    const pauses = lines.map(({ fields }) => Number(fields['nextTryInMs']));
    expect(pauses).toHaveLength(7);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(6_000);
    expect(double.gateway.identifies).toHaveLength(1);
  }, 120_000);

  test('is identified with rarely though it forgets each session', async () => {
    await opened.channel.start(opened.sink);
    for (let round = 2; round <= 5; round += 1) {
      double.gateway.invalidate();
      await until('a new session', () => double.gateway.identifies.length === round, 60_000);
    }
    await isWell();
    const lines = opened.log.lines.filter(({ message }) => message.startsWith('The connection'));
    for (const { fields } of lines) expect(Number(fields['nextTryInMs'])).toBeGreaterThanOrEqual(1_000);
  }, 120_000);
});
