import { describe, expect, test } from 'vitest';
import { discordAdapter } from '../../../adapters/channels/discord/index.ts';
import { missingOf } from '../../../adapters/channels/discord/permissions.ts';
import { builtInSpecs, type ChannelContext } from '../../../src/adapter-kit.ts';
import { createSystemClock, createSystemRandom } from '../../../src/util/time/clock.ts';
import {
  APPLICATION,
  type DiscordDouble,
  type DoubleOptions,
  startDiscord,
  TOKEN,
} from '../../fixtures/discord/double.ts';
import { createState, openChannel, recordLog } from '../../fixtures/discord/kit.ts';
import type { RestAnswer } from '../../fixtures/discord/rest.ts';

function context(): ChannelContext {
  const clock = createSystemClock();
  const streams = { input: process.stdin, output: process.stdout, errors: process.stderr, isTTY: false, color: false };
  const terminal = {
    ...streams,
    user: 'x',
    conversation: null,
    notices: { listen: () => undefined },
    onEnd: () => undefined,
  };
  return {
    log: recordLog(),
    state: createState(),
    clock,
    random: createSystemRandom(clock),
    terminal,
    commandSpecs: builtInSpecs,
    onRefused: () => undefined,
  };
}

async function check(
  options: DoubleOptions & {
    readonly table?: object;
    readonly before?: (double: DiscordDouble) => void | Promise<void>;
  },
) {
  const double = await startDiscord(options);
  await options.before?.(double);
  const findings = await discordAdapter.check({ token: TOKEN, rest_url: double.restUrl, ...options.table }, context());
  const writes = double.rest.requests.filter(({ method }) => method !== 'GET' && method !== 'PUT');
  expect(writes).toEqual([]);
  await double.close();
  return Object.fromEntries(findings.map((finding) => [finding.checkId, finding]));
}

const registered = async (double: DiscordDouble) => {
  const { channel, sink } = openChannel(double);
  await channel.start(sink);
  await channel.stop();
};

