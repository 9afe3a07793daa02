import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planEmergency } from '../../../src/context/cuts/depth.ts';
import { planCondense, planCut } from '../../../src/context/cuts/plan.ts';
import { cutPoints, firstWaiting, viewKey, viewOrder } from '../../../src/context/view/order.ts';
import type { Entry } from '../../../src/domain/message.ts';
import {
  bot,
  calls,
  conversation,
  entry,
  profile,
  results,
  snapshot,
  stories,
  summary,
  user,
} from '../../fixtures/context.ts';

const quiet = conversation();
const pressed = { profile: profile(), usedTokens: 0, correction: 1 };

function owing(from: number, due = from) {
  return conversation({ replyDueFrom: from, replyDueSeq: due, answeredUpto: from - 1 });
}

describe('the order of the view', () => {
  it('puts a message from a running turn after its reply', () => {
    const tail = [user(1), user(2), bot(3, 1), user(4)];
    expect(viewOrder(tail, 4).map(({ seq }) => seq)).toEqual([1, 3, 2, 4]);
  });

  // Shows: O24
  it('hides what a turn has not read, not earlier replies', () => {
    const tail = [user(1), user(2), bot(3, 1), user(4)];
    expect(viewOrder(tail, 2).map(({ seq }) => seq)).toEqual([1, 3, 2]);
  });

  it('never shows notices', () => {
    expect(viewOrder([user(1), entry({ seq: 2, role: 'notice', turn: 1 })], 9).map(({ seq }) => seq)).toEqual([1]);
  });

  it('keeps the rounds of a turn together whatever arrives', () => {
    const tail = [user(1), user(2), calls(3, 1, ['a', 'b']), results(4, 1, ['a', 'b']), bot(5, 1), bot(6, 2)];
    expect(viewOrder(tail, 6).map(({ seq }) => seq)).toEqual([1, 3, 4, 5, 2, 6]);
  });
});

describe('places to cut', () => {
  const seqs = (tail: readonly Entry[], limits = quiet) => cutPoints(tail, limits).map(({ toSeq }) => toSeq);

  // Shows: P9, T1
  it('an empty tail, one message or one turn has none', () => {
    expect(seqs([])).toEqual([]);
    expect(seqs([user(1)])).toEqual([]);
    expect(seqs([user(1), calls(2, 1, ['a']), results(3, 1, ['a']), bot(4, 1)])).toEqual([]);
  });

  // Shows: P7
  it('lie at ends of turns and between people’s messages', () => {
    const tail = [user(1), bot(2, 1), user(3), user(4), bot(5, 4), user(6), bot(7, 6)];
    expect(cutPoints(tail, quiet).map(({ toSeq, clean }) => [toSeq, clean])).toEqual([
      [2, true],
      [3, true],
      [5, true],
    ]);
  });

  it('are second choice where a later reply belongs before them', () => {
    const tail = [user(1), user(2), bot(3, 1), user(4), bot(5, 2), user(6)];
    expect(cutPoints(tail, quiet).map(({ toSeq, clean }) => [toSeq, clean])).toEqual([
      [1, false],
      [3, false],
      [5, true],
    ]);
  });

  // Shows: B5, P8
  it('never lie inside a round of parallel or repeated calls', () => {
    const round = (seq: number, turn: number) => [
      calls(seq, turn, ['a', 'b', 'c']),
      results(seq + 1, turn, ['a', 'b', 'c']),
    ];
    const tail = [user(1), ...round(2, 1), ...round(4, 1), bot(6, 1), user(7), ...round(8, 7), bot(10, 7), user(11)];
    expect(seqs(tail)).toEqual([6, 10]);
  });

  // Shows: Q13
  it('never part a call from its late result', () => {
    const late = { ...results(4, 0, ['a']), turn: null };
    expect(seqs([user(1), calls(2, 1, ['a']), user(3), late, bot(5, 4), user(6)])).toEqual([5]);
  });

  it('survive a call that never got a result', () => {
    const tail = [user(1), calls(2, 1, ['lost']), bot(3, 1), user(4), bot(5, 4), user(6)];
    expect(seqs(tail)).toEqual([3, 5]);
  });

  it('never lie after the first message that waits', () => {
    const tail = [user(1), bot(2, 1), user(3), user(4), user(5)];
    expect(seqs(tail, owing(3, 5))).toEqual([2]);
  });

  it('lie between unanswered messages when only a later one asked', () => {
    const tail = [user(1), user(2), user(3), user(4)];
    expect(seqs(tail, conversation({ replyDueFrom: 4, replyDueSeq: 4 }))).toEqual([1, 2, 3]);
  });

  // Shows: P12
  it('keep the newest message that the running turn reads', () => {
    const tail = [user(1), bot(2, 1), user(3), user(4), user(5)];
    expect(cutPoints(tail, { ...quiet, readUpto: 3 }).map(({ toSeq }) => toSeq)).toEqual([2]);
  });

  it('keep the last thing that a bot among itself wrote', () => {
    expect(seqs([bot(1, 0), bot(2, 1), bot(3, 2)])).toEqual([1, 2]);
  });

  it('count entries that a snapshot left out', () => {
    const points = cutPoints([user(101), user(102)], quiet, { entries: 100, tokens: 1000 });
    expect(points[0]).toMatchObject({ toSeq: 100, entries: 100, tokens: 1000 });
  });

  // Shows: A21, R11
  it('keep groups, waiting people and the newest ask whole', () => {
    fc.assert(
      fc.property(stories, ({ tail, conversation: limits }) => {
        for (const { toSeq, clean, entries, tokens } of cutPoints(tail, limits)) {
          const [gone, kept] = [tail.filter(({ seq }) => seq <= toSeq), tail.filter(({ seq }) => seq > toSeq)];
          expect(gone.length).toBe(entries);
          expect(gone.reduce((sum, one) => sum + one.tokens, 0)).toBe(tokens);
          expect(kept[0]?.role).not.toBe('tool');
          expect(toSeq).toBeLessThan(firstWaiting(limits));
          const newest = tail.findLast(({ role }) => role === 'user');
          if (newest) expect(kept).toContain(newest);
          if (clean)
            expect(kept.some(({ role, turn }) => role !== 'user' && turn !== null && turn <= toSeq)).toBe(false);
          else expect(kept[0]?.role === 'user' || gone.at(-1)?.role === 'assistant').toBe(true);
        }
      }),
    );
  });

  // Shows: Q3
  it('keep the view of what stays in its order', () => {
    fc.assert(
      fc.property(stories, ({ tail, conversation: limits }) => {
        const whole = viewOrder(tail, limits.nextSeq).map(viewKey);
        expect(whole).toEqual(whole.toSorted((a, b) => a - b));
        for (const { toSeq } of cutPoints(tail, limits)) {
          const kept = viewOrder(
            tail.filter(({ seq }) => seq > toSeq),
            limits.nextSeq,
          );
          expect(kept).toEqual(viewOrder(tail, limits.nextSeq).filter(({ seq }) => seq > toSeq));
        }
      }),
    );
  });
});

