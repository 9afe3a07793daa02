import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extendTail, headOf, spokenTokens } from '../../../src/context/view/cached-head.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import { FIRST_REDUCTION, NO_REDUCTION, type Reduction } from '../../../src/context/view/reduce.ts';
import { buildView } from '../../../src/context/view/view.ts';
import type { Entry } from '../../../src/domain/message.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { bot, profile, snapshot, stories, user } from '../../fixtures/context.ts';

const prefixes = createFixedPrefixBuilder({
  prompts: createPromptLibrary(),
  agents: { agent: () => null },
});
const shared = profile();

function view(tail: readonly Entry[], readUpto: number, reduction: Reduction) {
  const section = { key: 'clock', text: 'now', source: 'test', reason: 'test', memoryIds: [] };
  const request = { profile: shared, snapshot: snapshot(tail), readUpto, volatile: [section], steps: [] };
  const { messages, regions, askTokens } = buildView(prefixes, request, reduction);
  return { messages, regions, askTokens };
}

/** Where a turn may stop reading: at the newest entry, or at one of people's newest messages. */
function readable(tail: readonly Entry[]): readonly number[] {
  const asks = tail.filter(({ role }) => role === 'user').map(({ seq }) => seq);
  return [tail.at(-1)?.seq ?? 0, ...asks.slice(-4)];
}

describe('the settled head of a tail', () => {
  it('gives the same view as one built from scratch', () => {
    fc.assert(
      fc.property(stories, fc.array(fc.nat({ max: 99 }), { minLength: 1 }), ({ tail: whole }, choices) => {
        let tail: readonly Entry[] = [];
        whole.forEach((entry, index) => {
          tail = extendTail(tail, [entry]);
          const choice = choices[index % choices.length] ?? 0;
          // Not viewed after every entry, so that the cached head is older then.
          if (choice % 3 === 0) return;
          const candidates = readable(tail);
          const readUpto = candidates[choice % candidates.length] ?? 0;
          const reduction = choice % 2 === 0 ? NO_REDUCTION : FIRST_REDUCTION;
          expect(view(tail, readUpto, reduction)).toEqual(view([...tail], readUpto, reduction));
          expect(spokenTokens(tail)).toBe(spokenTokens([...tail]));
        });
      }),
      { numRuns: 400 },
    );
  });

  it('is made once, and grows by what was added', () => {
    const made: number[][] = [];
    const render = (entries: readonly Entry[]) => {
      made.push(entries.map(({ seq }) => seq));
      return { messages: [], tokens: 0 };
    };
    const tail = [user(1, 'one'), bot(2, 1), user(3, 'two'), bot(4, 3), user(5, 'three')];
    expect(headOf(tail, 5, { timeZone: 'UTC', render }).entries).toBe(4);
    expect(headOf(tail, 5, { timeZone: 'UTC', render }).entries).toBe(4);
    const longer = extendTail(tail, [bot(6, 5), user(7, 'four')]);
    expect(headOf(longer, 7, { timeZone: 'UTC', render }).entries).toBe(6);
    expect(made).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  it('ends before a message answered after the next one', () => {
    const render = () => ({ messages: [], tokens: 0 });
    const tail = [user(1, 'one'), bot(2, 1), user(3, 'two'), user(4, 'meanwhile')];
    expect(headOf(tail, 3, { timeZone: 'UTC', render }).entries).toBe(2);
    const answered = extendTail(tail, [bot(5, 3), user(6, 'more')]);
    expect(headOf(answered, 6, { timeZone: 'UTC', render }).entries).toBe(2);
    const twice = [user(1, 'one'), bot(2, 1), user(3, 'two'), bot(4, 1)];
    expect(headOf(twice, 3, { timeZone: 'UTC', render }).entries).toBe(0);
  });
});
