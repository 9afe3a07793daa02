import { describe, expect, it } from 'vitest';
import { learn } from '../../../src/context/measure/calibration.ts';
import { grownBy, measure, withReported } from '../../../src/context/measure/meter.ts';
import { estimateBlock, estimateText } from '../../../src/context/measure/tokens.ts';
import { headWithin, shorten } from '../../../src/context/measure/truncate.ts';
import { repair } from '../../../src/context/view/repair.ts';
import { fitSections, uncutTokens } from '../../../src/context/view/sections.ts';
import { profile, section } from '../../fixtures/context.ts';

describe('a measurement', () => {
  const window = profile({ windowTokens: 1000, reserveTokens: 100 });
  const regions = { fixed: 100, stack: 100, tail: 499, volatile: 50 };

  it('has tiers without the sections for the newest message', () => {
    expect(measure(regions, window, 1)).toMatchObject({ used: 849, tier: 'none' });
    expect(measure({ ...regions, tail: 500 }, window, 1)).toMatchObject({ used: 850, tier: 'background' });
  });

  it('takes a count of the provider, but no missing one', () => {
    const measured = measure(regions, window, 1);
    expect(withReported(measured, 600, window)).toMatchObject({ used: 700, estimated: false });
    expect(withReported(measured, 0, window)).toBe(measured);
    expect(grownBy(measured, 51, window)).toMatchObject({ tail: 550, used: 900, tier: 'aggressive' });
  });
});

describe('the learned ratio', () => {
  const report = { model: 'm', estimated: 100, reported: 2500, revision: 1 };
  const known = { model: 'm', ratio: 1, samples: 5, lastInputTokens: 100, revision: 1 };

  it('limits each sample, and takes none from nothing', () => {
    expect(learn(known, report)?.ratio).toBeCloseTo(0.3 + 0.7 * 5);
    expect(learn(known, { ...report, estimated: 0 })).toBe(known);
  });
});

describe('a shortened text', () => {
  it('fits in scripts whose characters take several tokens', () => {
    const text = 'Ꭰ'.repeat(10);
    expect(estimateText(text)).toBe(26);
    expect(estimateText(shorten(text, 12))).toBeLessThanOrEqual(12);
  });

  it('keeps all that fits', () => {
    expect(headWithin('中'.repeat(9), 4)).toBe('中'.repeat(5));
  });
});

describe('sections that do not fit', () => {
  it('yield to protected ones, of which a little stays', () => {
    const text = 'One of many words. '.repeat(20);
    const sections = [
      section({ key: 'mine', text, priority: 99 }),
      section({ key: 'policy', text, priority: 1, protected: true }),
    ];
    const whole = estimateBlock({ text });
    const [mine, policy] = fitSections(sections, whole + 2);
    expect([mine?.included, policy?.truncated]).toEqual([false, false]);
    expect(fitSections(sections, 12)[1]).toMatchObject({ included: true, truncated: true });
    expect(fitSections(sections.slice(0, 1), 12)[0]).toMatchObject({ included: false, tokens: 0 });
  });

  it('are listed with their whole size, though nothing is left', () => {
    const gone = section({ key: 'mine', text: '', originalTokens: 700 });
    expect(fitSections([gone, section({ key: 'blank', text: ' ' })], 100)).toMatchObject([{ included: false }]);
    expect(uncutTokens(gone)).toBe(700);
  });

  it('keep their most important line', () => {
    const lines = [0.2, 0.9, 0.5].map((importance, at) => ({ text: `Line ${at}: ${'word '.repeat(20)}`, importance }));
    const text = lines.map((line) => line.text).join('\n');
    for (const tokens of [60, 24]) {
      const [fitted] = fitSections([section({ key: 'mine', text, lines })], tokens);
      expect(fitted?.text).toContain('Line 1');
      expect(fitted?.text).not.toMatch(/Line [02]/u);
    }
  });
});

describe('repaired messages', () => {
  it('keep the results of calls with one id apart', () => {
    const call = { callId: 'a', tool: 'look', input: {} };
    const result = (text: string) => ({ callId: 'a', tool: 'look', text, isError: false });
    const repaired = repair([
      { role: 'user', content: [{ kind: 'text', text: 'Look twice.' }] },
      { role: 'assistant', text: '', calls: [call, call] },
      { role: 'tool', results: [result('one'), result('two')] },
    ]);
    expect(repaired.at(-1)).toMatchObject({ results: [{ text: 'one' }, { text: 'two' }] });
  });

  it('are none where there were none', () => {
    expect(repair([])).toEqual([]);
  });
});
