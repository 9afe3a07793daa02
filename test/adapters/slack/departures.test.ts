import { expect, it } from 'vitest';
import { createDepartures } from '../../../adapters/channels/slack/install/departures.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import { createState, recordLog, recordSink } from '../../fixtures/channel-kit.ts';

it('a workspace removed with the clock ahead is deleted too', async () => {
  let now = Date.now() + 365 * DAY_MS;
  const clock = { now: () => now, sleep: async () => undefined };
  const sink = recordSink();
  const { signal } = new AbortController();
  const departures = createDepartures({ sink, state: createState(), clock, log: recordLog(), signal });
  const deleted: string[] = [];
  const settle = () =>
    departures.settle({ standing: async () => 'gone', deleted: async (teamId) => void deleted.push(teamId) });
  await departures.mark('T1', null);
  now -= 365 * DAY_MS;
  await settle();
  now += 6 * DAY_MS;
  await settle();
  expect(deleted).toEqual([]);
  now += DAY_MS;
  await settle();
  await settle();
  expect(deleted).toEqual(['T1']);
});
