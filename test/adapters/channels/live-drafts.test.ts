import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLiveDrafts, type DraftChange } from '../../../adapters/channels/shared/live-drafts.ts';
import { type ConversationKey, createSystemClock, silentLog } from '../../../src/adapter-kit.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const here = 'slack:T1:C1' as ConversationKey;
const SECOND_MS = 1000;

type Write = (text: string, change: DraftChange<string[]>) => Promise<boolean>;

function open(write: Write = async () => true) {
  const context = { settings: { streaming: true, streaming_seconds: 1 }, clock: createSystemClock(), log: silentLog };
  return createLiveDrafts<string[]>(context, {
    begin: () => [],
    textOf: (answer) => answer.trim(),
    write: async (change) => {
      const isShown = await write(change.text, change);
      if (isShown) change.shown.push(change.text);
      return isShown;
    },
  });
}

test('a draft shows its newest text at intervals', async () => {
  const drafts = open();
  drafts.show(here, 'one');
  drafts.show(here, 'one two');
  await vi.advanceTimersByTimeAsync(SECOND_MS);
  drafts.show(here, 'one two three');
  drafts.show(here, 'one two three four ');
  await vi.advanceTimersByTimeAsync(SECOND_MS);
  drafts.show(here, 'one two three four five');
  expect(await drafts.end(here)).toEqual(['one two', 'one two three four']);
  expect(await drafts.end(here)).toBeNull();
});

test('a draft repeats what could not be shown', async () => {
  const tried: string[] = [];
  const drafts = open(async (text, { before }) => {
    tried.push(`${before}|${text}`);
    if (tried.length === 2) throw new Error('the platform is gone');
    return tried.length > 2;
  });
  drafts.show(here, 'one');
  await vi.advanceTimersByTimeAsync(3 * SECOND_MS);
  expect(tried).toEqual(['|one', '|one']);
  drafts.show(here, 'one two');
  await vi.advanceTimersByTimeAsync(SECOND_MS);
  drafts.show(here, 'one two three');
  await vi.advanceTimersByTimeAsync(SECOND_MS);
  expect(tried.slice(2)).toEqual(['|one two', 'one two|one two three']);
});

test('a draft ends after the change on its way', async () => {
  const sending = Promise.withResolvers<boolean>();
  const drafts = open(async (_, { signal }) => {
    const isShown = await sending.promise;
    expect(signal.aborted).toBe(true);
    return isShown;
  });
  drafts.show(here, 'one');
  await vi.advanceTimersByTimeAsync(SECOND_MS);
  let ended: readonly string[] | null = null;
  const ending = drafts.end(here).then((shown) => {
    ended = shown;
  });
  await vi.advanceTimersByTimeAsync(SECOND_MS);
  expect(ended).toBeNull();
  expect(drafts.has(here)).toBe(false);
  sending.resolve(true);
  await ending;
  expect(ended).toEqual(['one']);
});
