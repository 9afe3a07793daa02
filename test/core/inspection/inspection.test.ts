import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_REDUCTION } from '../../../src/context/view/reduce.ts';
import type { SummaryId } from '../../../src/domain/message.ts';
import { growthPerEntry, momentsOf, sampled } from '../../../src/inspection/history/history.ts';
import type { LayerSpan } from '../../../src/inspection/history/layers.ts';
import { type TurnFacts, turnsOf } from '../../../src/inspection/history/turns.ts';
import { traceSentences } from '../../../src/inspection/summaries/trace.ts';

const entries = Array.from({ length: 10 }, (_, index) => ({
  seq: index + 1,
  at: (index + 1) * 1000,
  tokens: 100,
  role: 'user' as const,
}));
const layer = (given: Partial<LayerSpan>): LayerSpan => ({
  id: 's1' as SummaryId,
  kind: 'summary',
  level: 0,
  fromSeq: 1,
  toSeq: 4,
  tokens: 50,
  stale: false,
  createdAt: 5500,
  leftAt: null,
  since: given.createdAt ?? 5500,
  ...given,
});
const measurement = { fixed: 200, reserve: 100, window: 2000 };
const input = { entries, measurement, correction: 1, contextFrom: 1 };

describe('the view of a past moment', () => {
  it('counts a layer from its creation on', () => {
    const moments = momentsOf({ ...input, layers: [layer({})] });
    expect(moments[4]).toMatchObject({ stack: 0, tail: 500, tailFrom: 1, used: 800 });
    expect(moments[5]).toMatchObject({ stack: 50, tail: 200, tailFrom: 5, used: 550 });
  });

  it('counts a rewritten layer from its first text on', () => {
    const moments = momentsOf({ ...input, layers: [layer({ createdAt: 9500, since: 5500 })] });
    expect(moments[4]).toMatchObject({ stack: 0, tail: 500 });
    expect(moments[5]).toMatchObject({ stack: 50, tail: 200 });
  });

  it('counts no layer that a higher one replaced', () => {
    const parts = [
      layer({ leftAt: 8500 }),
      layer({ id: 's2' as SummaryId, fromSeq: 5, toSeq: 6, createdAt: 7500, leftAt: 8500 }),
    ];
    const whole = layer({ id: 's3' as SummaryId, level: 1, toSeq: 6, tokens: 30, createdAt: 8500 });
    const moments = momentsOf({ ...input, layers: [whole, ...parts] });
    expect(moments[7]).toMatchObject({ stack: 100, tailFrom: 7, layerIds: ['s1', 's2'] });
    expect(moments[8]).toMatchObject({ stack: 30, tailFrom: 7, layerIds: ['s3'] });
  });

  it('never exceeds the window, and starts at a reset', () => {
    const huge = entries.map((entry) => ({ ...entry, tokens: 5000 }));
    const seen = momentsOf({ ...input, entries: huge, layers: [] });
    expect(Math.max(...seen.map(({ used }) => used))).toBe(2000);
    expect(momentsOf({ ...input, contextFrom: 8, layers: [] }).at(-1)).toMatchObject({ tail: 300, tailFrom: 8 });
  });

  it('is sampled evenly, with the newest', () => {
    const moments = momentsOf({ ...input, layers: [] });
    expect(sampled(moments, 4).map(({ seq }) => seq)).toEqual([1, 4, 7, 10]);
    expect(sampled(moments, 20)).toBe(moments);
    expect(growthPerEntry(entries, 1.5)).toBe(150);
    expect(growthPerEntry([], 1)).toBe(0);
  });
});

describe('the sources of a sentence', () => {
  const sources = [
    'The door code is 4711, says Ada.',
    'It rained again.',
    'Lena lives in Lisbon since 2019.',
    'Please bring the ladder to the garden on Friday.',
  ];

  it('are the messages that say the same', () => {
    const traced = traceSentences(
      'Lena lives in Lisbon. The code of the door is 4711.\nNobody mentioned tigers.',
      sources,
    );
    expect(traced.map((line) => line.map(({ sources: from }) => from))).toEqual([[[2], [0]], [[]]]);
  });

  it('work for other languages', () => {
    const traced = traceSentences('莉娜住在里斯本。', ['今天下雨了。', '莉娜从二〇一九年起住在里斯本。']);
    expect(traced[0]?.[0]?.sources).toEqual([1]);
  });

  it('keep the text of the summary', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const lines = traceSentences(text, sources).map((line) => line.map((sentence) => sentence.text).join(''));
        expect(lines).toEqual(text.split('\n').filter((line) => line.trim() !== ''));
      }),
    );
  });
});

