import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/adapter-kit.ts';
import { createRetention } from '../../../src/compaction/retention.ts';
import { createSweeper } from '../../../src/compaction/sweeper.ts';
import { createCompactor } from '../../../src/compaction/watch/compactor.ts';
import { createBotGuard } from '../../../src/conversation/inbound/bot-guard.ts';
import { createHeldReplies } from '../../../src/conversation/posts/held-replies.ts';
import { createBreaker, pausedModels } from '../../../src/models/breaker.ts';
import { withPauses } from '../../../src/search/passages/reranker-pauses.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import { createState, recordLog } from '../../fixtures/channel-kit.ts';
import { talk } from '../../fixtures/context.ts';
import { createPlace, type Place } from '../../fixtures/place.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { createWorld, faithful, filler, scriptedModel, until } from '../compaction/compaction.world.ts';

/** A machine may start a year ahead, until it has asked a time server. Nothing then waits for a year. */

const YEAR_MS = 365 * DAY_MS;

let now = 0;
const clock: Clock = {
  now: () => now,
  sleep: () => new Promise((resolve) => setImmediate(resolve)),
};
beforeEach(() => {
  now = Date.UTC(2027, 10, 20);
});
const setBack = () => {
  now -= YEAR_MS;
};

describe('after a clock was set back by a year', () => {
  it('a paused model is called again', async () => {
    const state = createState();
    const breaker = createBreaker({ state, events: { emit: () => undefined, on: () => () => undefined }, clock });
    await breaker.failed('test:m', { auth: true, message: 'no key', place: null });
    expect(await breaker.pausedUntil('test:m')).toMatchObject({ message: 'no key' });
    setBack();
    expect(await breaker.pausedUntil('test:m')).toBeNull();
    expect(await pausedModels(state, now)).toEqual([]);
  });

  it('a reranker is asked again', async () => {
    let isBroken = true;
    const rerank = async () => {
      if (isBroken) throw new Error('HTTP 500');
      return [1];
    };
    const patient = withPauses({ rerank, embed: async () => [[1]] }, { clock, log: recordLog() });
    const { signal } = new AbortController();
    const request = { model: 'test:m', texts: ['a'], question: 'b', timeoutMs: 100, signal };
    await expect(patient.rerank(request)).rejects.toThrow('HTTP 500');
    isBroken = false;
    await expect(patient.rerank(request)).rejects.toThrow('paused');
    setBack();
    expect(await patient.rerank(request)).toEqual([1]);
  });

  it('another bot is answered again', () => {
    const guard = createBotGuard();
    const answers = () => Array.from({ length: 21 }, () => guard.allows('a|b', now)).filter(Boolean).length;
    expect(answers()).toBe(20);
    setBack();
    expect(answers()).toBe(20);
    guard.allows('c|d', now + YEAR_MS);
    const others = Array.from({ length: 20 }, () => guard.allows('c|d', now));
    expect(others).not.toContain(false);
  });

  it('an owed reply waits no longer', () => {
    const held = createHeldReplies(clock, () => undefined);
    held.hold(() => true);
    expect(held.holds('test:here:one' as never)).toBe(true);
    setBack();
    expect(held.holds('test:here:one' as never)).toBe(false);
  });
});

describe('in a place whose clock was set back by a year', () => {
  let place: Place;
  const open = async () => {
    place = await createPlace({ clock });
    return (await place.tell(talk(1))).conversation;
  };

  it('a lost job is requested again', async () => {
    const conversation = await open();
    await using _ = place;
    let kicks = 0;
    const queue = {
      ...place.services.queue,
      kick: () => {
        kicks += 1;
      },
    };
    const compactor = createCompactor({ services: { ...place.services, queue }, conversation });
    const due = { tier: 'background', due: true, measure: () => ({ used: 8, window: 10 }), stored: true } as const;
    await compactor.assessed(due);
    await compactor.assessed(due);
    expect(kicks).toBe(1);
    setBack();
    await compactor.assessed(due);
    expect(kicks).toBe(2);
  });

  it('old messages are deleted within the hour', async () => {
    await open();
    await using _ = place;
    let rounds = 0;
    const expire = async () => {
      rounds += 1;
      return 0;
    };
    const { store } = place.services;
    const services = { ...place.services, store: { ...store, blobs: { ...store.blobs, expire } } };
    await createRetention({ services, retentionDays: () => 0 }).expire();
    now += DAY_MS;
    const sweeper = createSweeper({ services, maintain: async () => undefined, retentionDays: () => 0 });
    sweeper.start();
    await until(() => rounds === 1);
    setBack();
    await until(() => rounds === 2);
    await sweeper.stop({ deadlineMs: 100 });
  });
});

it('a summary that failed with a clock ahead is written', async () => {
  let isBroken = true;
  const model = scriptedModel((request, call) => (isBroken ? { text: '' } : faithful(request, call)), {
    window: 32_000,
  });
  await using world = await createWorld({ model });
  for (let seed = 0; seed < 12; seed += 1) await world.exchange(filler(60, seed), filler(60, seed));
  await world.clock.jump(YEAR_MS);
  expect((await world.run()).changed).toBe(false);
  expect((await world.conversation()).nextAttemptAt).toBeGreaterThan(world.clock.now());
  isBroken = false;
  expect((await world.run()).reason).toContain('the last attempt failed');
  await world.clock.jump(-YEAR_MS);
  expect((await world.run()).changed).toBe(true);
});

it('a stop ends in time', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' });
  await using world: BotWorld = await createBotWorld({
    models: [model],
    channel: (own) => ({ ...own, stop: async () => void (await world.clock.jump(-YEAR_MS)) }),
  });
  await world.say('Hello?');
  await world.settled();
  await world.bot.stop({ deadlineMs: 500 });
});
