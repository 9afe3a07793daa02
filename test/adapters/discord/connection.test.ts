import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readInformation } from '../../../adapters/channels/discord/gateway/frames.ts';
import { createIdentifyPace, createPauses, pauseAfter } from '../../../adapters/channels/discord/gateway/pauses.ts';
import { botsOf, settingsSchema } from '../../../adapters/channels/discord/settings.ts';
import { type Clock, createSystemClock } from '../../../src/adapter-kit.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import { postTo } from '../../contracts/channel-kit.ts';
import {
  ADA,
  DIRECT,
  type DiscordDouble,
  type DoubleOptions,
  ELSEWHERE,
  GENERAL,
  startDiscord,
  TOKEN,
} from '../../fixtures/discord/double.ts';
import { withChannel } from '../../fixtures/discord/each-test.ts';
import { createState, openChannel, recordSink, until } from '../../fixtures/discord/kit.ts';

async function withDouble(options: DoubleOptions, work: (double: DiscordDouble) => Promise<void>): Promise<void> {
  const double = await startDiscord(options);
  try {
    await work(double);
  } finally {
    await double.close();
  }
}

describe('a handshake that Discord refuses', () => {
  test.each([
    [4004, /the token is invalid\. Copy a new one/],
    [4013, /the intents are invalid\. Update Strata/],
    [
      4014,
      /is not allowed to read the content of messages\. Enable "Message Content Intent".*or set message_content = false/,
    ],
    [4011, /too many servers for so few shards\. Set shards = "auto"/],
  ])('stops the start with one sentence and remedy (%i)', async (code, sentence) => {
    await withDouble({}, async (double) => {
      double.gateway.state.closeWith = code;
      const { channel, sink } = openChannel(double);
      const error = await channel.start(sink).then(
        () => null,
        (failure: unknown) => failure,
      );
      expect(error).toMatchObject({ code: 'PLATFORM_REFUSED', message: expect.stringMatching(sentence) });
      await delay(1_200);
      expect(double.gateway.identifies).toHaveLength(1);
      expect(double.gateway.open).toBe(0);
    });
  });

  test('with a wrong token is reported before the gateway', async () => {
    await withDouble({}, async (double) => {
      double.world.token = 'another';
      const { channel, sink } = openChannel(double);
      await expect(channel.start(sink)).rejects.toMatchObject({
        code: 'PLATFORM_REFUSED',
        message: expect.stringContaining('token'),
      });
    });
  });

  test('after the start is reported and not retried', async () => {
    await withChannel({}, async ({ double, log }) => {
      double.gateway.closeAll(4004);
      await until('the report', () =>
        log.lines.find(({ level, message }) => level === 'error' && message.includes('the token is invalid')),
      );
      await delay(1_200);
      expect(double.gateway.identifies).toHaveLength(1);
    });
  });
});

