import { describe, expect, it } from 'vitest';
import type { BlobId } from '../../../src/adapter-kit.ts';
import { createRetention, type RetentionOptions } from '../../../src/compaction/retention.ts';
import { createSweeper } from '../../../src/compaction/sweeper.ts';
import { DAY_MS, HOUR_MS } from '../../../src/util/time/time.ts';
import { talk } from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';

/** What is due is deleted when the clock has gone on for a day. */
async function expireAfter(pass: (ms: number) => void, options: RetentionOptions): Promise<void> {
  const retention = createRetention(options);
  await retention.expire();
  pass(DAY_MS);
  await retention.expire();
}

it.each([
  [0, [29], [31]],
  [7, [6], [8, 29]],
  [90, [29], [31]],
])('keeps tool results %i days, but at most a month', async (days, kept, gone) => {
  const now = Date.now();
  let read = now - DAY_MS;
  await using place = await createPlace({ clock: { now: () => read, sleep: async () => undefined } });
  const { conversation } = await place.tell(talk(1));
  const { blobs } = place.services.store;
  const idOf = (age: number) => `b${age}` as BlobId;
  for (const age of [...kept, ...gone]) {
    await blobs.put({ id: idOf(age), conversationId: conversation.id, text: 'a result', now: now - age * DAY_MS });
  }
  const pass = (ms: number) => {
    read += ms;
  };
  await expireAfter(pass, { services: place.services, retentionDays: () => days });
  const range = { conversationId: conversation.id, from: 0, length: 8 };
  for (const age of kept) expect(await blobs.read(idOf(age), range)).not.toBeNull();
  for (const age of gone) expect(await blobs.read(idOf(age), range)).toBeNull();
});

it('sweeps on while old messages are being deleted', async () => {
  const now = Date.now();
  const clock = { now: () => now, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };
  await using place = await createPlace({ clock });
  const { conversation } = await place.tell(talk(1));
  const { conversations } = place.services.store;
  await conversations.change(conversation.id, { kind: 'maintain', at: now });
  const deleting = Promise.withResolvers<void>();
  const slow = { ...place.services.store.blobs, expire: () => deleting.promise.then(() => 0) };
  let kicks = 0;
  const queue = {
    ...place.services.queue,
    kick: () => {
      kicks += 1;
    },
  };
  const store = { ...place.services.store, blobs: slow };
  const services = { ...place.services, store, queue };
  const sweeper = createSweeper({ services, maintain: async () => undefined, retentionDays: () => 0 });
  sweeper.start();
  await expect.poll(() => kicks).toBeGreaterThan(3);
  deleting.resolve();
  await sweeper.stop({ deadlineMs: 100 });
});

it('deletes old messages although one conversation is damaged', async () => {
  let now = Date.now();
  await using place = await createPlace({ clock: { now: () => now, sleep: async () => undefined } });
  const { conversation: damaged } = await place.tell(talk(1));
  const { conversation: other } = await place.child('Look for the key.');
  now += 100 * DAY_MS;
  const { store } = place.services;
  const change: typeof store.conversations.change = async (id, what) => {
    if (id === damaged.id) throw new Error('malformed row');
    return await store.conversations.change(id, what);
  };
  const services = { ...place.services, store: { ...store, conversations: { ...store.conversations, change } } };
  const pass = (ms: number) => {
    now += ms;
  };
  await expireAfter(pass, { services, retentionDays: () => 1 });
  const [entry] = await store.transcript.read(other.id, { fromSeq: 1, toSeq: 1, limit: 1 });
  expect(entry?.redactedAt).not.toBeNull();
  const error = { kind: 'error.internal', conversation: damaged.key, message: 'malformed row' };
  expect(place.seen).toContainEqual(expect.objectContaining(error));
});

describe.each(['in one process', 'in one process after another'])('%s', (how) => {
  /** Tells whether a message of a place that keeps them for a week is deleted some time after the last question. */
  async function openPlace() {
    let now = Date.now();
    const place = await createPlace({ clock: { now: () => now, sleep: async () => undefined } });
    const { conversation } = await place.tell(talk(1));
    now = conversation.lastActivityAt;
    const { services } = place;
    const start = () => createRetention({ services, retentionDays: () => 7 });
    let retention = start();
    const isDeleted = async (passedMs: number) => {
      now += passedMs;
      if (how !== 'in one process') retention = start();
      await retention.expire();
      const [entry] = await services.store.transcript.read(conversation.id, { fromSeq: 1, toSeq: 1, limit: 1 });
      return entry?.redactedAt !== null;
    };
    return { isDeleted, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  }

  it('a clock ahead for hours deletes nothing', async () => {
    await using place = await openPlace();
    expect(await place.isDeleted(0)).toBe(false);
    expect(await place.isDeleted(100 * DAY_MS)).toBe(false);
    expect(await place.isDeleted(HOUR_MS)).toBe(false);
    expect(await place.isDeleted(20 * HOUR_MS)).toBe(false);
    expect(await place.isDeleted(-100 * DAY_MS)).toBe(false);
    expect(await place.isDeleted(8 * DAY_MS)).toBe(false);
    expect(await place.isDeleted(HOUR_MS)).toBe(false);
    expect(await place.isDeleted(23 * HOUR_MS)).toBe(true);
  });

  it.each([-50 * DAY_MS, -1])('a wrong clock that moves by %i ms deletes nothing', async (backMs) => {
    await using place = await openPlace();
    expect(await place.isDeleted(0)).toBe(false);
    expect(await place.isDeleted(100 * DAY_MS)).toBe(false);
    expect(await place.isDeleted(backMs)).toBe(false);
    expect(await place.isDeleted(HOUR_MS)).toBe(false);
    expect(await place.isDeleted(-100 * DAY_MS - backMs)).toBe(false);
  });

  it('a bot that rarely runs deletes too', async () => {
    await using place = await openPlace();
    expect(await place.isDeleted(0)).toBe(false);
    expect(await place.isDeleted(8 * DAY_MS)).toBe(false);
    expect(await place.isDeleted(8 * DAY_MS)).toBe(true);
  });
});

it('the first reading of all deletes nothing', async () => {
  let now = Date.now();
  await using place = await createPlace({ clock: { now: () => now, sleep: async () => undefined } });
  const { conversation } = await place.tell(talk(1));
  now += 100 * DAY_MS;
  await createRetention({ services: place.services, retentionDays: () => 7 }).expire();
  const range = { fromSeq: 1, toSeq: 1, limit: 1 };
  expect((await place.services.store.transcript.read(conversation.id, range))[0]?.redactedAt).toBeNull();
});
