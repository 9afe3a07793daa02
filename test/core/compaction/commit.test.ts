import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Summary, SummaryId } from '../../../src/adapter-kit.ts';
import { canRecondense, planCompactionCommit } from '../../../src/compaction/job/commit.ts';

type Kind = 'summary' | 'stale' | 'gap' | 'condensed';

/** A stack from seq 1 on: each item by its kind and its length. */
function stackOf(items: readonly (readonly [Kind, number])[]) {
  let next = 1;
  const live = items.map(([kind, length], index): Summary => {
    const fromSeq = next;
    next += length;
    return {
      id: `s${index}` as SummaryId,
      conversationId: 1,
      level: kind === 'condensed' ? 1 : 0,
      kind: kind === 'gap' ? 'gap' : 'summary',
      fromSeq,
      toSeq: next - 1,
      text: '',
      tokens: 0,
      model: null,
      promptHash: null,
      stale: kind === 'stale',
      supersededBy: null,
      createdAt: 0,
      lost: {},
    };
  });
  return { live, state: { compactedUpto: next - 1, contextFrom: 1, nextSeq: next + 10 } };
}

const plan = (items: readonly (readonly [Kind, number])[], fromSeq: number, toSeq: number) => {
  const { live, state } = stackOf(items);
  return planCompactionCommit(state, live, { fromSeq, toSeq });
};

