import { expect, test } from 'vitest';
import { createReplays } from '../../../adapters/channels/slack/connection/replays.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../src/util/time/time.ts';

/** A request may be dated five minutes ahead, and is valid until it is five minutes old, in whole seconds. */
const VALID_MS = 600_999;

function openReplays() {
  let now = 1_700_000_000_000;
  const { isNew } = createReplays({ ...createSystemClock(), now: () => now });
  const pass = (ms: number) => {
    now += ms;
  };
  return { isNew, pass };
}

test('A request is new once', () => {
  const { isNew } = openReplays();
  expect([isNew('v0=a'), isNew('v0=a'), isNew('v0=b'), isNew('v0=a')]).toEqual([true, false, true, false]);
});

test('A request is recognised as long as it is valid', () => {
  const { isNew, pass } = openReplays();
  isNew('v0=a');
  pass(VALID_MS / 2);
  isNew('v0=b');
  pass(VALID_MS / 2);
  expect(isNew('v0=a')).toBe(false);
  pass(60_000);
  // Nothing is kept for ever: by now the library rejects the request itself.
  expect([isNew('v0=a'), isNew('v0=b')]).toEqual([true, false]);
});

test('A clock that is set back forgets no request', () => {
  const { isNew, pass } = openReplays();
  isNew('v0=a');
  pass(-HOUR_MS);
  isNew('v0=b');
  pass(VALID_MS);
  expect([isNew('v0=a'), isNew('v0=b')]).toEqual([false, false]);
});

test('A clock far ahead keeps no request for ever', () => {
  const { isNew, pass } = openReplays();
  isNew('v0=a');
  pass(-365 * DAY_MS);
  isNew('v0=b');
  pass(VALID_MS + 1_000);
  expect([isNew('v0=a'), isNew('v0=b')]).toEqual([true, true]);
});
