import { describe, expect, it } from 'vitest';
import { thresholdLine, usageLine } from '../../../src/commands/built-in/context.ts';

const parts = { fixed: 0, stack: 0, tail: 0, volatile: 0, reserve: 0, window: 1000, estimated: true } as const;

describe('the share of the window in use', () => {
  it.each([
    [849, 'background', '84 %'],
    [850, 'aggressive', '85 %'],
    [949.9, 'aggressive', '94 %'],
    [290, 'none', '29 %'],
    [570, 'none', '57 %'],
  ] as const)('never reads as a threshold that is not reached: %i', (used, tier, share) => {
    expect(usageLine({ ...parts, used, ratio: used / 1000, tier })).toContain(`(${share}), tier ${tier}`);
    const thresholds = { background: 0.8, aggressive: 0.85, emergency: 0.95 };
    expect(thresholdLine(1000, thresholds)).toContain('aggressive at 850 (85 %)');
  });
});
