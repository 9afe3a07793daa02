import { expect, test } from 'vitest';
import { readIncoming } from '../../../adapters/channels/slack/inbound/incoming.ts';
import type { Take } from '../../../adapters/channels/slack/inbound/take.ts';
import { createUnstored } from '../../../adapters/channels/slack/inbound/unstored.ts';
import { createSystemClock, StrataError } from '../../../src/adapter-kit.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { ADA, GENERAL, type SlackDouble } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { recordLog, recordSink, settingsFor, until } from '../../fixtures/slack/kit.ts';

let slack: SlackDouble;
const { start } = slackForEachTest((fresh) => {
  slack = fresh;
});

const FULL = new StrataError('STORE_UNUSABLE', { path: 'data', reason: 'the disk is full' });

/** A store whose disk is full for that many attempts. `onFailure` is called with each of them. */
function fullFor(attempts: number, onFailure: () => void = () => undefined) {
  let left = attempts;
  const sink = recordSink();
  sink.before = async () => {
    left -= 1;
    if (left < 0) return;
    onFailure();
    throw FULL;
  };
  return sink;
}

test('what Slack sends no more waits for the store', async () => {
  const { sink } = await start({ sink: fullFor(4) });
  slack.say(GENERAL, ADA, 'first');
  slack.say(GENERAL, ADA, 'second');
  await until('both', () => sink.messages.length === 2);
  expect(sink.messages.map(({ text, isPast }) => [text, isPast])).toEqual([
    ['first', undefined],
    ['second', undefined],
  ]);
});

test('a message that waited for hours is not answered', async () => {
  const system = createSystemClock();
  let laterMs = 0;
  const clock = { ...system, now: () => system.now() + laterMs };
  const sink = fullFor(1, () => {
    laterMs = HOUR_MS;
  });
  await start({ sink, clock });
  slack.say(GENERAL, ADA, 'anybody here?');
  await until('the message', () => sink.messages.length === 1);
  expect(sink.messages[0]).toMatchObject({ text: 'anybody here?', isPast: true });
});

test('another failure ends with what Slack repeats', async () => {
  const sink = recordSink();
  let tries = 0;
  sink.before = async ({ text }) => {
    tries += 1;
    if (text === 'odd') throw new Error('a bug');
  };
  await start({ sink });
  slack.say(GENERAL, ADA, 'odd');
  slack.say(GENERAL, ADA, 'plain');
  await until('the other', () => sink.messages.length === 1);
  expect(tries).toBe(2);
});

test('what waited is stored at once afterwards', async () => {
  const said = Array.from({ length: 40 }, (_, index) => `message ${index}`);
  const { sink } = await start({ sink: fullFor(said.length) });
  for (const text of said) slack.say(GENERAL, ADA, text);
  await until('all', () => sink.messages.length === said.length, 15_000);
  expect(sink.messages.map(({ text }) => text)).toEqual(said);
});

test('what waits is limited in size', async () => {
  const log = recordLog();
  const taken: string[] = [];
  const take: Take = async (incoming) => {
    if (incoming.kind === 'message') taken.push(incoming.message.ts);
  };
  const { signal } = new AbortController();
  const unstored = createUnstored({ settings: settingsFor(slack), clock: createSystemClock(), log, signal }, take);
  const event = { type: 'message', channel: GENERAL, user: ADA, text: 'x'.repeat(11_000_000) };
  for (const ts of ['1.1', '2.1', '3.1', '4.1', '5.1', '6.1']) {
    const incoming = readIncoming({ event: { ...event, ts }, isShared: false });
    if (incoming?.kind === 'message') unstored.keep(incoming, Date.now());
  }
  await unstored.drained();
  expect(taken).toEqual(['1.1', '2.1', '3.1', '4.1']);
  expect(log.lines).toHaveLength(2);
});

test('a deletion waits however much waits', async () => {
  const taken: string[] = [];
  const take: Take = async ({ kind }) => {
    taken.push(kind);
  };
  const parts = { clock: createSystemClock(), log: recordLog(), signal: new AbortController().signal };
  const unstored = createUnstored({ settings: settingsFor(slack), ...parts }, take);
  const said = { type: 'message', channel: GENERAL, user: ADA, ts: '1.1', text: 'x'.repeat(49_999_800) };
  const deleted = { type: 'message', subtype: 'message_deleted', channel: GENERAL, deleted_ts: '1.1', ts: '2.1' };
  const closed = { type: 'message', subtype: 'channel_convert_to_private', channel: GENERAL, user: ADA, ts: '3.1' };
  for (const event of [said, { ...said, ts: '1.2' }, deleted, closed]) {
    const incoming = readIncoming({ event, isShared: false });
    if (incoming !== null && incoming.kind !== 'dropped') unstored.keep(incoming, Date.now());
  }
  await unstored.drained();
  expect(taken).toEqual(['message', 'removal', 'conversion']);
});