describe('the doctor', () => {
  test('finds nothing wrong with a bot that is set up', async () => {
    const found = await check({ before: registered });
    expect(Object.values(found).map(({ checkId, severity }) => [checkId, severity])).toEqual([
      ['token', 'ok'],
      ['intents', 'ok'],
      ['permissions', 'ok'],
      ['commands', 'ok'],
    ]);
  });

  test('names the remedy for token, intents, permissions and commands', async () => {
    const wrong = await check({ table: { token: 'wrong' } });
    expect(wrong['token']).toMatchObject({ severity: 'fail', fixHint: expect.stringContaining('Reset Token') });
    const blind = await check({ flags: 0 });
    expect(blind['intents']).toMatchObject({
      severity: 'fail',
      fixHint: expect.stringContaining('Message Content Intent'),
    });
    const blindButFine = await check({ flags: 0, table: { message_content: false } });
    expect(blindButFine['intents']).toMatchObject({ severity: 'ok' });
    const poor = await check({
      before: (double) => {
        double.world.permissions = String((1n << 10n) | (1n << 11n));
      },
    });
    expect(poor['permissions']).toMatchObject({
      severity: 'warn',
      message: expect.stringContaining(
        'A server lacks Send Messages In Threads (to answer in threads), Read Message History',
      ),
    });
    expect(poor['commands']).toMatchObject({ severity: 'warn', message: expect.stringContaining('memory') });
  });

  test('explains how to add a bot, and tells bots apart', async () => {
    const alone = await check({
      before: (double) => {
        double.world.isInGuild = false;
      },
    });
    expect(alone['servers']).toMatchObject({
      severity: 'warn',
      fixHint: expect.stringMatching(/^Add it with http:\/\/127\.0\.0\.1:\d+\/oauth2\/authorize\?client_id=/),
    });
    const double = await startDiscord();
    const bots = { helper: { token: 'wrong', rest_url: double.restUrl } };
    const found = await discordAdapter.check({ token: TOKEN, rest_url: double.restUrl, bots }, context());
    expect(found.map(({ checkId }) => checkId)).toContain('helper.token');
    await double.close();
  });

  test('names missing commands of a server without the bot', async () => {
    const found = await check({
      table: { command_guilds: ['100000000000000077'] },
      before: (double) => double.rest.fail('GET', /commands$/, { status: 403, code: 50001 }),
    });
    expect(found['token']).toMatchObject({ severity: 'ok' });
    expect(found['commands']).toMatchObject({ severity: 'warn', message: expect.stringContaining('memory') });
  });

  test("reads servers that do not state the bot's rights", async () => {
    const found = await check({ before: (double) => void Object.assign(double.world, { permissions: undefined }) });
    expect(found['token']).toMatchObject({ severity: 'ok' });
    expect(found['permissions']).toMatchObject({
      severity: 'warn',
      message: 'Discord reports no permissions of the bot in A server',
      fixHint: expect.stringContaining('Read Message History'),
    });
  });

  test('says in words what cannot be read', async () => {
    const double = await startDiscord();
    for (const path of [/@me\/guilds$/, /commands$/]) double.rest.answer('GET', path, { message: 'odd' });
    const findings = await discordAdapter.check({ token: TOKEN, rest_url: double.restUrl }, context());
    expect(findings.map(({ checkId, severity }) => [checkId, severity])).toEqual([
      ['token', 'ok'],
      ['intents', 'ok'],
      ['permissions', 'fail'],
      ['commands', 'fail'],
    ]);
    for (const { message } of findings) expect(message).not.toMatch(/[{[]/);
    await double.close();
  });

  test('does not wait for a long rate limit', async () => {
    const found = await check({
      before: (double) => double.rest.limit('GET', /applications\/@me$/, { forMs: 60_000 }),
    });
    expect(found['token']).toMatchObject({
      severity: 'fail',
      message: expect.stringMatching(/^Discord accepts no requests for another \d+ s$/),
    });
  });

  test('does not wait for a limit of a proxy either', async () => {
    const answer = { status: 429, page: '<html>Too many requests</html>', headers: { 'retry-after': '60' } };
    const found = await check({ before: (double) => double.rest.instead('GET', /applications\/@me$/, answer) });
    expect(found['token']?.message).toMatch(/^Discord accepts no requests for another 6\d s$/);
  });

  test('says when Discord cannot be asked', async () => {
    const findings = await discordAdapter.check({ token: TOKEN, rest_url: 'http://127.0.0.1:9' }, context());
    expect(findings).toMatchObject([
      { checkId: 'token', severity: 'fail', message: expect.stringContaining('cannot be reached') },
    ]);
  });
});

/** The doctor's report on one check whose requests get this answer. */
async function reportOn(id: string, pattern: RegExp, answer: RestAnswer) {
  const found = await check({ before: (double) => double.rest.instead('GET', pattern, answer, 9) });
  return found[id];
}

describe('a server other than Discord', () => {
  const hint = 'If rest_url is set, it must be the base URL of a REST API compatible with Discord.';

  test('is not called unreachable when it refuses', async () => {
    const answer = { status: 404, body: { code: 404, message: 'Endpoint not found' } };
    expect(await reportOn('token', /applications/, answer)).toMatchObject({
      severity: 'fail',
      message: 'Discord refused to answer: Endpoint not found (HTTP 404)',
      fixHint: hint,
    });
  });

  test('is quoted with the status that it really sent', async () => {
    const answer = { status: 405, page: '<html>Cannot GET</html>' };
    expect((await reportOn('commands', /commands$/, answer))?.message).toBe(
      'Discord cannot be reached: The response does not come from Discord (HTTP 405)',
    );
  });
});

describe('the invitation', () => {
  const [task] = discordAdapter.tasks;

  test('leads to the server that rest_url names', async () => {
    const url = new URL(
      (await task?.run({ token: TOKEN, rest_url: 'http://127.0.0.1:9/api' }, { commandSpecs: builtInSpecs })) ?? '',
    );
    expect(url.origin + url.pathname).toBe('http://127.0.0.1:9/oauth2/authorize');
  });

  test('requests exactly the needed permissions and scopes', async () => {
    expect(task?.name).toBe('invite');
    const url = new URL((await task?.run({ token: TOKEN }, { commandSpecs: builtInSpecs })) ?? '');
    expect(url.origin + url.pathname).toBe('https://discord.com/oauth2/authorize');
    expect(url.searchParams.get('client_id')).toBe(APPLICATION);
    expect(url.searchParams.get('scope')).toBe('bot applications.commands');
    const bits = BigInt(url.searchParams.get('permissions') ?? '0');
    expect([...bits.toString(2)].filter((bit) => bit === '1')).toHaveLength(6);
    expect(missingOf(bits.toString())).toEqual([]);
    expect(missingOf('8')).toEqual([]);
    expect(missingOf('0')).toHaveLength(6);
  });

  test('says what to do about a token that is none', async () => {
    const double = await startDiscord({});
    const run = (rest_url: string) => task?.run({ token: 'not-a-token', rest_url }, { commandSpecs: builtInSpecs });
    await expect(run(double.restUrl)).rejects.toThrow('the token is invalid. Copy a new one from the developer portal');
    await double.close();
    await expect(run('http://127.0.0.1:9/api')).rejects.toThrow(/^Discord cannot be reached: .*\. Check the network/);
  });

  test('is printed for each bot', async () => {
    const text = await task?.run({ token: TOKEN, bots: { helper: { token: TOKEN } } }, { commandSpecs: builtInSpecs });
    expect(text?.split('\n')).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^helper: https:/)]);
  });
});
