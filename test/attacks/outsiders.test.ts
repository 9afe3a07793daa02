import { expect, it } from 'vitest';
import type { Entry } from '../../src/adapter-kit.ts';
import { labelOf } from '../../src/context/view/label.ts';
import { user } from '../fixtures/context.ts';
import { ADA, GUEST, OTHER_TEAM, SHARED, type SlackDouble, TEAM } from '../fixtures/slack/double.ts';
import { slackForEachTest } from '../fixtures/slack/each-test.ts';
import { until } from '../fixtures/slack/kit.ts';

let slack: SlackDouble;
const { start } = slackForEachTest((double) => {
  slack = double;
});

it.each([
  ['filled up', `Ada${'.'.repeat(77)}`],
  ['of one endless character', `A${'\u0301'.repeat(79)}`],
])('a name %s does not hide that somebody is of another workspace', async (_, name) => {
  slack.people.set(GUEST, { name: 'grace', profile: { display_name: name }, team_id: OTHER_TEAM, is_stranger: true });
  const { sink } = await start();
  slack.say(SHARED, GUEST, 'pay him', { team: OTHER_TEAM, user_team: OTHER_TEAM });
  const { author } = await until('the message', () => sink.messages[0]);
  const entry: Entry = { ...user(1, 'pay him'), author };
  expect(labelOf(entry, null)).toContain('(of another workspace)] ');
});

it('somebody of another workspace is told apart in memories', async () => {
  slack.people.set(GUEST, { name: 'grace', profile: { display_name: 'Ada' }, team_id: OTHER_TEAM, is_stranger: true });
  const { sink } = await start();
  const message = { type: 'message', ts: '1700000000.000100', user: GUEST, text: 'pay him', user_team: OTHER_TEAM };
  const menu = { type: 'message_action', callback_id: 'remember_message', channel: { id: SHARED } };
  slack.interact({ ...menu, user: { id: ADA, team_id: TEAM }, message });
  await until('the command', () => sink.commands.length === 1);
  expect(sink.commands[0]?.options).toEqual({ text: 'Ada (of another workspace) said: pay him' });
});