describe('a connection', () => {
  test('beats, and resumes after a break without loss or repetition', async () => {
    await withChannel({ heartbeatMs: 100 }, async ({ double, sink }) => {
      await until('a heartbeat', () => double.gateway.state.heartbeats > 1);
      double.say(GENERAL, ADA, 'before');
      await until('the message', () => sink.messages.length === 1);
      double.gateway.drop();
      double.say(GENERAL, ADA, 'meanwhile');
      await until('the message', () => sink.messages.length === 2);
      expect(double.gateway.resumes).toHaveLength(1);
      expect(double.gateway.identifies).toHaveLength(1);
      expect(sink.duplicates).toEqual([]);
    });
  });

  test('is renewed when Discord asks for it (op 7)', async () => {
    await withChannel({}, async ({ double, sink }) => {
      double.gateway.askToReconnect();
      await until('the resumed session', () => double.gateway.resumes.length === 1);
      double.say(GENERAL, ADA, 'hello again');
      await until('the message', () => sink.messages.length === 1);
    });
  });

  test('identifies again when its session is unknown, and catches up', async () => {
    await withChannel({}, async ({ double, sink }) => {
      double.say(GENERAL, ADA, 'before');
      await until('the message', () => sink.messages.length === 1);
      double.gateway.drop({ forget: true });
      double.say(GENERAL, ADA, 'lost', { silent: true });
      await until('the lost message', () => sink.messages.length === 2, 60_000);
      expect(double.gateway.identifies).toHaveLength(2);
    });
  });

  test('retries ever more slowly, and still stops at once', async () => {
    await withChannel({}, async ({ double, channel, log }) => {
      double.gateway.state.closeWith = 4002;
      const before = double.gateway.state.connections;
      double.gateway.drop();
      await until('a pause', () => log.lines.find(({ fields }) => Number(fields['nextTryInMs']) > 1_400), 60_000);
      const tried = double.gateway.state.connections;
      await delay(700);
      expect(double.gateway.state.connections).toBe(tried);
      expect(tried - before).toBeLessThan(7);
      const stopping = Date.now();
      await channel.stop();
      // Shorter than the time that a running attempt has to end.
      expect(Date.now() - stopping).toBeLessThan(4_000);
      double.gateway.state.closeWith = 0;
      await delay(2_500);
      expect(double.gateway.open).toBe(0);
    });
  }, 120_000);

  test('heals by itself after such a pause', async () => {
    await withChannel({}, async ({ double, sink, log }) => {
      double.gateway.state.closeWith = 4002;
      double.gateway.drop();
      await until('a pause', () => log.lines.find(({ fields }) => Number(fields['nextTryInMs']) > 1_400), 60_000);
      double.gateway.state.closeWith = 0;
      double.say(GENERAL, ADA, 'are you back?');
      await until('the message', () => sink.messages.length === 1, 60_000);
    });
  }, 120_000);

  test('waits at the start for Discord, and can be stopped', async () => {
    await withDouble({}, async (double) => {
      double.rest.fail('GET', /gateway/, { status: 503, times: 5 });
      const { channel, sink, log } = openChannel(double);
      const started = channel.start(sink);
      await until(
        'a warning',
        () => log.lines.find(({ message }) => message === 'Discord cannot be reached; trying again'),
        120_000,
      );
      await started;
      await channel.stop();

      double.rest.fail('GET', /gateway/, { status: 503, times: 1000 });
      const other = openChannel(double);
      const starting = other.channel.start(other.sink);
      await until(
        'a warning',
        () => other.log.lines.find(({ message }) => message === 'Discord cannot be reached; trying again'),
        120_000,
      );
      await other.channel.stop();
      await starting;
    });
  }, 120_000);

  test('closes cleanly: no socket and no timer is left', async () => {
    await withDouble({ heartbeatMs: 50 }, async (double) => {
      const { channel, sink } = openChannel(double);
      await channel.start(sink);
      await delay(120);
      await channel.stop();
      const beats = double.gateway.state.heartbeats;
      await delay(200);
      expect([double.gateway.open, double.gateway.state.heartbeats]).toEqual([0, beats]);
    });
  });
});

describe('shards', () => {
  test('run in recommended number; the first gets direct messages', async () => {
    await withChannel({ shards: 2 }, async ({ double, sink }) => {
      expect(double.gateway.identifies.map(({ shard }) => shard)).toEqual([
        [0, 2],
        [1, 2],
      ]);
      for (const place of [GENERAL, ELSEWHERE, DIRECT]) double.say(place, ADA, `in ${place}`);
      await until('three messages', () => sink.messages.length === 3);
    });
  });

  test('may be shared among processes', async () => {
    await withDouble({}, async (double) => {
      const sink = recordSink();
      const one = openChannel(double, { sink, table: { shards: 2, shard_ids: [0] } });
      const two = openChannel(double, { sink, table: { shards: 2, shard_ids: [1] } });
      await Promise.all([one.channel.start(sink), two.channel.start(sink)]);
      expect(double.gateway.identifies.map(({ shard }) => shard).toSorted()).toEqual([
        [0, 2],
        [1, 2],
      ]);
      for (const place of [GENERAL, ELSEWHERE]) double.say(place, ADA, 'hello');
      await until('two messages', () => sink.messages.length === 2);
      await Promise.all([one.channel.stop(), two.channel.stop()]);
    });
  });

  test('read missed messages of their own servers once', async () => {
    await withDouble({ shards: 2 }, async (double) => {
      const sink = recordSink();
      const first = openChannel(double, { sink });
      await first.channel.start(sink);
      for (const place of [GENERAL, ELSEWHERE]) double.say(place, ADA, 'heard');
      await until('two messages', () => sink.messages.length === 2);
      await first.channel.stop();
      for (const place of [GENERAL, ELSEWHERE]) double.say(place, ADA, 'missed', { silent: true });
      const second = openChannel(double, { sink });
      await second.channel.start(sink);
      await until('four messages', () => sink.messages.length === 4);
      await delay(100);
      expect(sink.duplicates).toEqual([]);
      await second.channel.stop();
    });
  });
});