describe('planning a cut', () => {
  const turns = (count: number) =>
    Array.from({ length: count }, (_, index) => [user(index * 2 + 1), bot(index * 2 + 2, index * 2 + 1)]).flat();

  // Shows: O19
  it('takes about the wanted share, at a turn’s end', () => {
    const tail = turns(20);
    const total = tail.reduce((sum, { tokens }) => sum + tokens, 0);
    for (const fraction of [0.3, 0.5]) {
      const cut = planCut(tail, { ...quiet, fraction });
      expect(cut?.clean).toBe(true);
      expect((cut?.tokens ?? 0) / total).toBeCloseTo(fraction, 1);
      expect(cut?.fromSeq).toBe(1);
    }
  });

  // Shows: P10
  it('counts tokens, not messages', () => {
    const tail = [
      user(1, 'long '.repeat(2000)),
      bot(2, 1),
      ...turns(20).map((one) => ({ ...one, seq: one.seq + 2, turn: one.turn === null ? null : one.turn + 2 })),
    ];
    expect(planCut(tail, { ...quiet, fraction: 0.3 })?.toSeq).toBe(2);
  });

  // Shows: T4
  it('takes a whole turn even if far more than wanted', () => {
    const tail = [user(1, 'long '.repeat(2000)), bot(2, 1), user(3)];
    expect(planCut(tail, { ...quiet, fraction: 0.3 })).toMatchObject({ fromSeq: 1, toSeq: 2, entries: 2 });
  });

  it('cuts between people’s messages in an observed channel', () => {
    const tail = Array.from({ length: 300 }, (_, index) => user(index + 1, 'so it is'));
    const cut = planCut(tail, { ...quiet, fraction: 0.3 });
    expect(cut?.entries).toBe(90);
  });

  it('cuts a burst of people that one reply answered', () => {
    const tail = [...Array.from({ length: 100 }, (_, index) => user(index + 1, 'so it is')), bot(101, 100, 'so it is')];
    expect(planCut(tail, { ...quiet, fraction: 0.5 })).toMatchObject({ clean: true });
    expect(planCut(tail, { ...quiet, fraction: 0.5 })?.entries).toBe(51);
  });

  it('cuts a channel in which every turn is interrupted', () => {
    const tail = [user(1), user(2), bot(3, 1)];
    for (let seq = 4; seq < 60; seq += 2) tail.push(user(seq), bot(seq + 1, seq - 2));
    const cut = planCut(tail, { ...quiet, fraction: 0.5 });
    expect(cut?.entries).toBeGreaterThan(20);
    expect(cut?.entries).toBeLessThan(40);
  });

  it('gives null when nothing may leave', () => {
    expect(planCut([user(1)], { ...quiet, fraction: 0.5 })).toBeNull();
    expect(planEmergency(snapshot([user(1), bot(2, 1)]), quiet, pressed)).toBeNull();
    expect(planEmergency(snapshot([]), quiet, pressed)).toBeNull();
  });

  it('starts where the snapshot’s tail really starts', () => {
    const cut = planEmergency(
      { ...snapshot([user(101), user(102)]), omitted: { entries: 100, tokens: 5000 } },
      quiet,
      pressed,
    );
    expect(cut).toMatchObject({ fromSeq: 1, toSeq: 100, entries: 100 });
  });

  // Shows: T3
  it('progresses whenever a legal cut exists, splitting the tail exactly', () => {
    fc.assert(
      fc.property(stories, fc.constantFrom(0.3, 0.5), ({ tail, conversation: limits }, fraction) => {
        const cut = planCut(tail, { ...limits, fraction });
        const points = cutPoints(tail, limits);
        expect(cut === null).toBe(points.length === 0);
        if (cut === null) return;
        expect(points.map(({ toSeq }) => toSeq)).toContain(cut.toSeq);
        expect(cut.entries).toBe(cut.toSeq - cut.fromSeq + 1);
        expect(cut.entries).toBeGreaterThan(0);
        expect(cut.entries).toBeLessThan(tail.length);
      }),
    );
  });

  it('repeated emergencies end at the newest ask and its neighbours', () => {
    fc.assert(
      fc.property(stories, ({ tail, conversation: limits }) => {
        let rest = tail;
        for (let round = 0; round < tail.length; round += 1) {
          const cut = planEmergency(snapshot(rest), limits, pressed);
          if (cut === null) break;
          rest = rest.filter(({ seq }) => seq > cut.toSeq);
        }
        expect(planEmergency(snapshot(rest), limits, pressed)).toBeNull();
        expect(rest.at(-1)).toBe(tail.at(-1));
      }),
    );
  });
});

