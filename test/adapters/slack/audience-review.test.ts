import { beforeEach, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { ADA, BOT, GENERAL, type SlackDouble, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { arrived, createState, type Opened, recordSink, until } from '../../fixtures/slack/kit.ts';

/** Slack sends no event about a channel while the bot is offline or not in it. */

let slack: SlackDouble;
let sink = recordSink();
let state = createState();
let bot: Opened;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});
const here = `slack:${TEAM}:${GENERAL}`;
const closed = () => sink.audiences.filter(({ audience }) => audience === 'private');

beforeEach(async () => {
  sink = recordSink();
  state = createState();
  bot = await start({ sink, state });
  slack.say(GENERAL, ADA, 'hello');
  const root = slack.say(GENERAL, ADA, 'about something', { thread_ts: slack.messages[0]?.ts });
  await until('both', () => sink.messages.length === 2);
  expect(root['thread_ts']).toBe(slack.messages[0]?.ts);
});

describe('a channel that changed while the bot was offline', () => {
  test.each([{ is_private: true }, { is_ext_shared: true }, { is_org_shared: true }])(
    'is closed with its threads at the next start: %j',
    async (change) => {
      await stop(bot);
      slack.channels.set(GENERAL, { name: 'general', ...change });
      await start({ sink, state });
      await until('both are closed', () => closed().length === 2);
      expect(new Set(closed().map(({ conversation }) => conversation))).toEqual(
        new Set([here, `${here}:${slack.messages[0]?.ts}`]),
      );
    },
  );

  test('is closed if the bot cannot see it any more', async () => {
    await stop(bot);
    slack.channels.delete(GENERAL);
    await start({ sink, state });
    await until('both are closed', () => closed().length === 2);
  });

  test('is closed although no missed messages are read', async () => {
    await stop(bot);
    slack.channels.set(GENERAL, { name: 'general', is_private: true });
    await start({ sink, state, table: { catch_up: { messages: 0 } } });
    await until('both are closed', () => closed().length === 2);
  });

  test('stays public while Slack does not tell', async () => {
    await stop(bot);
    slack.fail('conversations.info', { error: 'missing_scope' });
    await start({ sink, state });
    slack.say(GENERAL, ADA, 'still here');
    await arrived(bot, 'still here');
    expect(closed()).toEqual([]);
  });
});

test('a channel that changed without an open socket is closed', async () => {
  slack.kill();
  slack.channels.set(GENERAL, { name: 'general', is_private: true });
  await until('another socket', () => slack.opened() === 2 && slack.sockets() === 1);
  await until('both are closed', () => closed().length === 2);
  slack.say(GENERAL, ADA, 'among us');
  expect((await arrived(bot, 'among us')).audience).toBe('private');
});

describe('a channel that turned private, as another gateway was told', () => {
  let aheadMs = 0;
  const system = createSystemClock();
  beforeEach(async () => {
    aheadMs = 0;
    await stop(bot);
    bot = await start({ sink, state, clock: { ...system, now: () => system.now() + aheadMs } });
    slack.say(GENERAL, ADA, 'in public');
    expect((await arrived(bot, 'in public')).audience).toBe('public');
    slack.channels.set(GENERAL, { name: 'general', is_private: true });
  });
  const said = (text: string) => {
    const { ts, ...message } = slack.store(GENERAL, ADA, text);
    return { ...message, ts, event_ts: ts };
  };

  test('is private from the next message on', async () => {
    slack.emit({ ...said('among us'), channel_type: 'group' });
    expect((await arrived(bot, 'among us')).audience).toBe('private');
  });

  test('is private at a mention, whose event has no type', async () => {
    aheadMs = 11_000;
    slack.emit({ ...said(`<@${BOT}> and you`), type: 'app_mention' });
    expect((await arrived(bot, '@strata and you')).audience).toBe('private');
  });

  test('is private for a command, which has no type either', async () => {
    aheadMs = 11_000;
    slack.slash('memory remember The launch is in May.');
    await until('the command', () => sink.commands.length === 1);
    expect(sink.commands[0]?.audience).toBe('private');
  });
});
