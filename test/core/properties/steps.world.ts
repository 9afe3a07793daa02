import fc from 'fast-check';

/** What can happen to a bot: steps that fast-check picks at random. */

export type Size = 'short' | 'medium' | 'cjk' | 'emoji' | 'huge';
export type Trouble = 'none' | 'overflow' | 'busy' | 'cut' | 'down';
export type Mood = 'well' | 'slow' | 'fails' | 'refuses' | 'empties' | 'talks';

/** A message of a person, and the model's behaviour for it. */
export interface Telling {
  readonly size: Size;
  readonly asks: boolean;
  readonly who: 0 | 1;
  readonly fact: boolean;
  readonly attachments: number;
  /** Parallel calls in each round of the tool loop. */
  readonly rounds: readonly number[];
  readonly resultSize: Size;
  readonly trouble: Trouble;
  readonly replies: number;
}

export type Step =
  | { readonly kind: 'say'; readonly telling: Telling }
  | { readonly kind: 'burst'; readonly tellings: readonly Telling[] }
  | { readonly kind: 'redeliver' | 'edit' | 'remove' | 'forget'; readonly which: number }
  | { readonly kind: 'repeat'; readonly which: number }
  | { readonly kind: 'mood'; readonly mood: Mood }
  | { readonly kind: 'hold' | 'letGo' | 'release' | 'reset' | 'compact' | 'status' | 'restart' | 'crash' }
  | { readonly kind: 'platform'; readonly refuse: number; readonly mute: number }
  | { readonly kind: 'wait'; readonly seconds: number };

const size = fc.constantFrom<Size>('short', 'short', 'medium', 'medium', 'medium', 'cjk', 'emoji', 'huge');
const telling: fc.Arbitrary<Telling> = fc.record({
  size,
  asks: fc.constantFrom(true, true, true, false),
  who: fc.constantFrom(0 as const, 1 as const),
  fact: fc.constantFrom(true, false),
  attachments: fc.constantFrom(0, 0, 0, 1, 2),
  rounds: fc.constantFrom<readonly number[]>([], [], [], [1], [3], [1, 2], [2, 1, 4]),
  resultSize: size,
  trouble: fc.constantFrom<Trouble>('none', 'none', 'none', 'none', 'none', 'none', 'overflow', 'busy', 'cut', 'down'),
  replies: fc.constantFrom(5, 40, 120),
});
const which = fc.nat(100);

function one<Kind extends Step['kind']>(kind: Kind, more: object = {}) {
  return fc.record({ kind: fc.constant(kind), ...more }) as fc.Arbitrary<Step>;
}

/** Steps by weight; a property leaves out the kinds that it does not cover. */
export function steps(weights: Partial<Record<Step['kind'], number>>): fc.Arbitrary<readonly Step[]> {
  const kinds: Readonly<Record<Step['kind'], fc.Arbitrary<Step>>> = {
    say: one('say', { telling }),
    burst: one('burst', { tellings: fc.array(telling, { minLength: 2, maxLength: 4 }) }),
    redeliver: one('redeliver', { which }),
    edit: one('edit', { which }),
    remove: one('remove', { which }),
    forget: one('forget', { which }),
    repeat: one('repeat', { which }),
    mood: one('mood', { mood: fc.constantFrom<Mood>('well', 'well', 'slow', 'fails', 'refuses', 'empties', 'talks') }),
    hold: one('hold'),
    letGo: one('letGo'),
    release: one('release'),
    reset: one('reset'),
    compact: one('compact'),
    status: one('status'),
    restart: one('restart'),
    crash: one('crash'),
    platform: one('platform', { refuse: fc.nat(2), mute: fc.nat(1) }),
    wait: one('wait', { seconds: fc.constantFrom(1, 5, 30, 120, 700) }),
  };
  const chosen = Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: kinds[kind as Step['kind']] }));
  return fc.array(fc.oneof(...chosen), { minLength: 8, maxLength: 26 });
}