describe('consecutive requests', () => {
  const settings = {
    model: 'm',
    windowTokens: 1000,
    reserveTokens: 100,
    fixedTokens: 200,
    catalogue: 't',
    sections: [['persona', 'p1'] as const],
  };
  const note: TurnFacts['note'] = {
    profile: 'p',
    print: '',
    budgetTokens: 300,
    revision: 1,
    layers: [],
    fromSeq: 1,
    omitted: 0,
    sections: [],
    reduction: NO_REDUCTION,
    minute: 0,
    links: new Map(),
    steps: 0,
    opened: [],
    model: null,
    isAltered: false,
    change: null,
  };
  const fact = (seq: number, given: Partial<TurnFacts> = {}): TurnFacts => ({
    seq,
    turn: seq - 1,
    at: seq * 1000,
    note,
    settings,
    layers: [],
    recalledTokens: 5,
    ...given,
  });
  const one = { id: 'one', kind: 'summary' as const, from: 1, to: 4, level: 0, tokens: 40 };
  const two = { ...one, id: 'two', level: 1, tokens: 30 };
  const gap = { ...one, id: 'gap', kind: 'gap' as const, from: 5, to: 6 };
  const context = {
    tokensIn: (from: number, to: number) => Math.max(0, to - from + 1) * 10,
    isChanged: () => false,
    correction: 1,
    cacheMs: 60_000,
  };
  const causeAfter = (before: Partial<TurnFacts>, now: Partial<TurnFacts>, own: Partial<typeof context> = {}) =>
    turnsOf([fact(2, before), fact(4, now)], { ...context, ...own })[1]?.cause;

  it('reuse everything before the newest message', () => {
    const [first, second] = turnsOf([fact(2), fact(4)], context);
    expect(first).toMatchObject({ reused: 0, cause: null, tail: 10, recalled: 5, used: 315 });
    expect(second).toMatchObject({ reused: 200, cause: null, tail: 30 });
    expect(turnsOf([fact(2), fact(4), fact(6)], context)[2]).toMatchObject({ reused: 220, cause: null });
  });

  it('name what differs first', () => {
    expect(causeAfter({}, { at: 100_000 })).toBe('expired');
    expect(causeAfter({}, { note: { ...note, model: 'other' } })).toBe('model');
    expect(causeAfter({}, { note: { ...note, isAltered: true } })).toBe('hook');
    expect(causeAfter({}, { settings: { ...settings, catalogue: 'u' } })).toBe('tools');
    expect(causeAfter({}, { settings: { ...settings, sections: [['persona', 'p2']] } })).toBe('prompt');
    expect(causeAfter({}, { settings: { ...settings, sections: [...settings.sections, ['instructions', 'i']] } })).toBe(
      'instructions',
    );
    expect(causeAfter({}, { layers: [one] })).toBe('compaction');
    expect(causeAfter({ layers: [one] }, { layers: [two] })).toBe('condensing');
    expect(causeAfter({ layers: [one] }, { layers: [one, gap] })).toBe('gap');
    expect(causeAfter({ layers: [gap] }, { layers: [one] })).toBe('compaction');
    const deleted = { ...gap, from: one.from, to: one.to };
    expect(causeAfter({ layers: [one] }, { layers: [deleted] })).toBe('edit');
    expect(causeAfter({ layers: [one] }, { layers: [{ ...one, id: 'rewritten' }] })).toBe('edit');
    expect(causeAfter({ layers: [one] }, { note: { ...note, fromSeq: 3 } })).toBe('reset');
    expect(causeAfter({}, {}, { isChanged: () => true })).toBe('edit');
    expect(causeAfter({}, { note: { ...note, fromSeq: 2 }, layers: [] })).toBe('reset');
    expect(causeAfter({ layers: [one] }, { note: { ...note, fromSeq: 2 }, layers: [one] })).toBe('engine');
    const shorter = { ...NO_REDUCTION, stubs: 'old' as const };
    expect(causeAfter({}, { note: { ...note, reduction: shorter } })).toBe('shortened');
  });

  it('keep the layers before the first change', () => {
    const turns = turnsOf([fact(2, { layers: [one] }), fact(4, { layers: [one, gap] })], context);
    expect(turns[1]).toMatchObject({ reused: 240, stack: 80 });
  });
});
