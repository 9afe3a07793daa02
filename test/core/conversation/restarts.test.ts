import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { restartPauseMs } from '../../../src/conversation/turn/waiting/restarts.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

/** Where an endless storm ends, so that a failing test does. */
const MAX_EDITS = 200;

/** Ada edits her message during each of the first `edits` model calls. */
async function storm(edits: number) {
  const calledAt: number[] = [];
  const model = scriptedModel(
    async (_, { count, signal }) => {
      calledAt.push(world.clock.now());
      if (count > Math.min(edits, MAX_EDITS)) return { text: `Answer ${count}` };
      const parts = [{ kind: 'text', text: `Version ${count}` }] as const;
      await world.bot.sink.edited({ conversation: HERE, externalId: 'm1', parts, at: world.clock.now() });
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { text: 'too late' };
    },
    { id: 'test:chat' },
  );
  const world = await createBotWorld({ models: [model] });
  const texts = () => [...world.channel.posts.values()].map(({ body }) => body.text);
  return Object.assign(world, { calledAt, texts, model });
}

/** Reads the file directly, because a process would void the claim when it opens the store exclusively. */
function claimIn(directory: string): unknown {
  const database = new Database(join(directory, 'strata.db'), { readonly: true });
  try {
    return database.prepare('select reply_until from conversation').pluck().get();
  } finally {
    database.close();
  }
}

describe('a turn whose question is edited', () => {
  it('starts over at once after two edits', async () => {
    await using world = await storm(2);
    const beganAt = world.clock.now();
    await world.say('What is it?', { id: 'm1' });
    await until(() => world.texts().length === 1);
    expect(world.texts()).toEqual(['Answer 3']);
    expect(world.clock.now()).toBe(beganAt);
    expect(JSON.stringify(world.model.requests[2])).toContain('Version 2');
  });

  it('costs a bounded number of calls in an edit storm', async () => {
    await using world = await storm(MAX_EDITS);
    const beganAt = world.clock.now();
    await world.say('What is it?', { id: 'm1' });
    await until(() => world.calledAt.length >= 3);
    for (let passedMs = 0; passedMs < 10 * MINUTE_MS; passedMs += 250) await world.clock.advance(250);
    expect(world.calledAt.filter((at) => at === beganAt)).toHaveLength(3);
    expect(world.calledAt.length).toBeLessThan(30);
  });

  it('is answered soon after a storm, also elsewhere', async () => {
    await using world = await storm(4);
    await world.say('What is it?', { id: 'm1' });
    await world.settled();
    expect(world.texts()).toEqual(['Answer 5']);
    const askedAt = world.clock.now();
    await world.say('And now?', { id: 'm2' });
    await until(() => world.texts().length === 2);
    expect(world.texts()).toEqual(['Answer 5', 'Answer 6']);
    expect(world.clock.now()).toBe(askedAt);
  });

  it('keeps its claim through a long pause', async () => {
    await using world = await storm(MAX_EDITS);
    await world.say('What is it?', { id: 'm1' });
    await until(() => world.calledAt.length >= 3);
    for (let step = 0; step < 400 && world.calledAt.length < 7; step += 1) await world.clock.advance(250);
    for (let step = 0; step < 56; step += 1) await world.clock.advance(250);
    expect(world.calledAt).toHaveLength(7);
    expect((await world.conversation()).replyUntil).toBeGreaterThan(world.clock.now());
  });

  it('waits for the next start if the bot stops', async () => {
    await using world = await storm(4);
    await world.say('What is it?', { id: 'm1' });
    await until(() => world.calledAt.length === 3);
    // The third call has been overtaken, and the pause has begun.
    await world.clock.advance(0);
    const stopping = world.bot.stop({ deadlineMs: 500 });
    for (let step = 0; step < 40; step += 1) await world.clock.advance(250);
    await stopping;
    // The summariser may finish what it can until the deadline.
    expect(world.events.filter(({ kind }) => kind === 'turn.started')).toHaveLength(3);
    // Another process may answer at once.
    expect(claimIn(world.directory)).toBeNull();
    await world.restart();
    await world.settled();
    expect(world.texts()).toEqual(['Answer 5']);
  });

  it('is answered by the next process after a kill', async () => {
    await using world = await storm(4);
    await world.say('What is it?', { id: 'm1' });
    await until(() => world.calledAt.length === 3);
    await world.crash();
    await world.settled();
    expect(world.texts()).toEqual(['Answer 5']);
  });
});

it('the pause doubles up to half a minute', () => {
  const pauses = Array.from({ length: 10 }, (_, restarts) => restartPauseMs(restarts));
  expect(pauses).toEqual([0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});
