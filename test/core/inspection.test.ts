import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SummaryId } from '../../src/domain/message.ts';
import { growthPerEntry, momentsOf, sampled } from '../../src/inspection/history.ts';
import type { LayerSpan } from '../../src/inspection/layers.ts';
import { traceSentences } from '../../src/inspection/trace.ts';

const entries = Array.from({ length: 10 }, (_, index) => ({
  ...{ seq: index + 1, at: (index + 1) * 1000, tokens: 100, role: 'user' as const },
}));
const layer = (given: Partial<LayerSpan>): LayerSpan => ({
  ...{ id: 's1' as SummaryId, kind: 'summary', level: 0, fromSeq: 1, toSeq: 4, tokens: 50, stale: false },
  ...{ createdAt: 5500, leftAt: null },
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
