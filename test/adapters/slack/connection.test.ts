import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { checkSlack } from '../../../adapters/channels/slack/check.ts';
import { slackAdapter } from '../../../adapters/channels/slack/index.ts';
import { manifestOf, SCOPES } from '../../../adapters/channels/slack/manifest.ts';
import { builtInSpecs, type Clock, createSystemClock, makeKey, silentLog } from '../../../src/adapter-kit.ts';
import { ADA, BOT, GENERAL, type SlackDouble, signed, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, openChannel, recordSink, settingsFor, until } from '../../fixtures/slack/kit.ts';
import { freePort } from '../../support/port.ts';

let slack: SlackDouble;
const { start } = slackForEachTest((fresh) => {
  slack = fresh;
}, {});

describe('Socket Mode', () => {
  test('hears through one socket while another is renewed', async () => {
    const bot = await start();
    await until('two sockets are open', () => slack.sockets() === 2);
    const renewal = Promise.withResolvers<void>();
    slack.delays.set('apps.connections.open', renewal.promise);
    slack.refresh();
    await until('one is closed', () => slack.sockets() === 1);
    slack.say(GENERAL, ADA, 'during the renewal');
    await arrived(bot, 'during the renewal');
    expect(slack.opened()).toBe(2);
    renewal.resolve();
    await until('it is renewed', () => slack.opened() === 3, 60_000);
  }, 120_000);

  test('says why Slack closed a socket', async () => {
    const bot = await start();
    await until('two sockets are open', () => slack.sockets() === 2);
    const closed = () => bot.log.lines.filter(({ message }) => message === 'A Slack socket was closed');
    slack.refresh();
    await until('one is closed', () => closed().length === 1);
    await until('it is open again', () => slack.opened() === 3 && slack.sockets() === 2);
    slack.kill();
    await until('both are closed', () => closed().length === 3);
    expect(closed().map(({ level, fields }) => [level, fields])).toEqual([
      ['info', { reason: 'refresh_requested', open: 1 }],
      ['info', { reason: null, open: 1 }],
      ['info', { reason: null, open: 0 }],
    ]);
  }, 60_000);

  // Shows: J
  test('reads from history what came while every socket was lost', async () => {
    const bot = await start({ table: { sockets: 1 } });
    slack.say(GENERAL, ADA, 'before');
    await arrived(bot, 'before');
    slack.kill();
    slack.store(GENERAL, ADA, 'into the gap');
    await arrived(bot, 'into the gap');
    slack.say(GENERAL, ADA, 'after');
    await arrived(bot, 'after');
  }, 120_000);

  test('reopens a lost socket though Slack is unreachable at first', async () => {
    const bot = await start({ table: { sockets: 1 } });
    slack.say(GENERAL, ADA, 'before');
    await arrived(bot, 'before');
    slack.fail('apps.connections.open', { status: 500 }, { status: 500 }, { status: 500 }, { status: 500 });
    slack.kill();
    slack.say(GENERAL, ADA, 'after');
    await arrived(bot, 'after');
  }, 120_000);

  test('opens no socket while Slack asks to wait', async () => {
    const system = createSystemClock();
    const pauses: number[] = [];
    const sleep: Clock['sleep'] = (ms, options) => {
      pauses.push(ms);
      return system.sleep(ms, options);
    };
    const bot = await start({ table: { sockets: 1 }, clock: { ...system, sleep } });
    slack.say(GENERAL, ADA, 'before');
    await arrived(bot, 'before');
    const before = slack.callsOf('apps.connections.open').length;
    slack.fail('apps.connections.open', { retryAfter: 2 });
    slack.kill();
    slack.say(GENERAL, ADA, 'after');
    await arrived(bot, 'after');
    expect(pauses).toContain(2_000);
    expect(slack.callsOf('apps.connections.open')).toHaveLength(before + 2);
  }, 120_000);

  test('waits longer whenever Slack soon closes a socket', async () => {
    const system = createSystemClock();
    const pauses: number[] = [];
    const sleep: Clock['sleep'] = (ms, options) => {
      pauses.push(ms);
      return system.sleep(Math.min(ms, 100), options);
    };
    await start({ table: { sockets: 1 }, clock: { ...system, sleep } });
    for (let lost = 0; lost < 5; lost += 1) {
      await until('the socket is open', () => slack.sockets() === 1);
      slack.kill();
    }
    await until('the socket is open again', () => slack.sockets() === 1);
    expect(pauses.filter((ms) => [250, 500, 1000, 2000].includes(ms))).toEqual([250, 500, 1000, 2000]);
  }, 120_000);

  test('answers a command once, however often its envelope comes', async () => {
    const bot = await start();
    const command = { command: '/strata', text: 'status', user_id: ADA, team_id: TEAM, channel_id: GENERAL };
    const payload = { ...command, trigger_id: 'trigger', response_url: `${slack.base}/respond` };
    for (const _ of [1, 2, 3]) slack.envelope('slash_commands', payload, { envelope_id: 'E-same' });
    await until('all are acknowledged', () => slack.acks.filter((id) => id === 'E-same').length === 3);
    slack.envelope('slash_commands', payload);
    await until('the next one is answered', () => slack.answers.length >= 2);
    expect(bot.sink.commands.length).toBe(2);
  });

  test.each(['upgrade', 'hello'] as const)(
    'opens another socket when one gets no %s',
    async (missing) => {
      slack.silent.push(missing);
      const bot = await start({ table: { sockets: 1 } });
      slack.say(GENERAL, ADA, 'before');
      await arrived(bot, 'before');
      slack.silent.push(missing);
      slack.kill();
      slack.say(GENERAL, ADA, 'after');
      await arrived(bot, 'after');
    },
    120_000,
  );

  test('waits at the start until Slack can be reached', async () => {
    slack.fail('auth.test', { status: 500 }, { retryAfter: 1 }, { error: 'internal_error' });
    const bot = await start();
    slack.say(GENERAL, ADA, 'hello');
    await arrived(bot, 'hello');
    expect(bot.log.lines.filter(({ message }) => message === 'Slack cannot be reached; trying again')).toHaveLength(3);
  }, 30_000);

  test('stops while it waits for Slack', async () => {
    slack.fail('auth.test', ...Array.from({ length: 50 }, () => ({ status: 503 })));
    const { channel, sink } = openChannel(slack);
    const starting = channel.start(sink);
    await until('an attempt', () => slack.callsOf('auth.test').length === 1);
    await channel.stop();
    await starting;
    expect(slack.opened()).toBe(0);
  });

  test('opens no socket once it was stopped', async () => {
    const answer = Promise.withResolvers<void>();
    slack.delays.set('auth.test', answer.promise);
    const { channel, sink } = openChannel(slack);
    const starting = channel.start(sink);
    await until('it asks', () => slack.callsOf('auth.test').length === 1);
    await channel.stop();
    // Slack has not answered yet.
    await starting;
    answer.resolve();
    expect(slack.callsOf('apps.connections.open')).toEqual([]);
  });

  test.each(['auth.test', 'apps.connections.open', 'users.info'])('ends a hanging %s when it stops', async (method) => {
    slack.hanging.add(method);
    const { channel, sink } = openChannel(slack);
    const starting = channel.start(sink);
    slack.say(GENERAL, ADA, 'hello');
    await until('it asks', () => slack.callsOf(method).length > 0);
    await channel.stop();
    await until('it has ended', () => slack.abandoned.length === slack.callsOf(method).length, 5_000);
    await starting;
    await fetch(slack.base);
    expect(slack.callsOf(method)).toHaveLength(slack.abandoned.length);
  });

  test('lets the process end while a socket opens', async () => {
    const script = join(import.meta.dirname, 'slack.process.ts');
    const child = spawn(process.execPath, [script, slack.apiUrl], { stdio: ['pipe', 'inherit', 'inherit'] });
    try {
      await until('two are open', () => slack.sockets() === 2);
      slack.silent.push('upgrade');
      slack.refresh();
      await until('one opens', () => slack.sockets() === 1 && slack.silent.length === 0);
      child.stdin.end();
      await until('it has ended', () => child.exitCode !== null, 20_000);
    } finally {
      child.kill();
    }
  }, 60_000);

  test('asks Slack nothing once it was stopped', async () => {
    const { channel, sink } = openChannel(slack);
    const starting = channel.start(sink);
    await channel.stop();
    await starting;
    expect(slack.calls).toEqual([]);
  });

  test('survives one refusal of the app token', async () => {
    const bot = await start({ table: { sockets: 1 } });
    await until('its socket is open', () => slack.sockets() === 1);
    slack.fail('apps.connections.open', { error: 'invalid_auth' });
    slack.kill();
    slack.say(GENERAL, ADA, 'after');
    await arrived(bot, 'after');
    expect(bot.refusals).toEqual([]);
  });

  test('says in words that the app token lacks its scope', async () => {
    slack.fail('apps.connections.open', ...Array.from({ length: 2 }, () => ({ error: 'missing_scope' })));
    await expect(start()).rejects.toThrow('connections:write');
  });

  test('says in words which token is not valid', async () => {
    slack.world.botToken = 'another';
    await expect(start()).rejects.toThrow('bot token is invalid');
    slack.world.botToken = 'xoxb-double';
    slack.world.appToken = 'another';
    await expect(start()).rejects.toThrow('app token is invalid');
  });
});

