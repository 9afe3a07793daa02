import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ADA, DIRECT, startDiscord, TOKEN } from '../fixtures/discord/double.ts';
import { until } from '../fixtures/discord/kit.ts';
import { openFolder } from './strata.ts';

/** Far longer than anybody waits for a process to end. */
const LIMIT_MS = 120_000;

describe('a stopped bot', () => {
  test('does not wait for the end of a rate limit', { timeout: 60_000 }, async () => {
    const double = await startDiscord();
    using folder = openFolder({ DISCORD_BOT_TOKEN: TOKEN });
    const lines = ['[channels.discord]', 'token = "env:DISCORD_BOT_TOKEN"', `rest_url = "${double.restUrl}"`];
    writeFileSync(folder.file('config.toml'), lines.join('\n'));
    double.rest.limit('POST', /typing$/, { forMs: LIMIT_MS });
    const child = folder.start(['start', '--model', 'offline:demo']);
    const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
    try {
      await until('a connection', () => double.gateway.identifies.length > 0, 30_000);
      double.say(DIRECT, ADA, 'Good morning.');
      await until('the answer', () => double.posted(DIRECT).length > 0, 20_000);
      child.kill('SIGTERM');
      expect(await Promise.race([exit, delay(20_000, 'still running')])).toBe(0);
    } finally {
      child.kill('SIGKILL');
      await double.close();
    }
  });
});
