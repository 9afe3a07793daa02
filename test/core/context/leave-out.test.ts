import { describe, expect, it } from 'vitest';
import { assembleView } from '../../../src/context/fit/assemble-view.ts';
import { fittedOf } from '../../../src/context/fit/fit.ts';
import { leaveOut } from '../../../src/context/fit/leave-out.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import { createRefusedPasts } from '../../../src/conversation/turn/refused/refused-past.ts';
import type { Entry, SummaryId } from '../../../src/domain/message.ts';
import { createEvents } from '../../../src/ports/events.ts';
import type { ContextSnapshot } from '../../../src/ports/store.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { bot, profile, snapshot, summary, user } from '../../fixtures/context.ts';

const services = { prompts: createPromptLibrary(), agents: { agent: () => null } };
const prefixes = createFixedPrefixBuilder(services);

function viewOf(shown: ContextSnapshot) {
  const readUpto = shown.conversation.nextSeq - 1;
  const request = { profile: profile({ windowTokens: 100_000 }), snapshot: shown, readUpto };
  return assembleView({ ...request, volatile: [], steps: [], now: 0 }, { stack: shown.stack });
}

function textWithout(tail: readonly Entry[], beforeSeq: number): string {
  const fitted = fittedOf(viewOf(snapshot(tail)));
  if (fitted === null) throw new Error('The view is not of this code.');
  const left = { beforeSeq, summaries: false, recalled: false };
  return JSON.stringify(leaveOut(prefixes, fitted, left).view.messages);
}

describe('a view without what came before a message', () => {
  it('begins with that message, however many follow', () => {
    for (let newest = 2; newest < 60; newest += 1) {
      const tail = Array.from({ length: newest }, (_, index) => user(index + 1, `(${index + 1})`));
      for (let from = 1; from <= newest; from += 1) {
        const text = textWithout(tail, from);
        expect([text.includes(`(${from - 1})`), text.includes(`(${from})`)]).toEqual([false, true]);
      }
    }
  });

  it('has no reply that another message overtook', () => {
    const text = textWithout([user(1), user(2), bot(3, 1), user(4)], 2);
    expect(text).toMatch(/message 2.*message 4/);
    expect(text).not.toMatch(/message 1|answer 3/);
  });
});

const tail = [user(4), bot(5, 4), user(6)];
const stack = [summary({ fromSeq: 1, toSeq: 3 })];
const OTHER = 'other' as SummaryId;
const later = (entry: Entry) => ({ ...entry, editedAt: 5 });

/** Whether a later turn leaves out what an earlier one was refused for. */
function isRemembered(
  after: ContextSnapshot,
  options: { readonly summaries?: boolean; readonly modelId?: string } = {},
) {
  const { summaries = false, modelId = 'test:strict' } = options;
  const events = createEvents({ now: () => 0, onListenerError: () => undefined });
  const pasts = createRefusedPasts({ ...services, events });
  const before = viewOf(snapshot(tail, {}, stack));
  const past = pasts.open({ profile: { modelId: 'test:strict' }, askSeq: 6 });
  expect(past.refused(before)).toBe('less');
  if (summaries) expect(past.refused(past.reduce(before))).toBe('less');
  past.passed(before.snapshot);
  const whole = viewOf(after);
  return pasts.open({ profile: { modelId }, askSeq: 6 }).reduce(whole) !== whole;
}

describe('what was refused is left out again', () => {
  const same = snapshot(tail, {}, stack);
  it.each([
    ['in the same view', same, {}, true],
    ['after more was said', snapshot([...tail, bot(7, 6), later(user(8))], {}, stack), {}, true],
    ['until it is edited', snapshot([later(user(4)), bot(5, 4), user(6)], {}, stack), {}, false],
    [
      'until some of it is compacted',
      snapshot(tail.slice(1), {}, [summary({ fromSeq: 1, toSeq: 3 }), summary({ fromSeq: 4, toSeq: 4 })]),
      {},
      false,
    ],
    [
      'until summaries change',
      snapshot(tail, {}, [summary({ fromSeq: 1, toSeq: 3, id: OTHER })]),
      { summaries: true },
      false,
    ],
    ['whichever summaries there are', snapshot(tail, {}, [summary({ fromSeq: 1, toSeq: 3, id: OTHER })]), {}, true],
    ['unless another model reads it', same, { modelId: 'test:lax' }, false],
  ] as const)('%s', (_, after, options, expected) => {
    expect(isRemembered(after, options)).toBe(expected);
  });
});
