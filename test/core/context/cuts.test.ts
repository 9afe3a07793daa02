import { describe, expect, it } from 'vitest';
import { planCompaction, planEmergency } from '../../../src/context/cuts/depth.ts';
import { isDue } from '../../../src/context/cuts/due.ts';
import { planCondense, planCut } from '../../../src/context/cuts/plan.ts';
import { canCondense, placeReady } from '../../../src/context/cuts/ready.ts';
import { cutPoints, cutPointsOf } from '../../../src/context/view/order.ts';
import { bot, calls, conversation, profile, results, snapshot, summary, user } from '../../fixtures/context.ts';

const quiet = conversation();

/** Answered messages of one size. */
function answered(count: number, tokens: number) {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? user(index + 1, 'word', { tokens }) : { ...bot(index + 1, index), tokens },
  );
}

describe('a cut', () => {
  it('may remove what is answered, though it once waited', () => {
    const tail = [user(1), bot(2, 1), user(3), bot(4, 3), user(5)];
    const limits = conversation({ replyDueFrom: 1, replyDueSeq: 5, answeredUpto: 4 });
    expect(cutPoints(tail, limits).map(({ toSeq }) => toSeq)).toEqual([2, 4]);
  });

  it('of a request keeps the message that its turn reads', () => {
    const view = snapshot([user(1), bot(2, 1), user(3), user(4), user(5)]);
    const points = cutPointsOf({ snapshot: view, readUpto: 3, profile: profile() }, 1);
    expect(points.map(({ toSeq }) => toSeq)).toEqual([2]);
  });

  it('counts messages that are not loaded in its share', () => {
    const omitted = { entries: 2, tokens: 200 };
    expect(planCut(answered(10, 100), { ...quiet, fraction: 0.6, omitted })?.tokens).toBe(800);
  });

  it('of exactly the least size is one', () => {
    const tail = answered(4, 100);
    expect(planCut(tail, { ...quiet, fraction: 0.1, minTokens: 200 })?.tokens).toBe(200);
    expect(planCut(tail, { ...quiet, fraction: 0.1, minTokens: 201 })).toBeNull();
  });

  it('is the cleaner, then the later, of equally near ones', () => {
    const sized = (seq: number, tokens: number) => user(seq, 'word', { tokens });
    const mixed = [
      sized(1, 25),
      { ...bot(2, 1), tokens: 25 },
      sized(3, 300),
      sized(4, 100),
      { ...bot(5, 3), tokens: 100 },
      sized(6, 100),
    ];
    expect(planCut(mixed, { ...quiet, fraction: 0, atLeastTokens: 200 })).toMatchObject({ toSeq: 2, clean: true });
    const alike = [sized(1, 100), sized(2, 100), sized(3, 100), { ...bot(4, 1), tokens: 500 }, sized(5, 100)];
    expect(planCut(alike, { ...quiet, fraction: 0, atLeastTokens: 150 })).toMatchObject({ toSeq: 2, clean: false });
  });

  it('in an emergency frees enough at once, if any does', () => {
    const tail = [
      ...answered(10, 100),
      user(11, 'word', { tokens: 5000 }),
      { ...bot(12, 11), tokens: 100 },
      user(13, 'word', { tokens: 100 }),
    ];
    const plain = profile({ windowTokens: 10_000 });
    const cut = (usedTokens: number, correction = 1) =>
      planEmergency(snapshot(tail), quiet, { profile: plain, usedTokens, correction })?.tokens;
    expect([cut(9600), cut(12_000), cut(12_000, 3)]).toEqual([1000, 6100, 1000]);
  });
});

describe('the depth of a compaction', () => {
  const plain = profile({ windowTokens: 10_000 });
  const view = snapshot(answered(80, 100));
  const depth = (usedTokens: number, correction = 1, fields: Parameters<typeof profile>[0] = {}) =>
    planCompaction(view, quiet, {
      profile: { ...plain, ...fields },
      pressure: { tier: 'background', usedTokens, correction },
    })?.tokens;

  it('converts real tokens into estimated ones', () => {
    const targets = { background: 0.52, aggressive: null, emergency: null };
    expect([depth(8000, 1, { targets }), depth(8000, 2, { targets })]).toEqual([4000, 2000]);
    expect([depth(9000), depth(9000, 2)]).toEqual([2800, 2400]);
  });

  it('is limited far above the emergency threshold', () => {
    expect(depth(20_000)).toBe(3400);
  });

  it('is worth a call in a small window', () => {
    const small = snapshot(answered(20, 40));
    const pressure = { tier: 'background', usedTokens: 1600, correction: 1 } as const;
    expect(planCompaction(small, quiet, { profile: profile({ windowTokens: 2000 }), pressure })?.tokens).toBe(320);
  });

  it('counts messages that are not loaded, and no calls', () => {
    const unread = { ...view, omitted: { entries: 20, tokens: 2000 } };
    expect(isDue({ ...plain, messageThreshold: 100 }, unread, 0)).toBe(true);
    expect(isDue({ ...plain, messageThreshold: 101 }, unread, 0)).toBe(false);
    const busy = [...answered(80, 100), user(81), calls(82, 81, ['a']), results(83, 81, ['a']), bot(84, 81), user(85)];
    expect(isDue({ ...plain, messageThreshold: 83 }, snapshot(busy), 0)).toBe(true);
    expect(isDue({ ...plain, messageThreshold: 84 }, snapshot(busy), 0)).toBe(false);
  });
});

it('a stale summary is due in any view', () => {
  const stack = (stale: boolean) => [summary({ fromSeq: 1, toSeq: 3, stale })];
  const due = (stale: boolean) => isDue(profile(), snapshot([user(4)], {}, stack(stale)), 0);
  expect([due(true), due(false)]).toEqual([true, false]);
});

describe('a condensed summary', () => {
  const [first, second] = [summary({ fromSeq: 1, toSeq: 3 }), summary({ fromSeq: 4, toSeq: 6 })];
  const condensed = summary({ fromSeq: 1, toSeq: 6, level: 1 });

  it('has a higher level than each of its parts', () => {
    const levels = [1, 2, 0];
    const stack = levels.map((level, at) => summary({ fromSeq: at * 9 + 1, toSeq: at * 9 + 9, level, tokens: 100 }));
    const budget = { share: 0.15, windowTokens: 1000, correction: 1 };
    expect(planCondense(stack, budget)).toMatchObject({ level: 3, fromSeq: 1, toSeq: 27 });
    expect(canCondense([first, second], condensed)).toBe(true);
    expect(canCondense([first, { ...second, level: 1 }], condensed)).toBe(false);
  });

  it('that is ready has no place once parts have changed', () => {
    const state = conversation({ compactedUpto: 6, nextSeq: 9 });
    expect(canCondense([first], condensed)).toBe(false);
    const placed = (live: Parameters<typeof placeReady>[1]) => placeReady(state, live, [condensed]).stack;
    expect(placed([first, second])).toEqual([condensed]);
    for (const other of [{ ...second, stale: true }, { ...second, kind: 'gap' } as const]) {
      expect(placed([first, other])).toEqual([first, other]);
    }
  });

  it('that is ready is placed after its ready parts', () => {
    const state = conversation({ compactedUpto: 3, nextSeq: 9 });
    expect(placeReady(state, [first], [condensed, second]).placed).toEqual([second, condensed]);
  });
});