describe('several bots in one process', () => {
  test('have their own conversations and post with their own token', async () => {
    await withDouble({}, async (double) => {
      const table = { bots: { helper: { token: TOKEN, rest_url: double.restUrl } } };
      const { channel, sink } = openChannel(double, { table, state: createState() });
      await channel.start(sink);
      double.say(GENERAL, ADA, 'hello both');
      await until('two messages', () => sink.messages.length === 2);
      const keys = sink.messages.map(({ conversation }) => conversation).toSorted();
      expect(keys.map((conversation) => conversation.split(':')[1]?.split('@')[0])).toEqual([
        expect.stringMatching(/^\d+$/),
        'helper',
      ]);
      for (const conversation of keys) {
        const post = postTo(conversation, { body: { kind: 'text', text: `to ${conversation}` } });
        await channel.post(post, { signal: AbortSignal.timeout(5_000) });
      }
      expect(double.posted(GENERAL)).toHaveLength(2);
      await channel.stop();
    });
  });

  test('stop together when one of them is refused', async () => {
    await withDouble({}, async (double) => {
      const table = { bots: { helper: { token: 'wrong', rest_url: double.restUrl } } };
      const { channel, sink } = openChannel(double, { table });
      await expect(channel.start(sink)).rejects.toMatchObject({ code: 'PLATFORM_REFUSED' });
      await delay(100);
      expect(double.gateway.open).toBe(0);
    });
  });
});

describe('addresses of another server', () => {
  // Shows: N
  test('are used for REST and, when given, the gateway', async () => {
    await withDouble({}, async (double) => {
      const other = await startDiscord();
      const { channel, sink } = openChannel(double, {
        table: { gateway_url: `${other.base.replace('http', 'ws')}/gateway` },
      });
      await channel.start(sink);
      expect([double.gateway.identifies.length, other.gateway.identifies.length]).toEqual([0, 1]);
      other.gateway.drop();
      await until('a resumed session', () => other.gateway.resumes.length === 1);
      await channel.stop();
      await other.close();
    });
  });
});

test('nothing is opened once the channel was stopped', async () => {
  await withDouble({}, async (double) => {
    const { channel, sink } = openChannel(double);
    const starting = channel.start(sink);
    await channel.stop();
    await starting;
    expect(double.gateway.identifies).toEqual([]);
  });
});

test.each(['no address', 'http://127.0.0.1/', `ws://${'x'.repeat(5_000)}`, 'ws://127.0.0.1:9/', null])(
  'a wrong gateway address is asked for again: %s',
  async (url) => {
    await withDouble({}, async (double) => {
      double.rest.instead('GET', /gateway/, { status: 200, body: { url, shards: 1 } });
      const { channel, sink, log } = openChannel(double);
      await channel.start(sink);
      expect(double.gateway.live).toBe(1);
      expect(JSON.stringify(log.lines).length).toBeLessThan(4_000);
      await channel.stop();
    });
  },
);

test('an absurd number of shards is not opened', () => {
  const read = readInformation({ url: 'wss://gateway.example', shards: 9_000_000_000 }, '');
  expect(read.shards).toBe(1);
});

