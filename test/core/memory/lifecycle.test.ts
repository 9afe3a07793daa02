import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MEMORY_KINDS, MEMORY_STATES } from '../../../src/adapter-kit.ts';
import {
  COOLDOWN_DAYS,
  type Evidence,
  HALF_LIFE_DAYS,
  isFaded,
  isRecallable,
  mayPromote,
  type Transition,
  transition,
  weightOf,
} from '../../../src/memory/statements/lifecycle.ts';

const DAY = 24 * 60 * 60 * 1000;
const aging = {
  kind: 'event',
  importance: 0.8,
  pinned: false,
  createdAt: 0,
  updatedAt: 0,
  lastRecalledAt: null,
} as const;

describe('weight', () => {
  // Shows: A29
  it('halves with the half-life after a week of grace', () => {
    expect(weightOf(aging, 7 * DAY)).toBe(0.8);
    expect(weightOf(aging, 37 * DAY)).toBeCloseTo(0.4);
    expect(weightOf({ ...aging, lastRecalledAt: 37 * DAY }, 37 * DAY)).toBe(0.8);
  });

  // Shows: R20
  it('never rises by time and stays within the importance', () => {
    const times = fc
      .tuple(fc.nat(4000), fc.nat(4000))
      .map(([a, b]) => [Math.min(a, b) * DAY, Math.max(a, b) * DAY] as const);
    fc.assert(
      fc.property(
        fc.constantFrom(...MEMORY_KINDS),
        fc.double({ min: 0, max: 1, noNaN: true }),
        times,
        (kind, importance, [early, late]) => {
          const memory = { ...aging, kind, importance };
          expect(weightOf(memory, late)).toBeLessThanOrEqual(weightOf(memory, early));
          expect(weightOf(memory, late)).toBeGreaterThanOrEqual(0);
          if (HALF_LIFE_DAYS[kind] === null) expect(weightOf(memory, late)).toBe(importance);
        },
      ),
    );
  });

  it('does not fade what is pinned', () => expect(weightOf({ ...aging, pinned: true }, 4000 * DAY)).toBe(0.8));
});

describe('fading and recall', () => {
  it('drops a candidate from the lists after ninety idle days', () => {
    expect(isFaded({ ...aging, state: 'candidate' }, 90 * DAY)).toBe(false);
    expect(isFaded({ ...aging, state: 'candidate' }, 90 * DAY + 1)).toBe(true);
    expect(isFaded({ ...aging, state: 'candidate', updatedAt: 5 * DAY }, 94 * DAY)).toBe(false);
    expect(isFaded({ ...aging, state: 'active' }, 900 * DAY)).toBe(false);
    expect(isFaded({ ...aging, state: 'candidate', pinned: true }, 900 * DAY)).toBe(false);
  });

  it('recalls only what is active and still valid', () => {
    expect(MEMORY_STATES.filter((state) => isRecallable({ state, validUntil: null }, 5))).toEqual(['active']);
    expect(isRecallable({ state: 'active', validUntil: 5 }, 5)).toBe(false);
    expect(isRecallable({ state: 'active', validUntil: 6 }, 5)).toBe(true);
  });
});

describe('the table of states', () => {
  const steps: readonly Transition[] = ['promote', 'demote', 'supersede', 'reject', 'restore'];
  const allowed = {
    candidate: { promote: 'active', supersede: 'superseded', reject: 'rejected' },
    active: { demote: 'candidate', supersede: 'superseded', reject: 'rejected' },
    superseded: { restore: 'active', reject: 'rejected' },
    rejected: {},
  };
  // Shows: A26
  it.each(MEMORY_STATES.flatMap((state) => steps.map((step) => [state, step] as const)))(
    'from %s by %s',
    (state, step) => {
      expect(transition(state, step)).toBe(Object.entries(allowed[state]).find(([name]) => name === step)?.[1] ?? null);
    },
  );
});

describe('promotion', () => {
  const enough: Evidence = {
    conversations: new Set([1, 2]),
    days: new Set([1]),
    saidBySubject: false,
    saidByPerson: true,
    isHearsay: false,
    demotedAt: null,
  };
  const now = 100 * DAY;
  const candidate = { state: 'candidate', kind: 'fact' } as const;
  // Shows: A27
  it('takes two conversations, two days, or the person themself', () => {
    const one = { ...enough, conversations: new Set([1]) };
    expect(mayPromote(candidate, enough, now)).toBe(true);
    expect(mayPromote(candidate, { ...one, days: new Set([1, 2]) }, now)).toBe(true);
    expect(mayPromote(candidate, { ...one, saidBySubject: true }, now)).toBe(true);
    expect(mayPromote(candidate, one, now)).toBe(false);
  });
  // Shows: T27
  it.each([
    ['a state that is no candidate', { state: 'rejected', kind: 'fact' } as const, enough],
    ['an instruction', { state: 'candidate', kind: 'instruction' } as const, enough],
    ['words of the bot alone', candidate, { ...enough, saidByPerson: false }],
    ['one person speaking of another', candidate, { ...enough, isHearsay: true }],
    ['the cooldown', candidate, { ...enough, demotedAt: now - COOLDOWN_DAYS * DAY + 1 }],
  ])('is refused by %s alone', (_gate, memory, evidence) => expect(mayPromote(memory, evidence, now)).toBe(false));
  it('is open again when the cooldown ends', () => {
    expect(mayPromote(candidate, { ...enough, demotedAt: now - COOLDOWN_DAYS * DAY }, now)).toBe(true);
  });
});
