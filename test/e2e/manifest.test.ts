import { writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openFolder } from './strata.ts';

vi.setConfig({ testTimeout: 60_000 });

test.each([
  ['bot_token = "env:NO_BOT"\napp_token = "env:NO_APP"\n'],
  ['bot_token = "${NO_BOT}"\napp_token = "xapp-${NO_APP}"\n'],
  [
    'transport = "http"\nclient_id = "env:NO_ID"\nclient_secret = "env:NO_SECRET"\nsigning_secret = "env:NO_SIGNING"\n' +
      'installation_key = "env:NO_KEY"\nhttp.public_url = "https://bot.example.org"\n',
  ],
])('the manifest of Slack needs no secrets: %s', async (table) => {
  using folder = openFolder();
  writeFileSync(folder.file('config.toml'), `[channels.slack]\n${table}`);
  const { code, stdout, stderr } = await folder.run(['slack', 'manifest']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toHaveProperty('oauth_config.scopes.bot');
  expect((await folder.run(['config', 'check'])).stderr).toContain('is not set');
});

test('a missing address is still named', async () => {
  using folder = openFolder();
  const table = 'transport = "http"\nbot_token = "env:NO_BOT"\nsigning_secret = "env:NO_SIGNING"\n';
  writeFileSync(folder.file('config.toml'), `[channels.slack]\n${table}http.public_url = "env:NO_ADDRESS"\n`);
  const { code, stderr } = await folder.run(['slack', 'manifest']);
  expect(code).toBe(2);
  expect(stderr).toContain('the environment variable NO_ADDRESS is not set');
  expect(stderr).not.toContain('NO_BOT');
});
