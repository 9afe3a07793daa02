import { expect, it } from 'vitest';
import { nextLookAt, nextWork, requestedRewrite } from '../../../src/compaction/job/next-work.ts';
import { MIN_GAIN } from '../../../src/context/cuts/depth.ts';
import { isDue, stackShareAt } from '../../../src/context/cuts/due.ts';
import { tierOf } from '../../../src/context/measure/tiers.ts';
import { makeChildKey } from '../../../src/domain/key.ts';
import type { ConversationKey, Entry } from '../../../src/domain/message.ts';
import type { ContextProfile } from '../../../src/ports/engine.ts';
import type { Summary } from '../../../src/ports/summary-store.ts';
import { bot, calls, key, profile, results, snapshot, summary, user } from '../../fixtures/context.ts';

const text = (tokens: number) => 'a'.repeat(Math.floor(tokens / 0.21));

/** Two messages, of which only the first can leave. */
const withFirstOf = (tokens: number) =>
  snapshot([user(1, text(tokens), { tokens }), user(2, text(5000), { tokens: 5000 })]);

/** The next job for a stack before one long message. */
function workIn(settings: ContextProfile, stack: readonly Summary[], used: number) {
  const view = snapshot([user(7, text(5000), { tokens: 5000 })], { compactedUpto: stack.at(-1)?.toSeq ?? 0 }, stack);
  const parts = { fixed: 0, stack: 1000, tail: 5000, volatile: 0, reserve: 0, estimated: true };
  const tier = tierOf(used / 10_000, settings.thresholds);
  const asked = {
    trigger: 'queue',
    open: null,
    asked: null,
    settling: false,
    canWait: false,
    isCached: false,
  } as const;
  return nextWork({
    ...asked,
    snapshot: view,
    profile: settings,
    correction: 1,
    shownTokens: used,
    measurement: { ...parts, used, window: 10_000, ratio: used / 10_000, tier },
    idleMs: Number.POSITIVE_INFINITY,
    now: 0,
  });
}

it('a cut that frees too little is not due', () => {
  const settings = profile({ windowTokens: 10_000 });
  const least = MIN_GAIN * settings.windowTokens;
  expect(isDue(settings, withFirstOf(least / 4), 8500)).toBe(false);
  expect(isDue(settings, withFirstOf(least * 2), 8500)).toBe(true);
  expect(isDue(settings, withFirstOf(least * 2), 0)).toBe(false);
});

it('the messages of the running turn may leave, too', () => {
  const settings = profile({ windowTokens: 10_000 });
  const tail = Array.from({ length: 80 }, (_, index) => user(index + 1, 'word', { tokens: 100 }));
  expect(isDue(settings, snapshot(tail, { answeredUpto: 0, replyDueFrom: 1, replyDueSeq: 80 }), 8500)).toBe(true);
});

it('condenses the stack only if the view comes to rest', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15 });
  const stack = [1, 3].map((fromSeq) => summary({ fromSeq, toSeq: fromSeq + 1, tokens: 500 }));
  const view = snapshot([user(5, text(5000), { tokens: 5000 })], {}, stack);
  expect([7900, 8000, 8999].map((usedTokens) => isDue(settings, view, usedTokens))).toEqual([false, true, true]);
  expect([9500, 10_000].map((usedTokens) => isDue(settings, view, usedTokens))).toEqual([false, false]);
});

it('a gap waits while the stack is twice its share', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15 });
  const gap = summary({ fromSeq: 5, toSeq: 6, kind: 'gap' });
  const kindWith = (tokens: number) =>
    workIn(settings, [...[1, 3].map((fromSeq) => summary({ fromSeq, toSeq: fromSeq + 1, tokens })), gap], 7000)?.kind;
  expect([kindWith(1000), kindWith(2000)]).toEqual(['fill', 'condense']);
});

it('gaps are filled together up to the next summary', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15 });
  const layer = (fromSeq: number, kind: Summary['kind']) => summary({ fromSeq, toSeq: fromSeq + 1, kind });
  const kinds = (...stack: readonly Summary['kind'][]) => stack.map((kind, index) => layer(index * 2 + 1, kind));
  const first = { kind: 'fill', fromSeq: 1 };
  expect(workIn(settings, kinds('gap', 'summary', 'gap'), 7000)).toMatchObject({ ...first, toSeq: 2 });
  expect(workIn(settings, kinds('gap', 'gap', 'summary'), 7000)).toMatchObject({ ...first, toSeq: 4 });
});

it('only current summaries are written in other words', () => {
  const asks = (fields: Parameters<typeof summary>[0]) => {
    const layer = summary(fields);
    return requestedRewrite({ asked: { summaryId: layer.id }, snapshot: snapshot([user(3)], {}, [layer]) });
  };
  expect(asks({ fromSeq: 1, toSeq: 2 })).toMatchObject({ kind: 'rewrite', trigger: 'manual' });
  expect(asks({ fromSeq: 1, toSeq: 2, stale: true })).toBeNull();
  expect(asks({ fromSeq: 1, toSeq: 2, kind: 'gap' })).toBeNull();
});

it('a child is never looked at for memories', () => {
  const lookAt = (of: ConversationKey) => nextLookAt({ snapshot: snapshot([user(1)], { key: of }), idleMs: 1000 });
  expect(lookAt(key)).toBeGreaterThan(0);
  expect(lookAt(makeChildKey(key, 'a'))).toBeNull();
});

it('a job condenses the stack only for a resting view', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15 });
  const stack = [1, 3].map((fromSeq) => summary({ fromSeq, toSeq: fromSeq + 1, tokens: 500 }));
  expect([7900, 8500, 9500].map((used) => workIn(settings, stack, used)?.kind)).toEqual([
    undefined,
    'condense',
    undefined,
  ]);
});

it('shortens tool results before it condenses the stack', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15 });
  const stack = [1, 3].map((fromSeq) => summary({ fromSeq, toSeq: fromSeq + 1, tokens: 500 }));
  const looked = (tokens: number) =>
    snapshot([user(5), calls(6, 5, ['a']), { ...results(7, 5, ['a']), tokens }], {}, stack);
  expect(isDue(settings, looked(2000), 8500)).toBe(false);
  expect(isDue(settings, looked(500), 8500)).toBe(true);
});

it('counts no room that old tool results no longer take', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15, toolResults: { recentTurns: 1, oldBytes: 200 } });
  const stack = [1, 3].map((fromSeq) => summary({ fromSeq, toSeq: fromSeq + 1, tokens: 500 }));
  const looked = [user(5), calls(6, 5, ['a']), { ...results(7, 5, ['a']), tokens: 2000 }, bot(8, 5)];
  const shareAfter = (tail: readonly Entry[]) =>
    stackShareAt(settings, { stack, tail }, { usedTokens: 8500, correction: 1 });
  expect(shareAfter([...looked, user(9)])).toBe(0.15);
  expect(shareAfter([...looked, user(9), bot(10, 9)])).toBe(0);
});

it('looks at the tail of full views only', () => {
  const settings = profile({ windowTokens: 10_000, stackShare: 0.15 });
  let looks = 0;
  const looked = {
    stack: [summary({ fromSeq: 1, toSeq: 2, tokens: 500 })],
    get tail() {
      looks += 1;
      return [user(3)];
    },
  };
  const shareAt = (usedTokens: number) => stackShareAt(settings, looked, { usedTokens, correction: 1 });
  expect([shareAt(7000), shareAt(9500), looks]).toEqual([0.15, 0.15, 0]);
  expect([shareAt(8200), looks]).toEqual([0, 1]);
});
