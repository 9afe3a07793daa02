import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Clock, createSystemClock, StrataError } from '../../../src/adapter-kit.ts';
import { ADA, GENERAL } from '../../fixtures/discord/double.ts';
import { withChannel } from '../../fixtures/discord/each-test.ts';
import { recordSink, until } from '../../fixtures/discord/kit.ts';

const FULL = new StrataError('STORE_UNUSABLE', { path: 'data', reason: 'the disk is full' });

/** A store whose disk is full for that many attempts, and a clock whose pauses take no time while it is. */
function fullFor(attempts: number) {
  let left = attempts;
  let sleptMs = 0;
  const system = createSystemClock();
  const sink = recordSink();
  sink.before = async () => {
    left -= 1;
    if (left >= 0) throw FULL;
  };
  const clock: Clock = {
    now: () => system.now() + sleptMs,
    async sleep(ms, options) {
      if (left < 0 || left === attempts) return await system.sleep(ms, options);
      options.signal.throwIfAborted();
      sleptMs += ms;
      await turn();
    },
  };
  return { sink, clock };
}

test('a message waits for a disk that stays full', async () => {
  await withChannel(fullFor(40), async ({ double, sink, log }) => {
    double.say(GENERAL, ADA, 'during the night');
    double.say(GENERAL, ADA, 'in the morning');
    await until('both', () => sink.messages.length === 2);
    expect(sink.messages.map(({ text }) => text)).toEqual(['during the night', 'in the morning']);
    // The bot itself names the cause once a minute.
    expect(log.lines.filter(({ message }) => message.includes('trying again'))).toHaveLength(1);
  });
});

test.each([
  [10, undefined],
  [100, true],
])('a message that waited %i attempts is past: %s', async (attempts, isPast) => {
  await withChannel(fullFor(attempts), async ({ double, sink }) => {
    double.say(GENERAL, ADA, 'anybody here?');
    await until('the message', () => sink.messages.length === 1);
    expect(sink.messages[0]?.isPast).toBe(isPast);
  });
});

test('messages that wait are limited in size', async () => {
  // Full until all have arrived, with the usual pauses: attempts without pauses would hold up what still arrives.
  let isFull = true;
  const store = recordSink();
  store.before = async () => {
    if (isFull) throw FULL;
  };
  await withChannel({ sink: store }, async ({ double, sink, log }) => {
    for (const letter of 'abcde') double.say(GENERAL, ADA, letter.repeat(11_000_000));
    await until('one is lost', () => log.lines.some(({ message }) => message.includes('one is lost')));
    isFull = false;
    await until('the others', () => sink.messages.length === 4);
    double.say(GENERAL, ADA, 'afterwards');
    await until('the next', () => sink.messages.length === 5);
    expect(sink.messages.map(({ text }) => text[0])).toEqual(['a', 'b', 'c', 'd', 'a']);
  });
});
