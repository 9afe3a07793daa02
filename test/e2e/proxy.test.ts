import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ADA, type DiscordDouble, GENERAL, startDiscord, TOKEN } from '../fixtures/discord/double.ts';
import { until } from '../fixtures/discord/kit.ts';
import { startScriptedModel } from '../fixtures/discord/model.ts';
import * as slackDouble from '../fixtures/slack/double.ts';
import { CERTIFICATE_FILE, startProxy } from '../support/proxy.ts';
import { openFolder } from './strata.ts';

/** Names that only the proxy knows, so that whatever arrives has come through it. */
const DISCORD = 'discord.strata.test';
const SLACK = 'slack.strata.test';
const MODEL = 'model.strata.test';

const TABLES = {
  model: ['[defaults]', 'model = "own:m"', 'mode = "active"', '[providers.own]', `base_url = "https://${MODEL}/v1"`],
  discord: ['[channels.discord]', 'token = "env:DISCORD_BOT_TOKEN"', `rest_url = "https://${DISCORD}/api"`],
  slack: [
    ...['[channels.slack]', 'bot_token = "env:SLACK_BOT_TOKEN"', 'app_token = "env:SLACK_APP_TOKEN"'],
    `api_url = "https://${SLACK}/api/"`,
  ],
};

const TOKENS = {
  DISCORD_BOT_TOKEN: TOKEN,
  SLACK_BOT_TOKEN: slackDouble.BOT_TOKEN,
  SLACK_APP_TOKEN: slackDouble.APP_TOKEN,
};

function startBot(environment: Readonly<Record<string, string>>, lines: readonly string[]) {
  const folder = openFolder(environment);
  writeFileSync(folder.file('config.toml'), lines.join('\n'));
  const child = folder.start(['start', '--log-level', 'debug']);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  const exit = new Promise((resolve) => child.on('close', resolve));
  return {
    output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
      folder[Symbol.dispose]();
    },
  };
}

async function serveModel() {
  const model = await startScriptedModel();
  return { url: model.url, [Symbol.asyncDispose]: model.close };
}

const answerIn = (double: DiscordDouble) =>
  double.posted(GENERAL).find(({ content }) => content.startsWith('Answer to x1.'));

