import { expect, it } from 'vitest';
import { BOB, COLLEAGUE, GENERAL, ORGANIZATION, type SlackDouble } from '../fixtures/slack/double.ts';
import { slackForEachTest } from '../fixtures/slack/each-test.ts';
import { until } from '../fixtures/slack/kit.ts';

let slack: SlackDouble;
const { start } = slackForEachTest((double) => {
  slack = double;
});

/** Slack answers this many questions about people in a minute. */
const PER_MINUTE = 100;

it('a member who names many people leaves answers to others', async () => {
  const { sink } = await start({ table: { outsiders: false } });
  let asked = 0;
  slack.gates.set('', (method) => {
    if (method !== 'users.info') return null;
    asked += 1;
    return asked > PER_MINUTE ? { retryAfter: 30 } : null;
  });
  const named = (message: number) =>
    Array.from({ length: 20 }, (_, at) => `<@U0X${String(message * 20 + at).padStart(6, '0')}>`).join(' ');
  for (let message = 0; message < 20; message += 1) slack.say(GENERAL, BOB, named(message));
  await until('they are stored', () => sink.messages.length === 20, 20_000);
  slack.say(GENERAL, COLLEAGUE, 'from inside', { team: ORGANIZATION, user_team: ORGANIZATION });
  await until('her message is stored', () => sink.messages.some(({ text }) => text === 'from inside'), 12_000);
  expect(sink.messages.at(-1)?.author.name).toBe('mia');
}, 60_000);