test('a configured gateway is used where REST names none', async () => {
  await withDouble({}, async (double) => {
    double.rest.fail('GET', /gateway/, { status: 404, times: 100 });
    const gateway_url = `${double.base.replace('http', 'ws')}/gateway`;
    const { channel, sink } = openChannel(double, { table: { gateway_url } });
    await channel.start(sink);
    expect(double.gateway.identifies).toHaveLength(1);
    await channel.stop();
  });
});

describe('the pauses between failing connections', () => {
  test('last minutes when few identifications are left', async () => {
    await withDouble({}, async (double) => {
      double.world.identifiesLeft = 1;
      double.gateway.state.closeWith = 4_000;
      const system = createSystemClock();
      const sleep: Clock['sleep'] = (ms, options) => system.sleep(ms / 100, options);
      const { channel, sink, log } = openChannel(double, { clock: { ...system, sleep } });
      const starting = channel.start(sink);
      await until('a long pause', () => log.lines.some(({ fields }) => Number(fields['nextTryInMs']) > 40_000));
      await channel.stop();
      await starting;
    });
  });

  test('grow to five minutes, with jitter', () => {
    const pauses = (failures: readonly number[]) => failures.map((count) => pauseAfter(count, { chance: 0.5 }));
    expect(pauses([1, 2, 3])).toEqual([500, 500, 500]);
    expect(pauses([4, 5, 6, 12, 100])).toEqual([2_000, 4_000, 8_000, 300_000, 300_000]);
    expect([pauseAfter(4, { chance: 0 }), pauseAfter(4, { chance: 1 })]).toEqual([1_500, 2_500]);
  });

  const flaps = (
    { isScarce = false, ...ending }: { isSpent: boolean; readyMs: number; isScarce?: boolean },
    times: number,
  ) => {
    const pauses = createPauses(() => 0.5);
    return Array.from({ length: times }, () => pauses.after({ ...ending, isUnknown: false }, isScarce));
  };

  test('forget failures only after a stable connection', () => {
    expect(flaps({ isSpent: true, readyMs: 5_000 }, 5)).toEqual([500, 500, 500, 2_000, 4_000]);
    expect(flaps({ isSpent: true, readyMs: 61_000 }, 5)).toEqual([500, 500, 500, 500, 500]);
  });

  test('stay under half a minute while no identification is spent', () => {
    expect(flaps({ isSpent: false, readyMs: 0, isScarce: true }, 20).at(-1)).toBe(30_000);
  });

  test('are long only when few identifications are left', () => {
    const last = (isScarce: boolean, readyMs: number) => flaps({ isSpent: true, readyMs, isScarce }, 20).at(-1);
    expect([last(false, 5_000), last(false, 0), last(true, 5_000)]).toEqual([8_000, 30_000, 300_000]);
  });

  test('are short after a refusal to resume', () => {
    const pauses = createPauses(() => 0.5);
    const fail = (isUnknown: boolean, isSpent = false) => pauses.after({ isSpent, readyMs: 0, isUnknown }, false);
    for (let failure = 0; failure < 20; failure += 1) fail(false);
    expect([fail(true), fail(true, true)]).toEqual([8_000, 30_000]);
  });

  test('count the identifications of one day', async () => {
    let now = 0;
    const pace = createIdentifyPace({ now: () => now, sleep: async () => undefined });
    const { signal } = new AbortController();
    for (let group = 0; group < 3; group += 1) await pace.wait(group, signal);
    expect([pace.isScarce(6), pace.isScarce(5)]).toEqual([false, true]);
    now = DAY_MS;
    expect(pace.isScarce(5)).toBe(false);
  });

  test('leave room between identifications for the way to Discord', async () => {
    const slept: number[] = [];
    const pace = createIdentifyPace({
      now: () => 0,
      sleep: async (ms) => {
        slept.push(ms);
      },
    });
    const { signal } = new AbortController();
    for (const group of [0, 0, 1]) await pace.wait(group, signal);
    expect(slept).toHaveLength(1);
    expect(slept[0]).toBeGreaterThan(5_200);
  });

  test('are one to five seconds when the session is unknown', () => {
    const pauseAt = (chance: number) =>
      createPauses(() => chance).after({ isSpent: false, readyMs: 5_000, isUnknown: true }, false);
    expect([pauseAt(0), pauseAt(1)]).toEqual([1_000, 5_000]);
  });
});