describe('condensing the stack', () => {
  const budget = { share: 0.15, windowTokens: 1000, correction: 1 };
  const run = (levels: readonly number[], tokens = 100) =>
    levels.map((level, index) => summary({ fromSeq: index * 10 + 1, toSeq: index * 10 + 10, level, tokens }));

  it('does nothing while the stack keeps to its share', () => {
    expect(planCondense(run([0], 150), budget)).toBeNull();
    expect(planCondense(run([0, 0], 75), budget)).toBeNull();
  });

  it('takes the oldest run of one level, at most four', () => {
    expect(planCondense(run([0, 0, 0, 0, 0, 0]), budget)).toMatchObject({ level: 1, fromSeq: 1, toSeq: 40 });
    expect(planCondense(run([1, 0, 0, 0]), budget)).toMatchObject({ level: 1, fromSeq: 11, toSeq: 40 });
    expect(planCondense(run([2, 1, 1, 0]), budget)).toMatchObject({ level: 2, fromSeq: 11, toSeq: 30 });
  });

  it('prefers a long young run to a short old one', () => {
    expect(planCondense(run([1, 1, 0, 0, 0, 0]), budget)).toMatchObject({ level: 1, fromSeq: 21, toSeq: 60 });
  });

  it('leaves gaps and stale summaries alone', () => {
    const [a, gap, b, c] = [
      summary({ fromSeq: 1, toSeq: 10, tokens: 100 }),
      summary({ fromSeq: 11, toSeq: 20, kind: 'gap', tokens: 0 }),
      summary({ fromSeq: 21, toSeq: 30, tokens: 100, stale: true }),
      summary({ fromSeq: 31, toSeq: 40, tokens: 100 }),
    ];
    expect(planCondense([a, gap, b, c], budget)).toBeNull();
    expect(planCondense([a, gap, { ...b, stale: false }, c], budget)).toMatchObject({ fromSeq: 21, toSeq: 40 });
  });

  it('takes the lowest neighbours when every level stands alone', () => {
    expect(planCondense(run([3, 2, 1, 0]), budget)).toMatchObject({ level: 3, fromSeq: 11, toSeq: 40 });
    expect(planCondense(run([3, 2, 1, 0], 55), budget)).toBeNull();
  });

  it('takes the longest of equally low neighbours', () => {
    const levels = [1, 0, null, 1, 0, 1];
    const stack = levels.map((level, index) =>
      summary({
        fromSeq: index * 10 + 1,
        toSeq: index * 10 + 10,
        tokens: 100,
        ...(level === null ? { kind: 'gap' as const } : { level }),
      }),
    );
    expect(planCondense(stack, budget)).toMatchObject({ level: 2, fromSeq: 31, toSeq: 60 });
  });

  it('reckons with the learned ratio', () => {
    expect(planCondense(run([0, 0], 70), budget)).toBeNull();
    expect(planCondense(run([0, 0], 70), { ...budget, correction: 1.2 })).not.toBeNull();
  });
});