test('a token of an organization is refused in words', async () => {
  slack.oauth.isOrganization = true;
  await expect(start()).rejects.toThrow('organization');
  const [token] = await checkSlack({ settings: settingsFor(slack), log: silentLog, state: createState() });
  expect(token).toMatchObject({
    checkId: 'token',
    severity: 'fail',
    fixHint: expect.stringContaining('one workspace'),
  });
});

describe('a token that is withdrawn while the bot runs', () => {
  const body = { kind: 'text', text: 'Hello.' } as const;
  const conversation = makeKey({ platform: 'slack', workspace: TEAM, channel: GENERAL });
  const post = { conversation, nonce: 'n', body, replyTo: null, attempt: 1 };
  const signal = new AbortController().signal;

  test('is reported once, when the bot wants to post', async () => {
    const bot = await start();
    slack.world.botToken = 'another';
    for (const attempt of [1, 2]) {
      await expect(bot.channel.post({ ...post, attempt }, { signal })).rejects.toMatchObject({
        data: { final: false },
      });
    }
    expect(bot.refusals).toEqual([expect.stringContaining('the bot token is invalid (invalid_auth). Install the app')]);
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('is reported when the connection comes back', async () => {
    const bot = await start({ table: { sockets: 1 } });
    await until('it is connected', () => slack.sockets() === 1);
    slack.world.botToken = 'another';
    slack.kill();
    await until('it is told', () => bot.refusals.length === 1, 60_000);
  }, 120_000);

  test('is reported when the app is removed', async () => {
    const bot = await start();
    await until('two sockets are open', () => slack.sockets() === 2);
    slack.world.botToken = 'another';
    slack.emit({ type: 'app_uninstalled' });
    await until('it is told', () => bot.refusals.length === 1);
  });

  test('is not reported while Slack still accepts it', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { error: 'invalid_auth' });
    await expect(bot.channel.post(post, { signal })).rejects.toThrow();
    expect(bot.refusals).toEqual([]);
  });

  test('of the app is reported and ends all reconnecting', async () => {
    const bot = await start();
    await until('two sockets are open', () => slack.sockets() === 2);
    slack.world.appToken = 'another';
    slack.refresh();
    await until('another one is tried', () => slack.callsOf('apps.connections.open').length > 3, 60_000);
    expect(bot.refusals).toEqual([]);
    slack.kill();
    await until('it is told', () => bot.refusals.length > 0, 60_000);
    expect(bot.refusals).toEqual([expect.stringContaining('the app token is invalid (invalid_auth)')]);
    const tries = () => slack.callsOf('apps.connections.open').length;
    const before = tries();
    await delay(600);
    expect(tries()).toBe(before);
  }, 120_000);
});