describe('the settings', () => {
  test('need a token, and nothing else', () => {
    expect(botsOf({ token: 'x' })).toMatchObject([
      { name: '', settings: { message_content: true, streaming: false, link_previews: false, shards: 'auto' } },
    ]);
    expect(settingsSchema.safeParse({ token: '' }).success).toBe(false);
    expect(settingsSchema.safeParse({ token: 'x', chanels: {} }).success).toBe(false);
    expect(settingsSchema.safeParse({ token: 'x', guilds: { allow: ['my server'] } }).success).toBe(false);
    expect(settingsSchema.safeParse({}).success).toBe(false);
    expect(settingsSchema.safeParse({ token: 'x', shard_ids: [0] }).success).toBe(false);
    expect(settingsSchema.safeParse({ token: 'x', shards: 2, shard_ids: [2] }).success).toBe(false);
    expect(settingsSchema.safeParse({ token: 'x', shards: 2, shard_ids: [1] }).success).toBe(true);
    expect(botsOf({ bots: { helper: { token: 'y' } } })).toMatchObject([{ name: 'helper', settings: { token: 'y' } }]);
  });

  test('know Discord’s languages and the names of commands', () => {
    const wrong = (localizations: object) =>
      settingsSchema.safeParse({ token: 'x', localizations }).error?.issues.map(({ path, message }) => [path, message]);
    expect(wrong({ de: { memory: 'Erinnerungen', 'memory list page': 'Seite', 'compact instruction': 'Was' } })).toBe(
      undefined,
    );
    expect(wrong({ de: { 'memory lst': 'Liste' } })).toEqual([
      [['localizations', 'de', 'memory lst'], expect.stringContaining('did you mean "memory list"?')],
    ]);
    expect(wrong({ german: { memory: 'Erinnerungen' } })).toHaveLength(1);
  });

  test('appear in config.toml with default and description', () => {
    const text = readFileSync(new URL('../../../config.toml', import.meta.url), 'utf8');
    const from = text.indexOf('#[channels.discord]');
    const lines = text.slice(from, text.indexOf('#[channels.slack]', from)).trim().split('\n');
    const [bot] = botsOf({ token: 'env:DISCORD_BOT_TOKEN' });
    expect(lines).toEqual([
      ...exampleOf('channels.discord', settingsSchema, { ...bot?.settings }),
      `# ${settingsSchema.shape.localizations.description}`,
      '#[channels.discord.localizations.de]',
      '#"memory list" = "Zeigt, woran sich der Bot erinnert"',
      `# ${settingsSchema.shape.bots.description}`,
      '#[channels.discord.bots.helper]',
      '#token = "env:HELPER_BOT_TOKEN"',
    ]);
  });
});

/** A table in the order of the file: keys with their defaults, then nested tables. */
function exampleOf(table: string, schema: z.ZodObject, values: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = Object.entries(schema.shape).filter(([key]) => values[key] !== undefined && key !== 'localizations');
  const isTable = ([key]: readonly [string, unknown]) => key === 'catch_up' || key === 'attachments';
  const own = fields
    .filter((field) => !isTable(field))
    .flatMap(([key, field]) => [
      `# ${field instanceof z.ZodType ? field.description : ''}`,
      `#${key} = ${tomlOf(values[key])}`,
    ]);
  const inner = fields
    .filter(isTable)
    .flatMap(([key, field]) =>
      exampleOf(`${table}.${key}`, objectIn(field), z.record(z.string(), z.unknown()).parse(values[key])),
    );
  return [`#[${table}]`, ...own, ...inner];
}

function objectIn(field: unknown): z.ZodObject {
  if (field instanceof z.ZodObject) return field;
  if (field instanceof z.ZodPrefault) return objectIn(field.unwrap());
  throw new Error('no table');
}

function tomlOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${key} = ${tomlOf(inner)}`)
    .join(', ')} }`;
}
