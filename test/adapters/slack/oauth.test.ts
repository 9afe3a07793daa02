import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkSlack } from '../../../adapters/channels/slack/check.ts';
import { createDepartures } from '../../../adapters/channels/slack/install/departures.ts';
import { createInstallations, type Installation } from '../../../adapters/channels/slack/install/installations.ts';
import { createInstalledRoster } from '../../../adapters/channels/slack/install/installed.ts';
import { createStates } from '../../../adapters/channels/slack/install/oauth-state.ts';
import { createRenewal } from '../../../adapters/channels/slack/install/renewal.ts';
import { openTokenEncryption } from '../../../adapters/channels/slack/install/token-encryption.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { makeKey, type StateStore, silentLog } from '../../../src/adapter-kit.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import {
  ADA,
  BOT,
  DIRECT,
  type Fields,
  GENERAL,
  OTHER,
  OTHER_DIRECT,
  OTHER_GENERAL,
  OTHER_TEAM,
  type SlackDouble,
  signed,
  startSlack,
  TEAM,
} from '../../fixtures/slack/double.ts';
import { begin, install, many } from '../../fixtures/slack/installing.ts';
import {
  createState,
  type Opened,
  openChannel,
  recordLog,
  recordSink,
  settingsFor,
  until,
} from '../../fixtures/slack/kit.ts';
import { freePort } from '../../support/port.ts';

let slack: SlackDouble;
let port: number;
let open: Opened[] = [];
const { signal } = new AbortController();
beforeEach(async () => {
  slack = await startSlack();
  port = await freePort();
});
afterEach(async () => {
  for (const { log } of open) expect(JSON.stringify(log.lines)).not.toMatch(/xox[be]-|a-client-secret/);
  for (const { channel } of open) await channel.stop();
  open = [];
  await slack.close();
});

async function start(options: Parameters<typeof openChannel>[1] & { readonly at?: number } = {}): Promise<Opened> {
  const opened = openChannel(slack, { ...options, table: { ...many(options.at ?? port), ...options.table } });
  open.push(opened);
  await opened.channel.start(opened.sink);
  return opened;
}
async function stop(bot: Opened): Promise<void> {
  open = open.filter((other) => other !== bot);
  await bot.channel.stop();
}
const send = async (body: object, at = port): Promise<number> => {
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', ...signed(text) };
  return (await fetch(`http://127.0.0.1:${at}/slack/events`, { method: 'POST', body: text, headers })).status;
};
const inTeam = (teamId: string) => ({
  team_id: teamId,
  context_team_id: teamId,
  authorizations: [{ team_id: teamId }],
});
const tell = (teamId: string, event: Fields, more: object = {}, at = port) =>
  send(slack.eventBody(event, { ...inTeam(teamId), ...more }), at);
const say = async (teamId: string, channel: string, text: string, at = port): Promise<void> => {
  const message = slack.store(channel, ADA, text, { team: teamId, user_team: teamId });
  const type = channel.startsWith('D') ? 'im' : 'channel';
  expect(await tell(teamId, { ...message, channel_type: type }, {}, at)).toBe(200);
};
const heard = ({ sink }: Opened) => sink.messages.map(({ conversation, text }) => `${conversation} ${text}`);
const installed = async (state: StateStore) => (await state.list('slack.installations')).map(({ key }) => key);
const ownedBy = (state: StateStore, teamId: string) =>
  Promise.all(
    ['beginnings', 'drafts', 'greeted', 'installations', 'posts', 'threads', 'viewing'].map(async (name) =>
      (await state.list(`slack.${name}`)).filter(({ key }) => key.includes(teamId)),
    ),
  ).then((rows) => rows.flat());