describe('HTTP', () => {
  const send = async (port: number, body: object, more: { secret?: string; at?: number } = {}) => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', ...signed(text, more) };
    return await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body: text, headers });
  };

  test('takes signed requests, refuses forged and old ones', async () => {
    const port = await freePort();
    const sink = recordSink();
    const bot = await start({ sink, table: { transport: 'http', http: { host: '127.0.0.1', port } } });
    const body = slack.eventBody({ ...slack.store(GENERAL, ADA, 'over http'), channel_type: 'channel' });
    expect((await send(port, body, { secret: 'wrong' })).status).toBe(401);
    expect((await send(port, body, { at: Date.now() - 600_000 })).status).toBe(401);
    expect(sink.messages).toEqual([]);
    expect((await send(port, body)).status).toBe(200);
    await arrived(bot, 'over http');
    expect((await send(port, body)).status).toBe(200);
    expect(sink.messages.length).toBe(1);
    sink.before = async () => {
      throw new Error('the disk is full');
    };
    const lost = slack.eventBody({ ...slack.store(GENERAL, ADA, 'lost'), channel_type: 'channel' });
    expect((await send(port, lost)).status).toBe(500);
    sink.before = async () => undefined;
    expect((await send(port, lost)).status).toBe(200);
    await arrived(bot, 'lost');
  });

  test('listens no more if it is stopped at the start', async () => {
    const port = await freePort();
    const state = createState();
    const reading = Promise.withResolvers<void>();
    let reads = 0;
    const list = async (namespace: string) => {
      reads += 1;
      await reading.promise;
      return await state.list(namespace);
    };
    const table = { transport: 'http', http: { host: '127.0.0.1', port } };
    const { channel, sink } = openChannel(slack, { state: { ...state, list }, table });
    const starting = channel.start(sink);
    await until('it reads what an earlier run left', () => reads > 0);
    const stopping = channel.stop();
    reading.resolve();
    await Promise.all([starting, stopping]);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  test('answers commands over HTTP, a replayed request not again', async () => {
    const port = await freePort();
    const bot = await start({ table: { transport: 'http', http: { host: '127.0.0.1', port } } });
    const fields = {
      command: '/strata',
      text: 'status',
      user_id: ADA,
      team_id: 'T0HOME001',
      channel_id: GENERAL,
      response_url: `${slack.base}/respond`,
    };
    const text = new URLSearchParams(fields).toString();
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded', ...signed(text) };
    const response = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body: text, headers });
    expect(response.status).toBe(200);
    await until('it is answered', () => slack.answers.length === 1);
    expect(bot.sink.commands[0]?.path).toEqual(['status']);
    const again = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body: text, headers });
    expect(again.status).toBe(200);
    const altered = { ...headers, 'x-slack-signature': `${headers['x-slack-signature']}=0` };
    await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body: text, headers: altered });
    const ahead = { ...headers, ...signed(text, { at: Date.now() + 600_000 }) };
    const early = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body: text, headers: ahead });
    expect(early.status).toBe(401);
    const more = `${text}&trigger_id=2`;
    const later = { ...headers, ...signed(more) };
    await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body: more, headers: later });
    await until('the next one is answered', () => slack.answers.length === 2);
    expect(bot.sink.commands.length).toBe(2);
  });
});

