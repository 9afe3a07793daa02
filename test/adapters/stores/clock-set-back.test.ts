import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { createIdentifyPace } from '../../../adapters/channels/discord/gateway/pauses.ts';
import { createDraftRate } from '../../../adapters/channels/slack/outbound/draft-rate.ts';
import { createPostRate } from '../../../adapters/channels/slack/outbound/post-rate.ts';
import { createRate } from '../../../adapters/channels/slack/web/rate.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';

/** No rate waits until a clock that was set back has returned to where it was. */

const { signal } = new AbortController();
let now = 0;
let sleptMs: number[] = [];
const clock = {
  now: () => now,
  async sleep(ms: number, { signal: over }: { readonly signal: AbortSignal }) {
    // What limits the time of other work is aborted before.
    await nextTurn();
    over.throwIfAborted();
    sleptMs.push(ms);
    now += ms;
  },
};

beforeEach(() => {
  now = 1_700_000_000_000;
  sleptMs = [];
});

const slept = () => sleptMs.reduce((sum, ms) => sum + ms, 0);

test('A rate goes on', async () => {
  const rate = createRate(clock, { most: 2, spanMs: 10_000 });
  for (const _ of [1, 2, 3]) await rate(signal);
  expect(slept()).toBe(10_000);
  now -= HOUR_MS;
  await rate(signal);
  expect(slept()).toBeLessThanOrEqual(20_000);
});

test('Posts in a channel go on', async () => {
  const rate = createPostRate(clock);
  const post = () => rate({ channel: 'C1', signal }, async () => now);
  await post();
  now -= HOUR_MS;
  await post();
  const first = await post();
  expect((await post()) - first).toBe(1_050);
  expect(slept()).toBeLessThan(5_000);
});

test('the first post leaves room for an earlier process', async () => {
  const rate = createPostRate(clock);
  const startedAt = now;
  expect((await rate({ channel: 'C1', signal }, async () => now)) - startedAt).toBe(1_050);
  expect((await rate({ channel: 'C2', signal }, async () => now)) - startedAt).toBe(1_050);
});

test('Drafts go on', () => {
  const rate = createDraftRate(clock);
  for (let call = 0; call < 18; call += 1) expect(rate.mayCall('chat.startStream')).toBe(true);
  expect(rate.mayCall('chat.startStream')).toBe(false);
  now -= HOUR_MS;
  expect(rate.mayCall('chat.startStream')).toBe(true);
});

test('Identifications go on', async () => {
  const pace = createIdentifyPace(clock);
  await pace.wait(0, signal);
  now -= HOUR_MS;
  await pace.wait(0, signal);
  await pace.wait(0, signal);
  expect(slept()).toBeLessThan(6_000);
});
