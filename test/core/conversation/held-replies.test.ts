import { beforeEach, describe, expect, test } from 'vitest';
import { type ConversationKey, makeKey } from '../../../src/adapter-kit.ts';
import { createHeldReplies, type HeldReplies } from '../../../src/conversation/posts/held-replies.ts';
import { type TestClock, testClock } from '../compaction/compaction.world.ts';

const key = (channel: string) => makeKey({ platform: 'test', workspace: 'here', channel });
const [ONE, TWO] = [key('one'), key('two')];
const all = () => true;

describe('an owed reply', () => {
  let clock: TestClock;
  let freed: ConversationKey[];
  let held: HeldReplies;
  beforeEach(() => {
    clock = testClock();
    freed = [];
    held = createHeldReplies(clock, (conversation) => void freed.push(conversation));
  });

  test('waits only where its channel catches up', () => {
    held.hold((conversation) => conversation === ONE);
    expect([ONE, TWO].map(held.holds)).toEqual([true, false]);
  });

  test('is free once its changes are applied', () => {
    const catching = held.hold(all);
    expect([ONE, TWO].map(held.holds)).toEqual([true, true]);
    catching.applied(ONE);
    expect(freed).toEqual([ONE]);
    expect([ONE, TWO].map(held.holds)).toEqual([false, true]);
    catching.end();
    expect(freed).toEqual([ONE, TWO]);
  });

  test('waits until every channel that reads it is done', () => {
    const [first, second] = [held.hold(all), held.hold(all)];
    held.holds(ONE);
    first.end();
    expect(freed).toEqual([]);
    second.applied(ONE);
    expect(freed).toEqual([ONE]);
  });

  test('waits a minute at most', async () => {
    held.hold(all);
    await clock.advance(59_000);
    expect(held.holds(ONE)).toBe(true);
    await clock.advance(1_000);
    expect(held.holds(ONE)).toBe(false);
  });

  test('frees its post with its changes, or after a minute', async () => {
    const catching = held.hold(all);
    const free: ConversationKey[] = [];
    const { signal } = new AbortController();
    const waits = [ONE, TWO].map(async (conversation) => {
      await held.freed(conversation, signal);
      free.push(conversation);
    });
    await clock.advance(1_000);
    expect(free).toEqual([]);
    catching.applied(ONE);
    await clock.advance(1_000);
    expect(free).toEqual([ONE]);
    await clock.advance(60_000);
    await Promise.all(waits);
    expect(free).toEqual([ONE, TWO]);
  });
});