describe('running it', () => {
  test('each transport asks for its secret', () => {
    const problem = (table: object) => JSON.stringify(slackAdapter.settings.safeParse(table).error?.issues);
    expect(problem({ bot_token: 'x' })).toContain('needs app_token');
    expect(problem({ bot_token: 'x', transport: 'http' })).toContain('needs signing_secret');
    expect(problem({ bot_token: 'x', app_token: 'y', channels: { allow: ['general'] } })).toContain('C0123ABCD');
  });

  test('the doctor finds bad tokens and missing rights', async () => {
    const parts = { settings: settingsFor(slack), log: silentLog, state: createState() };
    const check = async () => (await checkSlack(parts)).map(({ checkId, severity }) => `${checkId} ${severity}`);
    expect(await check()).toEqual(['token ok', 'scopes ok', 'events ok', 'socket ok']);
    slack.world.scopes = 'chat:write';
    slack.world.appToken = 'another';
    expect(await check()).toEqual(['token ok', 'scopes fail', 'events ok', 'socket fail']);
    slack.world.botToken = 'another';
    expect(await check()).toEqual(['token fail', 'events ok', 'socket fail']);
    const unreachable = settingsFor({ apiUrl: `http://127.0.0.1:${await freePort()}/api/` });
    const findings = await checkSlack({ ...parts, settings: unreachable });
    const hints = findings.filter(({ severity }) => severity === 'fail').map(({ fixHint }) => fixHint);
    expect(hints).toEqual([expect.stringContaining('network'), expect.stringContaining('network')]);
  });

  test('the doctor lists events that came and seem unsubscribed', async () => {
    const state = createState();
    const events = async () => {
      const findings = await checkSlack({ settings: settingsFor(slack), log: silentLog, state });
      return findings.find(({ checkId }) => checkId === 'events');
    };
    expect((await events())?.message).toContain('no events received yet');
    const bot = await start({ state, table: { sockets: 1 } });
    const { ts } = slack.store(GENERAL, ADA, `<@${BOT}> hi`);
    slack.emit({ type: 'app_mention', user: ADA, text: `<@${BOT}> hi`, ts, channel: GENERAL, event_ts: ts });
    await arrived(bot, '@strata hi');
    expect(await events()).toMatchObject({ severity: 'warn', message: expect.stringContaining('message.channels') });
    slack.say(GENERAL, ADA, 'and more');
    await arrived(bot, 'and more');
    expect(await events()).toMatchObject({
      severity: 'ok',
      message: expect.stringMatching(/^received so far: app_mention, message\.channels; not yet: app_context_changed/),
    });
  });

  // Shows: N
  test('both transports and the doctor use the configured API address', async () => {
    const port = await freePort();
    await start({ table: { transport: 'http', http: { host: '127.0.0.1', port } } });
    expect(slack.calls.map(({ method }) => method)).toEqual(['auth.test']);
    await start();
    expect(slack.callsOf('apps.connections.open').length).toBeGreaterThan(0);
    const before = slack.calls.length;
    await checkSlack({ settings: settingsFor(slack), log: silentLog, state: createState() });
    expect(slack.calls.length).toBeGreaterThan(before);
  });

  test('the manifest names transport, surface, events and rights', () => {
    const socket = manifestOf(settingsFor(slack), builtInSpecs);
    expect(socket.settings.socket_mode_enabled).toBe(true);
    expect(socket.features).toHaveProperty('agent_view');
    expect(JSON.stringify(socket)).not.toContain('request_url');
    expect(socket.oauth_config.scopes.bot).toEqual(SCOPES.map(([scope]) => scope));
    const table = {
      transport: 'http',
      surface: 'classic',
      commands: 'all',
      http: { public_url: 'https://bot.example' },
    };
    const web = manifestOf(settingsFor(slack, table), builtInSpecs);
    expect(web.settings.event_subscriptions).toMatchObject({ request_url: 'https://bot.example/slack/events' });
    expect(web.settings.event_subscriptions.bot_events).toContain('assistant_thread_started');
    expect(web.features).toHaveProperty('assistant_view');
    expect(web.features.slash_commands.map(({ command }) => command)).toContain('/strata-memory');
    expect(web.features.slash_commands.every((command) => 'url' in command)).toBe(true);
  });

  test('every right is needed, and none is missing', () => {
    const folder = join(import.meta.dirname, '../../../adapters/channels/slack');
    const names = globSync('**/*.ts', { cwd: folder });
    const code = names.map((name) => readFileSync(join(folder, name), 'utf8'));
    const call = /(?:\bweb\.|apiCall\('|call\(\w+, ')((?:assistant|chat|conversations|files|users|views)\.[\w.]+)/g;
    const called = new Set(code.flatMap((text) => [...text.matchAll(call)].map(([, method = '']) => method)));
    // The text of each method's documentation.
    const ofCalls: Readonly<Record<string, readonly string[]>> = {
      'assistant.threads.setStatus': ['assistant:write'],
      'assistant.threads.setSuggestedPrompts': ['assistant:write'],
      'assistant.threads.setTitle': ['assistant:write'],
      'chat.appendStream': ['chat:write'],
      'chat.delete': ['chat:write'],
      'chat.getPermalink': [],
      'chat.postEphemeral': ['chat:write'],
      'chat.postMessage': ['chat:write'],
      'chat.startStream': ['chat:write'],
      'chat.stopStream': ['chat:write'],
      'chat.update': ['chat:write'],
      'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
      'conversations.info': ['channels:read', 'groups:read', 'mpim:read'],
      'conversations.members': ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
      'conversations.open': ['im:write'],
      'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
      'files.info': ['files:read'],
      'files.uploadV2': ['files:write'],
      'users.conversations': ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
      'users.info': ['users:read'],
      'views.open': [],
      'views.publish': [],
    };
    expect([...called].toSorted()).toEqual(Object.keys(ofCalls));
    const ofEvents = ['app_mentions:read', 'commands', 'metadata.message:read'];
    const needed = new Set([...Object.values(ofCalls).flat(), ...ofEvents]);
    expect(SCOPES.map(([scope]) => scope)).toEqual([...needed].toSorted());
  });

  test('the printed manifest stays within the limits of its fields', async () => {
    const table = { bot_token: 'x', app_token: 'y' };
    const text = await slackAdapter.tasks[0]?.run(table, { commandSpecs: builtInSpecs });
    const manifest = JSON.parse(text ?? '');
    expect(manifest.display_information.name.length).toBeLessThanOrEqual(35);
    expect(manifest.display_information.description.length).toBeLessThanOrEqual(140);
    expect(manifest.features.agent_view.agent_description.length).toBeLessThanOrEqual(300);
  });
});

test('a command without its table reports the missing table', async () => {
  const [task] = slackAdapter.tasks;
  await expect(task?.run({}, { commandSpecs: builtInSpecs })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('[channels.slack]'),
  });
});