describe('where a summary is committed', () => {
  it('goes on the stack when it starts right after it', () => {
    expect(plan([], 1, 4)).toEqual({ kind: 'append', compactedUpto: 4 });
    expect(plan([['summary', 3]], 4, 9)).toEqual({ kind: 'append', compactedUpto: 9 });
  });

  it('fills the head of a gap and leaves the rest', () => {
    expect(
      plan(
        [
          ['summary', 2],
          ['gap', 5],
        ],
        3,
        4,
      ),
    ).toEqual({
      kind: 'fill',
      replaces: [],
      remainder: { id: 's1', fromSeq: 5, toSeq: 7 },
      compactedUpto: 7,
    });
  });

  it('replaces a whole gap or a stale summary', () => {
    for (const kind of ['gap', 'stale'] as const) {
      expect(
        plan(
          [
            ['summary', 2],
            [kind, 3],
            ['summary', 2],
          ],
          3,
          5,
        ),
      ).toEqual({
        kind: 'fill',
        replaces: ['s1'],
        remainder: null,
        compactedUpto: 7,
      });
    }
  });

  it('covers several gaps, cuts the last or passes the stack', () => {
    expect(
      plan(
        [
          ['gap', 2],
          ['gap', 3],
        ],
        1,
        3,
      ),
    ).toEqual({
      kind: 'fill',
      replaces: ['s0'],
      remainder: { id: 's1', fromSeq: 4, toSeq: 5 },
      compactedUpto: 5,
    });
    expect(
      plan(
        [
          ['gap', 2],
          ['stale', 3],
        ],
        1,
        8,
      ),
    ).toEqual({
      kind: 'fill',
      replaces: ['s0', 's1'],
      remainder: null,
      compactedUpto: 8,
    });
  });

  it.each([
    ['a good summary', [['summary', 3]], 1, 3],
    [
      'a good summary beyond a gap',
      [
        ['gap', 2],
        ['summary', 3],
      ],
      1,
      5,
    ],
    ['a condensed one', [['condensed', 4]], 1, 4],
    ['the middle of a gap', [['gap', 5]], 2, 5],
    ['entries that do not exist', [['summary', 3]], 4, 99],
    ['a range that leaves a hole', [['summary', 3]], 5, 6],
    ['an empty range', [['summary', 3]], 4, 3],
    ['entries before the context', [], 0, 3],
  ] as const)('never replaces %s', (_, items, fromSeq, toSeq) => {
    expect(plan(items, fromSeq, toSeq)).toEqual({ kind: 'stale' });
  });

  it('replaces a valid summary only by its name and range', () => {
    const { live, state } = stackOf([
      ['summary', 3],
      ['summary', 2],
      ['stale', 2],
      ['condensed', 4],
      ['gap', 2],
    ]);
    const rewrite = (index: number, range: Partial<{ fromSeq: number; toSeq: number }> = {}) => {
      const { id, fromSeq = 0, toSeq = 0 } = live[index] ?? {};
      return planCompactionCommit(state, live, { fromSeq, toSeq, ...range, rewrites: id ?? null });
    };
    expect(rewrite(1)).toEqual({ kind: 'fill', replaces: ['s1'], remainder: null, compactedUpto: 13 });
    for (const index of [2, 3, 4]) expect(rewrite(index), String(index)).toEqual({ kind: 'stale' });
    for (const range of [{ toSeq: 4 }, { toSeq: 7 }, { fromSeq: 1 }, { fromSeq: 5 }]) {
      expect(rewrite(1, range), JSON.stringify(range)).toEqual({ kind: 'stale' });
    }
  });

  it('replaces a condensed summary only from its parts', () => {
    const { live } = stackOf([
      ['summary', 2],
      ['condensed', 4],
    ]);
    const [, old] = live;
    if (old === undefined) throw new Error('no summary');
    const [one, two] = stackOf([
      ['summary', 2],
      ['summary', 1],
      ['summary', 3],
    ])
      .live.slice(1)
      .map((part) => ({ ...part, supersededBy: old.id }));
    if (one === undefined || two === undefined) throw new Error('no parts');
    const summary = { ...old, id: 'new' as SummaryId };
    const commit = { summary, childIds: [one.id, two.id], rewrites: old.id };
    const decide = (over: Partial<typeof commit>, parts = [one, two], stack = live) =>
      canRecondense(stack, parts, { ...commit, ...over });
    expect(decide({})).toBe(true);
    expect(decide({ childIds: [one.id] })).toBe(false);
    expect(decide({ childIds: [one.id, two.id, old.id] })).toBe(false);
    expect(decide({ rewrites: 'other' as SummaryId })).toBe(false);
    expect(decide({ summary: { ...summary, level: 2 } })).toBe(false);
    expect(decide({ summary: { ...summary, toSeq: 5 } })).toBe(false);
    for (const parts of [[], [one], [two], [one, { ...two, stale: true }], [one, { ...two, kind: 'gap' as const }]]) {
      expect(decide({}, parts)).toBe(false);
    }
    for (const change of [{ stale: true }, { kind: 'gap' as const }, { supersededBy: 'x' as SummaryId }]) {
      expect(decide({}, [one, two], [{ ...old, ...change }])).toBe(false);
    }
  });

  it('leaves a whole stack behind, whatever comes', () => {
    const kinds = fc.constantFrom<Kind>('summary', 'stale', 'gap', 'condensed');
    const stacks = fc.array(fc.tuple(kinds, fc.integer({ min: 1, max: 5 })), { maxLength: 8 });
    fc.assert(
      fc.property(stacks, fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }), (items, fromSeq, toSeq) => {
        const { live, state } = stackOf(items);
        const decided = planCompactionCommit(state, live, { fromSeq, toSeq });
        if (decided.kind === 'stale') return;
        const kept =
          decided.kind === 'append'
            ? live
            : live
                .filter((item) => !decided.replaces.includes(item.id))
                .map((item) => (item.id === decided.remainder?.id ? { ...item, ...decided.remainder } : item));
        const ranges = [...kept, { fromSeq, toSeq }].toSorted((a, b) => a.fromSeq - b.fromSeq);
        let next = 1;
        for (const range of ranges) {
          expect(range.fromSeq).toBe(next);
          next = range.toSeq + 1;
        }
        expect(decided.compactedUpto).toBe(next - 1);
        expect(next).toBeLessThanOrEqual(state.nextSeq);
      }),
    );
  });
});