describe('behind a proxy', () => {
  test('a bot reaches Discord, Slack and its model', async () => {
    const model = await startScriptedModel();
    const discord = await startDiscord({ gatewayUrl: `wss://${DISCORD}/gateway` });
    const slack = await slackDouble.startSlack({ linkUrl: `wss://${SLACK}/link` });
    const hosts = { [DISCORD]: discord.restUrl, [SLACK]: slack.apiUrl, [MODEL]: model.url };
    await using proxy = await startProxy(hosts);
    const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: CERTIFICATE_FILE, ...TOKENS };
    await using bot = startBot(environment, [...TABLES.model, ...TABLES.discord, ...TABLES.slack]);
    const seen = () => `${proxy.tunnels.join(' ')}\n${bot.output.text}`;
    await until(`a gateway\n${seen()}`, () => discord.gateway.live > 0);
    await until(`a socket of Slack\n${seen()}`, () => slack.sockets() > 0);
    discord.say(GENERAL, ADA, 'x1 Hello.');
    slack.say(slackDouble.DIRECT, slackDouble.ADA, 'x1 Hello.');
    await until(`an answer on Discord\n${seen()}`, () => answerIn(discord));
    const answers = () => slack.posted(slackDouble.DIRECT).map(({ text }) => String(text));
    await until(`an answer on Slack\n${seen()}`, () => answers().some((text) => text.startsWith('Answer to x1.')));
    expect([...new Set(proxy.tunnels)].sort()).toEqual([`${DISCORD}:443`, `${MODEL}:443`, `${SLACK}:443`]);
    await discord.close();
    await slack.close();
    await model.close();
  });

  test('reads the proxy and the authority from .env', async () => {
    await using model = await serveModel();
    await using proxy = await startProxy({ [MODEL]: model.url });
    using folder = openFolder();
    writeFileSync(folder.file('config.toml'), TABLES.model.join('\n'));
    const address = proxy.url.replace('//', '//ada:pass%20word@');
    writeFileSync(folder.file('.env'), `https_proxy=${address}\nNODE_EXTRA_CA_CERTS=${CERTIFICATE_FILE}\n`);
    const { stdout, stderr } = await folder.runProcess(['chat'], 'x1 Hello.\n');
    expect(stdout).toBe('Answer to x1. It is noted and kept in mind.\n');
    expect(stderr).not.toContain('strata:');
    expect([...proxy.authorizations]).toEqual([`Basic ${btoa('ada:pass word')}`]);
    const { stdout: checked } = await folder.runProcess(['doctor']);
    expect(checked).toContain(`OK    proxy: models and platforms are reached through ${proxy.url}, except localhost`);
    expect(checked).not.toContain('pass');
  });

  test('sends a password with a percent sign', async () => {
    await using model = await serveModel();
    await using proxy = await startProxy({ [MODEL]: model.url });
    const address = proxy.url.replace('//', '//ada:50%off@');
    using folder = openFolder({ HTTPS_PROXY: address, NODE_EXTRA_CA_CERTS: CERTIFICATE_FILE });
    writeFileSync(folder.file('config.toml'), TABLES.model.join('\n'));
    const { stdout, stderr } = await folder.runProcess(['chat'], 'x1 Hello.\n');
    expect({ stdout, stderr }).toEqual({
      stdout: 'Answer to x1. It is noted and kept in mind.\n',
      stderr: expect.not.stringContaining('malformed'),
    });
    expect([...proxy.authorizations]).toEqual([`Basic ${btoa('ada:50%off')}`]);
  });

  test('reaches this computer and exceptions without it', async () => {
    await using model = await serveModel();
    await using proxy = await startProxy();
    const environment = { HTTP_PROXY: proxy.url, NO_PROXY: 'elsewhere.strata.test, *.example.org' };
    for (const host of ['127.0.0.1', 'localhost']) {
      using folder = openFolder(environment);
      const url = model.url.replace('127.0.0.1', host);
      const lines = ['[defaults]', 'model = "own:m"', '[providers.own]', `base_url = "${url}"`];
      writeFileSync(folder.file('config.toml'), lines.join('\n'));
      const { stdout } = await folder.runProcess(['chat'], 'x1 Hello.\n');
      expect(stdout).toBe('Answer to x1. It is noted and kept in mind.\n');
    }
    expect(proxy.tunnels).toEqual([]);
  });

  test.each([
    ['HTTPS_PROXY', 'socks5://ada:secret@proxy.strata.test:1080'],
    ['http_proxy', 'http://[secret'],
  ])('says that %s=%s cannot be used', async (name, value) => {
    using folder = openFolder({ [name]: value });
    const { code, stdout, stderr } = await folder.runProcess(['doctor']);
    const problem = `${name.toUpperCase()} is not used: it has to be the address of an HTTP proxy, such as http://proxy.example.org:3128`;
    expect(stderr).toBe(`strata: ${problem}.\n`);
    expect(stdout).toContain(`WARN  proxy: ${problem}\n      → Set HTTPS_PROXY`);
    expect({ code, leaked: `${stdout}${stderr}`.includes('secret') }).toEqual({ code: 0, leaked: false });
  });

  test('says what to do if the proxy refuses', async () => {
    await using proxy = await startProxy();
    using folder = openFolder({ HTTPS_PROXY: proxy.url, ...TOKENS });
    writeFileSync(folder.file('config.toml'), [...TABLES.model, ...TABLES.discord, ...TABLES.slack].join('\n'));
    const { stdout } = await folder.runProcess(['doctor']);
    const hint = '      → Allow the host in the proxy, or add it to NO_PROXY if it is reached without one.';
    const findings = stdout.split('\n').filter((_, index, lines) => lines[index + 1] === hint);
    expect(findings).toEqual([
      expect.stringMatching(/^FAIL {2}model: .* Cannot connect to API: Proxy response \(502\)/u),
      expect.stringMatching(/^FAIL {2}channel\.discord\.token: Discord cannot be reached: Proxy response \(502\)/u),
      expect.stringMatching(/^FAIL {2}channel\.slack\.token: Slack cannot be reached: fetch failed: Proxy response/u),
      expect.stringMatching(/^FAIL {2}channel\.slack\.socket: Slack cannot be reached: fetch failed: Proxy response/u),
    ]);
  });

  test('says why an authority in .env is not trusted', async () => {
    using folder = openFolder();
    writeFileSync(folder.file('.env'), 'NODE_EXTRA_CA_CERTS=missing.pem\n');
    const { code, stderr } = await folder.runProcess(['chat'], 'Hello.\n');
    expect(stderr).toMatch(/^strata: The authorities .* are not trusted: .*ENOENT.*missing\.pem'\.$/mu);
    expect(code).toBe(0);
  });
});