describe('installing', () => {
  test('ends with a workspace served by its own token', async () => {
    const bot = await start();
    await say(TEAM, GENERAL, 'too early');
    expect(await install(port)).toMatchObject({ status: 200, text: expect.stringContaining('Home') });
    slack.oauth.choice = OTHER;
    expect(await install(port)).toMatchObject({ status: 200, text: expect.stringContaining('Other') });
    await say(TEAM, GENERAL, `<@${BOT}> at home`);
    await say(OTHER_TEAM, OTHER_GENERAL, `<@${OTHER.botUserId}> abroad`);
    await until('both messages', () => bot.sink.messages.length === 2);
    expect(bot.sink.messages).toMatchObject([
      {
        text: '@strata at home',
        addressesBot: true,
        conversation: expect.stringMatching(`^slack:${TEAM}:${GENERAL}:`),
      },
      {
        text: '@strata abroad',
        addressesBot: true,
        conversation: expect.stringMatching(`^slack:${OTHER_TEAM}:${OTHER_GENERAL}:`),
      },
    ]);
    for (const [index, { conversation }] of bot.sink.messages.entries()) {
      const post = {
        conversation,
        nonce: `${index}-1-0`,
        body: { kind: 'text', text: 'Hello' },
        replyTo: null,
      } as const;
      await bot.channel.post({ ...post, attempt: 1 }, { signal });
      bot.channel.show(conversation, { kind: 'working' });
    }
    await until('both statuses', () => slack.callsOf('assistant.threads.setStatus').length >= 2);
    const teams = (method: string) => slack.calls.filter((call) => call.method === method).map(({ teamId }) => teamId);
    expect(teams('chat.postMessage')).toEqual([TEAM, OTHER_TEAM]);
    expect(teams('assistant.threads.setStatus')).toEqual([TEAM, OTHER_TEAM]);
  });

  test('reads files and history with each workspace’s token', async () => {
    const state = createState();
    const sink = recordSink();
    const before = await start({ state, sink });
    await install(port);
    slack.oauth.choice = OTHER;
    await install(port);
    const text = Buffer.from('# Plan');
    slack.files.set('/files/plan.md', { body: text, type: 'text/markdown' });
    const url = `${slack.base}/files/plan.md`;
    const file = { id: 'F1', name: 'plan.md', mimetype: 'text/markdown', size: text.length, url_private: url };
    const shared = { subtype: 'file_share', files: [file], team: OTHER_TEAM, user_team: OTHER_TEAM };
    const message = slack.store(OTHER_GENERAL, ADA, 'look', shared);
    await tell(OTHER_TEAM, { ...message, channel_type: 'channel' });
    await say(TEAM, GENERAL, 'at home');
    await until('both messages', () => sink.messages.length === 2);
    expect(sink.messages[0]?.text).toContain('# Plan');
    expect(slack.fetched).toEqual([OTHER_TEAM]);
    await stop(before);
    for (const channel of [GENERAL, OTHER_GENERAL]) slack.store(channel, ADA, 'while you were away');
    const after = await start({ state, sink });
    await until('both were read', () => sink.messages.filter(({ text: said }) => said.includes('away')).length === 2);
    expect(after.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    const histories = slack.calls.filter(({ method, teamId }) => method === 'conversations.history' && teamId !== null);
    const readBy = (team: string) =>
      histories.filter(({ teamId }) => teamId === team).map(({ body }) => String(body['channel']));
    expect(readBy(TEAM)).toContain(GENERAL);
    expect(readBy(TEAM)).not.toContain(OTHER_GENERAL);
    expect(readBy(OTHER_TEAM)).toContain(OTHER_GENERAL);
    expect(readBy(OTHER_TEAM)).not.toContain(GENERAL);
  });

  test('keeps stopped bots for unsent posts', async () => {
    const bot = await start({ table: { streaming: true, streaming_seconds: 0.1 } });
    await install(port);
    await say(TEAM, GENERAL, `<@${BOT}> hello`);
    const { conversation } = await until('it arrives', () => bot.sink.messages[0]);
    bot.channel.show(conversation, { kind: 'draft', text: 'Hel' });
    await until('the draft is shown', () => slack.callsOf('chat.startStream').length === 1);
    await stop(bot);
    const post = { conversation, nonce: '1-1-0', body: { kind: 'text', text: 'Hello' }, replyTo: null } as const;
    await bot.channel.post({ ...post, attempt: 1 }, { signal });
    expect(slack.posted(GENERAL)).toMatchObject([{ text: 'Hello' }]);
  });

  test('requests the manifest’s rights and returns to the public address', async () => {
    await start();
    const page = await begin(port);
    const asked = new URL(page.href).searchParams;
    expect(asked.get('scope')?.split(',')).toContain('chat:write');
    expect(asked.get('redirect_uri')).toBe(`http://127.0.0.1:${port}/slack/oauth_redirect`);
    expect(page.cookie).toMatch(/^slack-app-oauth-state=.*; Secure; HttpOnly/);
  });

  test('is refused for organizations and unwanted workspaces, revoking the token', async () => {
    const state = createState();
    await start({ state, table: { workspaces: { allow: [TEAM] } } });
    slack.oauth.isOrganization = true;
    expect(await install(port)).toMatchObject({ status: 403, text: expect.stringContaining('not for a whole') });
    slack.oauth.isOrganization = false;
    slack.oauth.choice = OTHER;
    expect(await install(port)).toMatchObject({ status: 403, text: expect.stringContaining('does not serve') });
    expect(slack.callsOf('auth.revoke').length).toBe(2);
    expect(await installed(state)).toEqual([]);
  });

  test('has no effect in a workspace no longer wanted', async () => {
    const state = createState();
    const before = await start({ state });
    await install(port);
    await stop(before);
    const bot = await start({ state, table: { workspaces: { deny: [TEAM] } } });
    await say(TEAM, GENERAL, 'hello');
    expect(heard(bot)).toEqual([]);
  });

  test('that fails or is cancelled says so, keeping nothing', async () => {
    const state = createState();
    const bot = await start({ state, table: { client_secret: 'wrong' } });
    expect(await install(port)).toMatchObject({ status: 502, text: expect.stringContaining('the log') });
    expect(JSON.stringify(bot.log.lines)).toContain('bad_client_secret');
    const { cookie } = await begin(port);
    const back = `http://127.0.0.1:${port}/slack/oauth_redirect?error=access_denied`;
    const cancelled = await fetch(back, { headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect(cancelled.status).toBe(400);
    expect(await cancelled.text()).toContain('You cancelled the installation');
    expect(await installed(state)).toEqual([]);
  });

  test('works alongside sockets, serving only its pages', async () => {
    const bot = await start({ table: { transport: 'socket', sockets: 1 } });
    expect((await install(port)).status).toBe(200);
    slack.say(GENERAL, ADA, 'over the socket');
    await until('it arrives', () => heard(bot).includes(`slack:${TEAM}:${GENERAL} over the socket`));
    expect(await tell(TEAM, { ...slack.store(GENERAL, ADA, 'forged'), channel_type: 'channel' })).toBe(404);
  });
});

test('a command whose acknowledgement fails runs once', async () => {
  const kept = createState();
  let read = Promise.resolve();
  const state = { ...kept, get: (...of: Parameters<typeof kept.get>) => read.then(() => kept.get(...of)) };
  const bot = await start({ state, table: { transport: 'socket', sockets: 1 } });
  expect((await install(port)).status).toBe(200);
  await until('a socket', () => slack.sockets() === 1);
  const payload = { command: '/strata', text: 'status', user_id: ADA, team_id: TEAM, channel_id: GENERAL };
  const whole = { type: 'slash_commands', payload: { ...payload, response_url: `${slack.base}/respond` } };
  const send = () => slack.frame(JSON.stringify({ ...whole, envelope_id: 'E-lost', accepts_response_payload: true }));
  const slow = Promise.withResolvers<void>();
  read = slow.promise;
  send();
  slack.kill();
  await until('the loss', () => bot.log.lines.some(({ message }) => message === 'A Slack socket was closed'));
  slow.resolve();
  await until('the failure', () => bot.log.lines.some(({ message }) => message === 'A Slack request was not handled'));
  await until('another socket', () => slack.sockets() === 1);
  expect([slack.acks, bot.sink.commands]).toEqual([[], []]);
  send();
  send();
  await until('acknowledgements', () => slack.acks.length === 2);
  await until('the answer', () => slack.answers.length === 1);
  expect(bot.sink.commands).toHaveLength(1);
});

describe('the state of an installation', () => {
  test('is refused when forged, foreign or repeated', async () => {
    const state = createState();
    await start({ state });
    const redirect = async (url: string, cookie: string) => {
      const response = await fetch(url, { headers: { cookie: cookie.split(';')[0] ?? '' } });
      return { status: response.status, text: await response.text() };
    };
    const refused = { status: 400, text: expect.stringContaining('started in another browser') };
    const one = await begin(port);
    const returned = slack.oauth.authorize(new URL(one.href).searchParams);
    const forged = new URL(returned);
    forged.searchParams.set('state', `${Date.now() + 60_000}.AAAA.BBBB`);
    expect(await redirect(forged.href, `slack-app-oauth-state=${forged.searchParams.get('state')}`)).toEqual(refused);
    const other = await begin(port);
    expect(await redirect(returned, other.cookie)).toEqual(refused);
    expect(await redirect(returned, '')).toEqual(refused);
    expect(await installed(state)).toEqual([]);
    expect((await redirect(returned, one.cookie)).status).toBe(200);
    const again = new URL(slack.oauth.authorize(new URL(one.href).searchParams));
    expect(await redirect(again.href, one.cookie)).toEqual(refused);
  });

  test('is valid ten minutes on all gateways, leaving nothing', async () => {
    const clock = { ...createSystemClock(), now: () => now };
    let now = 1_000_000;
    const state = createState();
    const parts = { secret: 'a secret', state, clock, options: { scopes: ['chat:write'] } };
    const [one, other] = [createStates(parts), createStates(parts)];
    const issued = await one.generateStateParam(parts.options, new Date());
    const late = await one.generateStateParam(parts.options, new Date());
    now += 599_000;
    expect(await other.verifyStateParam(new Date(), issued)).toEqual(parts.options);
    await expect(one.verifyStateParam(new Date(), issued)).rejects.toThrow('it was used before');
    now += 2_000;
    await expect(one.verifyStateParam(new Date(), late)).rejects.toThrow('older than ten minutes');
    const longer = `${now + 9_000_000}${late.slice(late.indexOf('.'))}`;
    await expect(one.verifyStateParam(new Date(), longer)).rejects.toThrow('not created here');
    await expect(one.verifyStateParam(new Date(), '')).rejects.toThrow('not created here');
    const stranger = createStates({ ...parts, secret: 'another' });
    const foreign = await stranger.generateStateParam(parts.options, new Date());
    await expect(one.verifyStateParam(new Date(), foreign)).rejects.toThrow('not created here');
    now += 60_000;
    await one.verifyStateParam(new Date(), await one.generateStateParam(parts.options, new Date()));
    expect((await state.list('slack.states')).length).toBe(1);
    const again = await one.generateStateParam(parts.options, new Date());
    const uses = await Promise.allSettled([one, other].map((states) => states.verifyStateParam(new Date(), again)));
    expect(uses.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test.each(['install', 'oauth_redirect?error=access_denied', 'oauth_redirect?code=1&state=2'])(
    'shows no kept, framed or scripted page: %s',
    async (page) => {
      await start();
      const { headers } = await fetch(`http://127.0.0.1:${port}/slack/${page}`);
      expect(headers.get('content-type')).toContain('text/html');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  test('costs the same however many strangers began one', async () => {
    const clock = { ...createSystemClock(), now: () => 1_000_000 };
    const kept = createState();
    let read = 0;
    const state: StateStore = {
      ...kept,
      async list(namespace) {
        const rows = await kept.list(namespace);
        read += rows.length;
        return rows;
      },
    };
    const states = createStates({ secret: 'a secret', state, clock, options: { scopes: [] } });
    for (let visit = 0; visit < 200; visit += 1)
      await states.verifyStateParam(new Date(), await states.generateStateParam({ scopes: [] }, new Date()));
    expect(await kept.list('slack.states')).toHaveLength(200);
    expect(read).toBeLessThan(200);
  });
});

describe('tokens', () => {
  test('are stored encrypted, refresh tokens too', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-slack-'));
    const storage = await createSqliteStorage({ directory });
    slack.oauth.expiresInSeconds = 43_200;
    const bot = await start({ state: storage.state });
    await install(port);
    await say(TEAM, GENERAL, 'heard');
    await stop(bot);
    await storage.store.close();
    const files = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name))));
    const all = Buffer.concat(files).toString('latin1');
    expect(all).toContain(TEAM);
    expect([...slack.oauth.tokens.keys()]).toEqual([expect.stringMatching(/^xoxb-secret/)]);
    for (const secret of ['xoxb', 'xoxe', 'secret-']) expect(all).not.toContain(secret);
    await rm(directory, { recursive: true, force: true });
  });

  test('under another key alone stop the start with one sentence', async () => {
    const state = createState();
    const bot = await start({ state });
    await install(port);
    await stop(bot);
    const table = { installation_key: 'another key of at least 32 characters' };
    await expect(start({ state, table })).rejects.toThrow(
      /^The token of the workspace T0HOME001 cannot be decrypted: .* Set installation_key to the earlier value/,
    );
    open = [];
  });

  test('that cannot be read leave the other workspaces served', async () => {
    const state = createState();
    const bot = await start({ state });
    await install(port);
    slack.oauth.choice = OTHER;
    await install(port);
    await stop(bot);
    const row = await state.get('slack.installations', TEAM);
    await state.set('slack.installations', TEAM, { ...(row as object), sealed: 'v1.00000000.AAAA' });
    const again = await start({ state });
    await say(OTHER_TEAM, OTHER_GENERAL, 'here');
    await say(TEAM, GENERAL, 'not served');
    expect(heard(again)).toEqual([`slack:${OTHER_TEAM}:${OTHER_GENERAL} here`]);
    expect(again.log.lines.some(({ level, message }) => level === 'error' && message.includes('not served'))).toBe(
      true,
    );
  });

  test('that expire soon are renewed once for all users', async () => {
    const state = createState();
    slack.oauth.expiresInSeconds = 60;
    await start({ state });
    await install(port);
    slack.oauth.expiresInSeconds = 43_200;
    await Promise.all([say(TEAM, GENERAL, 'one'), say(TEAM, GENERAL, 'two')]);
    await until('both messages', () => open[0]?.sink.messages.length === 2);
    const renewals = () => slack.callsOf('oauth.v2.access').filter((body) => body['grant_type'] === 'refresh_token');
    expect(renewals().length).toBe(1);
    slack.oauth.revoke([...slack.oauth.tokens.keys()][0] ?? '');
    const conversation = open[0]?.sink.messages[0]?.conversation;
    const post = { conversation: conversation as never, nonce: '1-1-0', replyTo: null, attempt: 1 };
    await open[0]?.channel.post({ ...post, body: { kind: 'text', text: 'With the new one' } }, { signal });
    expect(slack.posted(GENERAL).length).toBe(1);
    expect(renewals().length).toBe(1);
  });

  test('that could not be renewed stay in use until later', async () => {
    slack.oauth.expiresInSeconds = 60;
    const bot = await start();
    await install(port);
    slack.fail('oauth.v2.access', { error: 'internal_error' });
    await say(TEAM, GENERAL, 'heard all the same');
    expect(heard(bot).length).toBe(1);
    expect(bot.log.lines.some(({ message }) => message === 'A token could not be renewed')).toBe(true);
  });
});

test('a token issued by a clock ahead is renewed', async () => {
  const state = createState();
  slack.oauth.expiresInSeconds = 43_200;
  const system = createSystemClock();
  const ahead = { ...system, now: () => system.now() + DAY_MS };
  const first = await start({ state, clock: ahead });
  await install(port);
  await say(TEAM, GENERAL, 'one');
  const renewals = () => slack.callsOf('oauth.v2.access').filter((body) => body['grant_type'] === 'refresh_token');
  expect(renewals()).toHaveLength(1);
  await stop(first);
  await start({ state });
  await Promise.all([say(TEAM, GENERAL, 'two'), say(TEAM, GENERAL, 'three')]);
  expect(renewals()).toHaveLength(2);
});

describe('a workspace that removes the app', () => {
  const system = createSystemClock();
  let aheadMs = 0;
  /** Can be set ahead; the hourly check runs every 20 ms. */
  const clock = {
    now: () => system.now() + aheadMs,
    sleep: (ms: number, options: { readonly signal: AbortSignal }) =>
      system.sleep(ms >= DAY_MS / 24 ? 20 : ms, options),
  };
  beforeEach(() => {
    aheadMs = 0;
  });
  const uninstall = (teamId: string) => tell(teamId, { type: 'app_uninstalled' });
  /** The time counts from this record, which a busy machine may write after its response. */
  const marked = (state: StateStore) =>
    until('it is marked', async () => (await state.list('slack.departures')).length > 0);
  const both = async (state: StateStore) => {
    const bot = await start({ state, clock });
    await install(port);
    slack.oauth.choice = OTHER;
    await install(port);
    await say(TEAM, GENERAL, 'at home');
    await say(TEAM, DIRECT, 'in private');
    await say(OTHER_TEAM, OTHER_GENERAL, 'abroad');
    await tell(TEAM, { type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'messages' });
    await until('it is greeted', () => slack.callsOf('assistant.threads.setSuggestedPrompts').length > 0);
    return bot;
  };
  const looks = async () => {
    const asked = () => slack.callsOf('auth.test').length;
    const before = asked();
    await until('two looks', () => asked() > before + 2);
  };

  test('is deleted after seven days, the other one never', async () => {
    const state = createState();
    const bot = await both(state);
    const post = { nonce: '1-1-0', body: { kind: 'text', text: 'Hello' }, replyTo: null, attempt: 1 } as const;
    const direct = makeKey({ platform: 'slack', workspace: TEAM, channel: DIRECT });
    await bot.channel.post({ ...post, conversation: direct }, { signal });
    slack.oauth.remove(TEAM);
    expect(await uninstall(TEAM)).toBe(200);
    await say(TEAM, GENERAL, 'too late');
    const late = bot.channel.post({ ...post, conversation: direct }, { signal });
    await expect(late).rejects.toThrow(`not installed in ${TEAM}`);
    await marked(state);
    aheadMs = 7 * DAY_MS - 60_000;
    await looks();
    expect(bot.sink.gone).toEqual([]);
    aheadMs = 7 * DAY_MS;
    await until('it is deleted', async () => (await installed(state)).length === 1);
    expect(bot.sink.gone.map((key) => key.split(':')[1])).toEqual([TEAM, TEAM]);
    expect(await ownedBy(state, TEAM)).toEqual([]);
    expect(await installed(state)).toEqual([OTHER_TEAM]);
    await say(OTHER_TEAM, OTHER_GENERAL, 'still here');
    expect(heard(bot).at(-1)).toBe(`slack:${OTHER_TEAM}:${OTHER_GENERAL} still here`);
    expect(heard(bot).join()).not.toContain('too late');
  });

  test('is believed only if the token fails', async () => {
    const state = createState();
    const bot = await both(state);
    for (const tokens of [{ oauth: [ADA], bot: [] }, { bot: [OTHER.botUserId] }, { bot: [BOT] }]) {
      expect(await tell(TEAM, { type: 'tokens_revoked', tokens })).toBe(200);
    }
    expect(await uninstall(TEAM)).toBe(200);
    await say(TEAM, GENERAL, 'still served');
    expect(heard(bot).at(-1)).toContain('still served');
    slack.oauth.remove(TEAM, 'token_revoked');
    await tell(TEAM, { type: 'tokens_revoked', tokens: { bot: [BOT] } });
    await say(TEAM, GENERAL, 'served no more');
    expect(heard(bot).at(-1)).toContain('still served');
  });

  test('and is asked again while Slack does not answer', async () => {
    const bot = await start();
    await install(port);
    await until('it was looked at', () => bot.log.lines.length > 0);
    slack.fail('auth.test', { status: 503 });
    expect(await uninstall(TEAM)).toBe(500);
    expect(await uninstall(TEAM)).toBe(200);
    await say(TEAM, GENERAL, 'still served');
    expect(heard(bot).at(-1)).toContain('still served');
  });

  /** Only the part that manages installations. Renews the token first, as with token rotation. */
  const gateway = async (state: StateStore, renew = async (known: Installation) => known) => {
    const log = recordLog();
    const table = many(port);
    const encryption = await openTokenEncryption(String(table['installation_key']));
    const sink = recordSink();
    const installations = createInstallations(state, encryption);
    const departures = createDepartures({ sink, log, state, clock, signal });
    const roster = createInstalledRoster({
      settings: settingsFor(slack, table),
      log,
      signal,
      departures,
      installations,
      renew,
      open: () => expect.fail('no bot is needed'),
      secretFor: () => '',
    });
    const marks = () => log.lines.filter(({ message }) => message.includes('its data will be deleted later'));
    return { roster, installations, sink, marks, report: () => roster.ended(TEAM, { revoked: null }) };
  };
  /** The app is installed in the store, and not in Slack any more. */
  const removed = async (state: StateStore) => {
    const bot = await start({ state, clock });
    await install(port);
    await stop(bot);
    slack.oauth.remove(TEAM);
  };

  test('starts the time once, however often it is reported', async () => {
    const state = createState();
    await removed(state);
    const { report, roster, marks } = await gateway(state);
    await Promise.all([report(), report(), roster.tidy()]);
    await report();
    expect(marks()).toHaveLength(1);
  });

  test('starts the time once for gateways that see it together', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-slack-'));
    const first = await createSqliteStorage({ directory, shared: true });
    const second = await createSqliteStorage({ directory, shared: true });
    await removed(first.state);
    const gateways = await Promise.all([gateway(first.state), gateway(second.state)]);
    await Promise.all(gateways.flatMap(({ report, roster }) => [report(), roster.tidy()]));
    expect(gateways.flatMap(({ marks }) => marks())).toHaveLength(1);
    for (const { store } of [first, second]) await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  test.each(['report', 'tidy'] as const)('and comes back while Slack is asked: %s', async (way) => {
    const state = createState();
    await removed(state);
    const known = await gateway(state);
    const again = { token: 'xoxb-new', botUserId: BOT, botId: 'B2', renewal: null, teamName: 'Home' };
    const { report, roster, marks } = await gateway(state, async (old) => {
      aheadMs += 1;
      await known.installations.put({ ...again, teamId: TEAM, installedAt: clock.now() });
      return old;
    });
    await (way === 'report' ? report() : roster.tidy());
    expect(await known.installations.find(TEAM)).toMatchObject({ token: 'xoxb-new' });
    expect(marks()).toEqual([]);
  });

  test('leaves a reinstalled app the token of its own', async () => {
    const state = createState();
    await removed(state);
    const { installations } = await gateway(state);
    const old = await installations.find(TEAM);
    if (old === null) throw new Error('not installed');
    await installations.put({ ...old, token: 'xoxb-new' });
    expect(await installations.renew(old, { ...old, token: 'xoxb-old-renewed' })).toBe(false);
    expect(await installations.find(TEAM)).toMatchObject({ token: 'xoxb-new' });
  });

  test('and returns during a renewal has the new token', async () => {
    slack.oauth.expiresInSeconds = 60;
    const state = createState();
    await removed(state);
    const { installations } = await gateway(state);
    const old = await installations.find(TEAM);
    if (old === null) throw new Error('not installed');
    const asked = Promise.withResolvers<void>();
    slack.delays.set('oauth.v2.access', asked.promise);
    const settings = settingsFor(slack, many(port));
    const renewed = createRenewal({ settings, installations, clock, log: recordLog() })(old);
    await until('it asks', () => slack.callsOf('oauth.v2.access').length === 2);
    await installations.put({ ...old, token: 'xoxb-new' });
    asked.resolve();
    expect(await renewed).toMatchObject({ token: 'xoxb-new' });
  });

  test('a second time has seven days again', async () => {
    const state = createState();
    await removed(state);
    const { report, roster, installations, sink } = await gateway(state);
    const old = await installations.find(TEAM);
    if (old === null) throw new Error('not installed');
    await report();
    aheadMs = 8 * DAY_MS;
    await installations.put({ ...old, installedAt: clock.now() });
    await report();
    await roster.tidy();
    expect(sink.gone).toEqual([]);
    expect(await installed(state)).toEqual([TEAM]);
    aheadMs += 7 * DAY_MS;
    await roster.tidy();
    expect(await installed(state)).toEqual([]);
  });

  test('and reinstalls within the time keeps everything', async () => {
    const state = createState();
    const bot = await both(state);
    slack.oauth.remove(TEAM);
    expect(await uninstall(TEAM)).toBe(200);
    await marked(state);
    aheadMs = 6 * DAY_MS;
    slack.oauth.choice = { ...OTHER, teamId: TEAM, name: 'Home', botUserId: BOT };
    await install(port);
    aheadMs = 9 * DAY_MS;
    await looks();
    await until('the mark is gone', async () => (await state.list('slack.departures')).length === 0);
    expect(bot.sink.gone).toEqual([]);
    expect(await ownedBy(state, TEAM)).not.toEqual([]);
    await say(TEAM, GENERAL, 'here again');
    // Catching up with the other workspace may read its messages again meanwhile.
    expect(heard(bot)).toContainEqual(expect.stringContaining('here again'));
  });

  test('is deleted after interruptions and downtime too', async () => {
    const state = createState();
    const bot = await both(state);
    slack.oauth.remove(TEAM);
    expect(await uninstall(TEAM)).toBe(200);
    const { left } = bot.sink;
    bot.sink.left = async () => await Promise.reject(new Error('the disk is full'));
    await marked(state);
    aheadMs = 8 * DAY_MS;
    const failed = () => bot.log.lines.some(({ message }) => message.includes('could not be deleted'));
    await until('a deletion failed', failed);
    await stop(bot);
    slack.oauth.remove(OTHER_TEAM);
    const sink = { ...recordSink(), left };
    const again = await start({ state, sink, clock });
    await until('the first is gone', async () => (await installed(state)).length === 1);
    aheadMs += 8 * DAY_MS;
    await until('the other is gone', async () => (await installed(state)).length === 0);
    await stop(again);
    expect([...(await ownedBy(state, TEAM)), ...(await ownedBy(state, OTHER_TEAM))]).toEqual([]);
  });
});

describe('the doctor', () => {
  test('checks app keys, and each workspace’s token and rights', async () => {
    const state = createState();
    const check = async (table: Record<string, unknown> = {}) => {
      const settings = settingsFor(slack, { ...many(port), ...table });
      const findings = await checkSlack({ settings, log: silentLog, state });
      const isOfApp = ({ checkId }: (typeof findings)[number]) => /oauth|installations|T0/.test(checkId);
      return findings.filter(isOfApp).map(({ checkId, severity, message }) => `${severity} ${checkId} ${message}`);
    };
    const text = async (table: Record<string, unknown> = {}) => (await check(table)).join('\n');
    expect(await text()).toContain('no workspace has installed the app yet');
    expect(await text({ client_secret: 'wrong' })).toContain('were rejected (bad_client_secret)');
    expect(await text({ api_url: 'http://127.0.0.1:9/' })).toContain('Slack cannot be reached');
    await start({ state });
    await install(port);
    slack.oauth.choice = OTHER;
    await install(port);
    expect(await check()).toHaveLength(6);
    expect(await text()).toMatch(/ok \S*workspace\.T0HOME001 T0HOME001 \(Home\): the token is valid/);
    expect(await text({ installation_key: 'another key of at least 32 characters' })).toMatch(
      /fail \S*workspace\.T0OTHER01 The token of the workspace T0OTHER01 cannot be decrypted/,
    );
    slack.oauth.remove(OTHER_TEAM);
    slack.world.scopes = 'chat:write';
    expect(await text()).toMatch(/fail \S*workspace\.T0OTHER01 .*invalid \(account_inactive\)/);
    expect(await text()).toMatch(/fail \S*scopes\.T0HOME001 missing: app_mentions:read/);
  });
});

describe('several gateways', () => {
  test('share installations and removals', async () => {
    const state = createState();
    const at = await freePort();
    const [one, other] = [await start({ state }), await start({ state, at })];
    await install(port);
    await say(TEAM, GENERAL, 'to the other', at);
    expect(heard(other)).toEqual([`slack:${TEAM}:${GENERAL} to the other`]);
    slack.oauth.remove(TEAM);
    await tell(TEAM, { type: 'app_uninstalled' });
    await say(TEAM, GENERAL, 'to nobody', at);
    expect(heard(other).length).toBe(1);
    expect(heard(one)).toEqual([]);
  });
});

describe('one person in two workspaces', () => {
  const command = async (teamId: string, channel: string, text: string): Promise<void> => {
    const fields = { command: '/strata', text, user_id: ADA, team_id: teamId, channel_id: channel };
    const body = new URLSearchParams({ ...fields, response_url: `${slack.base}/respond/${teamId}` }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signed(body) };
    await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body, headers });
  };

  test('is served in each by its own bot', async () => {
    const bot = await start({ table: { operators: [`${OTHER_TEAM}:${ADA}`] } });
    await install(port);
    slack.oauth.choice = OTHER;
    await install(port);
    await command(TEAM, DIRECT, 'memory list');
    await command(OTHER_TEAM, OTHER_DIRECT, 'memory list');
    await until('both are answered', () => slack.answers.length === 2);
    expect(bot.sink.commands).toMatchObject([
      { conversation: `slack:${TEAM}:${DIRECT}`, rights: 'moderator' },
      { conversation: `slack:${OTHER_TEAM}:${OTHER_DIRECT}`, rights: 'operator' },
    ]);
    await tell(OTHER_TEAM, { type: 'app_home_opened', user: ADA, channel: OTHER_DIRECT, tab: 'home' });
    await until('the home is shown', () => slack.callsOf('views.publish').length === 1);
    expect(slack.calls.find(({ method }) => method === 'views.publish')?.teamId).toBe(OTHER_TEAM);
  });

  test.each([
    { team: null, view: { app_installed_team_id: 'E0ORGANIZ1', team_id: TEAM } },
    { team: { id: 'T0SISTER1' }, view: { team_id: TEAM } },
    { team: { id: 'E0ORGANIZ1' }, view: {}, user: { id: ADA, team_id: TEAM } },
  ])('is served in an organization that names others: %j', async ({ view, ...named }) => {
    const bot = await start();
    await install(port);
    const event = { type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' };
    await tell('T0SISTER1', event, { context_team_id: null, authorizations: [{ team_id: TEAM }] });
    await until('the home is shown', () => slack.callsOf('views.publish').length === 1);
    const value = /"value":"(r\.[^"]*memory export[^"]*)"/.exec(JSON.stringify(slack.callsOf('views.publish')))?.[1];
    const payload = {
      type: 'block_actions',
      user: { id: ADA },
      trigger_id: 'trigger',
      ...named,
      view: { id: 'V1', type: 'home', ...view },
      actions: [{ action_id: 'button 0', block_id: 'b', type: 'button', value }],
    };
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signed(body) };
    await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body, headers });
    await until('the command', () => bot.sink.commands.some(({ path }) => path[1] === 'export'));
  });

  test('buttons of one workspace do not work in another', async () => {
    const bot = await start();
    await install(port);
    slack.oauth.choice = OTHER;
    await install(port);
    await tell(TEAM, { type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' });
    await until('the home is shown', () => slack.callsOf('views.publish').length === 1);
    const value = /"value":"(r\.[^"]*memory search[^"]*)"/.exec(JSON.stringify(slack.callsOf('views.publish')))?.[1];
    expect(value).toBeDefined();
    const press = async (teamId: string, installedIn?: string) => {
      const payload = {
        type: 'block_actions',
        team: { id: teamId },
        user: { id: ADA, team_id: teamId },
        trigger_id: 'trigger',
        view: { id: 'V1', type: 'home', app_installed_team_id: installedIn },
        actions: [{ action_id: 'button 0', block_id: 'b', type: 'button', value }],
      };
      const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signed(body) };
      await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body, headers });
    };
    await press(OTHER_TEAM);
    await until('it is refused', () => JSON.stringify(slack.callsOf('views.open')).includes('older version'));
    await press(TEAM);
    await until('it is taken', () => slack.callsOf('views.open').length === 2);
    await press(OTHER_TEAM, TEAM);
    await until('it is taken too', () => slack.callsOf('views.open').length === 3);
    expect(JSON.stringify(slack.callsOf('views.open').slice(1))).not.toContain('older version');
    expect(bot.sink.commands.map(({ conversation }) => conversation)).not.toContain(
      `slack:${OTHER_TEAM}:${OTHER_DIRECT}`,
    );
  });
});
