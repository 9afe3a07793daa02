import { describe, expect, it } from 'vitest';
import { type Look, nextLookAt, nextWork } from '../../../src/compaction/job/next-work.ts';
import { measure } from '../../../src/context/measure/meter.ts';
import { bot, profile, snapshot, summary, user } from '../../fixtures/context.ts';

const plain = profile({ windowTokens: 10_000, reserveTokens: 0 });
const tail = Array.from({ length: 40 }, (_, index) =>
  index % 2 === 0 ? user(index + 21, 'word', { tokens: 100 }) : { ...bot(index + 21, index + 20), tokens: 100 },
);

/** A view of so many tokens in which every message was read for memories. */
function looked(usedTokens: number, more: Partial<Look> = {}): Look {
  const stack = [summary({ fromSeq: 1, toSeq: 20, tokens: 100 })];
  return {
    snapshot: snapshot(tail, { extractedUpto: 60 }, stack),
    profile: plain,
    measurement: measure({ fixed: usedTokens, stack: 0, tail: 0, volatile: 0 }, plain, 1),
    correction: 1,
    shownTokens: usedTokens,
    trigger: 'queue',
    open: null,
    settling: false,
    idleMs: 60_000,
    now: 0,
    asked: null,
    isCached: false,
    canWait: false,
    ...more,
  };
}

describe('the next work', () => {
  it('goes on until the view is well below the threshold', () => {
    const kinds = (usedTokens: number) =>
      [false, true].map((settling) => nextWork(looked(usedTokens, { settling }))?.kind ?? null);
    expect([kinds(7490), kinds(7500), kinds(8000)]).toEqual([
      [null, null],
      [null, 'compact'],
      ['compact', 'compact'],
    ]);
  });

  it('fills gaps, unless the stack takes twice its share', () => {
    const kindAt = (tokens: number) => {
      const stack = [
        summary({ fromSeq: 1, toSeq: 5, tokens: tokens / 2 }),
        summary({ fromSeq: 6, toSeq: 10, tokens: tokens / 2 }),
        summary({ fromSeq: 11, toSeq: 20, kind: 'gap', tokens: 0 }),
      ];
      return nextWork(looked(5000, { snapshot: snapshot(tail, { extractedUpto: 60 }, stack) }))?.kind;
    };
    expect([kindAt(2000), kindAt(3000), kindAt(3002)]).toEqual(['fill', 'fill', 'condense']);
  });

  it('completes a planned compaction if enough of it is left', () => {
    const open = (toSeq: number) => nextWork(looked(5000, { open: { toSeq, trigger: 'background' } }));
    expect(open(24)).toMatchObject({ kind: 'compact', fromSeq: 21, toSeq: 24, trigger: 'background' });
    expect(open(21)).toBeNull();
    const unread = { ...looked(5000).snapshot, omitted: { entries: 3, tokens: 100 } };
    const rest = { snapshot: unread, open: { toSeq: 21, trigger: 'background' } } as const;
    expect(nextWork(looked(5000, rest))).toMatchObject({ kind: 'compact', toSeq: 21 });
  });

  it('takes neighbouring gaps together, before a stale summary after them', () => {
    const kinds = ['summary', 'gap', 'gap', 'stale', 'gap'] as const;
    const stack = kinds.map((kind, index) =>
      summary({
        ...{ fromSeq: index * 4 + 1, toSeq: index * 4 + 4, stale: kind === 'stale' },
        kind: kind === 'gap' ? 'gap' : 'summary',
      }),
    );
    const next = (layers: typeof stack) =>
      nextWork(looked(9000, { snapshot: snapshot(tail, { extractedUpto: 60 }, layers) }));
    expect(next(stack)).toMatchObject({ kind: 'fill', fromSeq: 5, toSeq: 12, gaps: [{ fromSeq: 5 }, { fromSeq: 9 }] });
    expect(next(stack.slice(3))).toMatchObject({ kind: 'rewrite', trigger: 'stale', fromSeq: 13, toSeq: 16 });
  });

  it('reads what a reset has hidden before all else', () => {
    const stack = [summary({ fromSeq: 11, toSeq: 20, kind: 'gap', tokens: 0 })];
    const hidden = snapshot(tail, { extractedUpto: 5, contextFrom: 11 }, stack);
    const range = { kind: 'extract', trigger: 'idle', fromSeq: 6, toSeq: 10 };
    expect(nextWork(looked(9000, { snapshot: hidden }))).toEqual(range);
    expect(nextWork(looked(9000, { snapshot: hidden, trigger: 'shutdown' }))).toEqual(range);
  });

  it('reads an idle tail, and any tail at shutdown', () => {
    const quiet = snapshot(tail, { extractedUpto: 30, lastActivityAt: 1000 });
    const at = (now: number, more: Partial<Look> = {}) => nextWork(looked(5000, { snapshot: quiet, now, ...more }));
    const range = { kind: 'extract', fromSeq: 31, toSeq: 60 };
    expect([at(60_999), at(61_000)]).toEqual([null, { ...range, trigger: 'idle' }]);
    expect(at(1000, { trigger: 'shutdown' })).toEqual({ ...range, trigger: 'shutdown' });
    expect(nextLookAt({ snapshot: quiet, idleMs: 60_000 })).toBe(61_000);
    expect(nextLookAt(looked(5000))).toBeNull();
    const gap = [summary({ fromSeq: 1, toSeq: 20, kind: 'gap', tokens: 0 })];
    const left = snapshot(tail, { extractedUpto: 30 }, gap);
    expect(nextWork(looked(5000, { snapshot: left, trigger: 'shutdown' }))?.kind).toBe('fill');
  });
});
