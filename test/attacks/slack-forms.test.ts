import { describe, expect, test } from 'vitest';
import { ADA, BOB, GENERAL, SHARED, type SlackDouble, STAFF, TEAM } from '../fixtures/slack/double.ts';
import { slackForEachTest } from '../fixtures/slack/each-test.ts';
import { until } from '../fixtures/slack/kit.ts';

let slack: SlackDouble;
const { start } = slackForEachTest((double) => {
  slack = double;
});

type View = Readonly<Record<string, unknown>>;

/** Bob opens the form of a command in the channel. */
async function formIn(channel: string): Promise<View> {
  slack.slash('memory edit 01k0aaaaaaaaaaaaaaaaaaaaaa', { user_id: BOB, channel_id: channel });
  return await until('a form opens', () => slack.callsOf('views.open').at(-1)?.['view'] as View | undefined);
}

function submit({ private_metadata, callback_id }: View): void {
  const values = { text: { text: { type: 'plain_text_input', value: 'planted' } } };
  slack.interact({
    type: 'view_submission',
    user: { id: BOB, team_id: TEAM },
    view: { id: 'V1', type: 'modal', callback_id, private_metadata, state: { values }, blocks: [] },
  });
}

describe('a form that stayed open while its person was removed from the channel', () => {
  test.each([STAFF, SHARED])('changes and shows nothing of %s', async (channel) => {
    const { sink } = await start({ table: { sockets: 1 } });
    const form = await formIn(channel);
    sink.commands.length = 0;
    slack.members.set(channel, [ADA]);
    submit(form);
    const answer = await until('the answer', () => slack.answers.at(-1));
    expect(JSON.stringify(answer)).toContain('does not serve you here');
    expect(sink.commands).toEqual([]);
  });

  test.each([{ is_restricted: true }, { is_ultra_restricted: true, is_restricted: true }, { is_restricted: 'yes' }])(
    'does nothing for a guest in a public channel: %j',
    async (guest) => {
      slack.people.set(BOB, { name: 'bob', real_name: 'Bob', team_id: TEAM, ...guest });
      const { sink } = await start({ table: { sockets: 1 } });
      const form = await formIn(GENERAL);
      sink.commands.length = 0;
      slack.members.set(GENERAL, [ADA]);
      submit(form);
      const answer = await until('the answer', () => slack.answers.at(-1), 8_000);
      expect(JSON.stringify(answer)).toContain('does not serve you here');
      expect(sink.commands).toEqual([]);
      slack.members.set(GENERAL, [ADA, BOB]);
      submit(form);
      await until('it is run', () => sink.commands.some(({ options }) => options['text'] === 'planted'));
    },
  );

  test.each([
    ['lists no members', 'conversations.members', { error: 'missing_scope' }],
    ['asks for a long pause', 'conversations.members', { retryAfter: 60 }],
  ] as const)('does nothing while Slack %s', async (_, method, trouble) => {
    const { sink } = await start({ table: { sockets: 1 } });
    const form = await formIn(STAFF);
    sink.commands.length = 0;
    slack.fail(method, ...Array.from({ length: 9 }, () => trouble));
    submit(form);
    const answer = await until('the answer', () => slack.answers.at(-1), 20_000);
    expect(JSON.stringify(answer)).toContain('does not serve you here');
    expect(sink.commands).toEqual([]);
  });

  test.each(['conversations.info', 'users.info'])(
    'does nothing for strangers while Slack fails at %s',
    async (method) => {
      const { sink } = await start({ table: { sockets: 1 } });
      slack.fail(method, ...Array.from({ length: 40 }, () => ({ error: 'internal_error' })));
      const form = await formIn(GENERAL);
      sink.commands.length = 0;
      slack.members.set(GENERAL, [ADA]);
      submit(form);
      const answer = await until('the answer', () => slack.answers.at(-1), 20_000);
      expect(JSON.stringify(answer)).toContain('does not serve you here');
      expect(sink.commands).toEqual([]);
    },
  );

  test('works for members, on whichever page Slack lists them', async () => {
    const { sink } = await start({ table: { sockets: 1 } });
    slack.members.set(STAFF, [ADA, BOB]);
    const form = await formIn(STAFF);
    submit(form);
    await until('it is run', () => sink.commands.some(({ options }) => options['text'] === 'planted'));
  });

  test('works for members while Slack returns rate limits', async () => {
    const { sink } = await start({ table: { sockets: 1 } });
    const form = await formIn(STAFF);
    slack.fail('conversations.members', { retryAfter: 1 }, { status: 503 });
    submit(form);
    await until('it is run', () => sink.commands.some(({ options }) => options['text'] === 'planted'), 10_000);
  });

  test('works in a public channel, which everybody can read', async () => {
    const { sink } = await start({ table: { sockets: 1 } });
    slack.members.set(GENERAL, [ADA]);
    submit(await formIn(GENERAL));
    await until('it is run', () => sink.commands.some(({ options }) => options['text'] === 'planted'));
  });
});
