import { describe, expect, it } from 'vitest';
import { createIntake } from '../../../src/context/engines/intake.ts';

describe('what an engine has taken in', () => {
  it('is remembered for the 2,000 conversations used last', () => {
    const intake = createIntake();
    for (let id = 1; id <= 2000; id += 1) intake.begin(id, 4);
    expect(intake.take(1, 5)).toBe(true);
    // A new conversation pushes out the second one, because the first one was used since.
    expect(intake.begin(2001, 4)).toBe(true);
    expect(intake.take(1, 5)).toBe(false);
    expect(intake.begin(1, 4)).toBe(false);
    expect(intake.begin(2, 4)).toBe(true);
  });

  it('is every message once, in any order', () => {
    const intake = createIntake();
    intake.begin(1, 2);
    expect([2, 4, 3, 4, 5].map((seq) => intake.take(1, seq))).toEqual([false, true, true, false, true]);
  });
});
