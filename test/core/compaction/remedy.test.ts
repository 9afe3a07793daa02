import { describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/compaction/job/job.ts';
import type { Work } from '../../../src/compaction/job/next-work.ts';
import { firstProgress, type Progress, progressAfter } from '../../../src/compaction/round/progress.ts';
import { type FailedJob, remedyFor } from '../../../src/compaction/round/remedy.ts';
import { ModelError, type ModelFailure } from '../../../src/domain/errors.ts';
import { conversation, summary } from '../../fixtures/context.ts';
import { memoryOf } from '../memory/memory.world.ts';

const range = { fromSeq: 1, toSeq: 20 };
const compact: Work = { ...range, kind: 'compact', trigger: 'background' };
const extract: Work = { ...range, kind: 'extract', trigger: 'background' };
const layer = summary(range);
const rewrite: Work = { ...range, kind: 'rewrite', trigger: 'background', layer };
const asked: Work = { ...rewrite, trigger: 'manual' };
const condense: Work = {
  ...range,
  kind: 'condense',
  trigger: 'background',
  condensation: { fromSeq: 1, toSeq: 20, level: 1, parts: [layer] },
};

const failure = (reason: ModelFailure, windowTokens: number | null = null) =>
  new ModelError({ model: 'test:model', reason, detail: 'no' }, { windowTokens });

interface Case extends Partial<Pick<FailedJob, 'work' | 'doubt'>> {
  readonly failures?: number;
  readonly windowTokens?: number;
  readonly headTokens?: number;
}

/** What is done about a failure; by default the third of a compaction with a model of 64,000 tokens. */
function remedy(error: unknown, { work = compact, doubt = 'none', ...job }: Case = {}) {
  const { failures = 2, windowTokens = 64_000, headTokens = Number.POSITIVE_INFINITY } = job;
  return remedyFor(error, {
    job: { conversation: conversation({ failures }), call: { windowTokens }, headTokens },
    work,
    doubt,
  });
}
const NONE = { kind: 'none' };

describe('after a timeout', () => {
  const late = failure('timeout');

  it('reads less from the second on, even less later', () => {
    const heads = [0, 1, 3, 4].map((failures) => remedy(late, { failures, doubt: 'cleared' }));
    const less = (headTokens: number) => ({ kind: 'read less', headTokens, doubt: 'cleared' });
    expect(heads).toEqual([NONE, less(8000), less(8000), less(1000)]);
    expect(remedy(late, { failures: 4, windowTokens: 2000 })).toMatchObject({ headTokens: 120 });
  });

  it('never reads less twice, nor where all is needed', () => {
    expect([remedy(late, { headTokens: 8000 }), ...[asked, condense].map((work) => remedy(late, { work }))]).toEqual([
      NONE,
      NONE,
      NONE,
    ]);
    expect([rewrite, extract].map((work) => remedy(late, { work }).kind)).toEqual(['read less', 'read less']);
  });
});

describe('after a refusal', () => {
  const refused = failure('refused');

  it('tries the whole text twice, then shorter heads', () => {
    expect(remedy(refused, { failures: 1 })).toEqual(NONE);
    expect(remedy(refused)).toEqual({ kind: 'read less', headTokens: 8000, doubt: 'open' });
    const cleared = { doubt: 'cleared' } as const;
    expect(remedy(refused, { ...cleared, headTokens: 8000 })).toEqual({
      kind: 'read less',
      headTokens: 1000,
      ...cleared,
    });
    expect(remedy(refused, { ...cleared, headTokens: 500 })).toMatchObject({ headTokens: 120 });
  });

  it('leaves out what is still refused at the shortest head', () => {
    expect(remedy(refused, { headTokens: 120, doubt: 'cleared' })).toEqual({ kind: 'leave out' });
    expect(remedy(refused, { headTokens: 121, doubt: 'cleared' }).kind).toBe('read less');
    expect(remedy(refused, { work: condense })).toEqual({ kind: 'leave out' });
  });

  it('does nothing while the model is in doubt, or asked', () => {
    expect([remedy(refused, { doubt: 'open' }), remedy(refused, { work: asked })]).toEqual([NONE, NONE]);
    expect(['auth', 'transient', 'rate-limit'].map((reason) => remedy(failure(reason as ModelFailure)))).toEqual([
      NONE,
      NONE,
      NONE,
    ]);
  });
});

describe('after an overflow', () => {
  const window = (named: number | null, windowTokens = 10_000) => remedy(failure('overflow', named), { windowTokens });

  it('assumes the window that the provider names, if smaller', () => {
    const assumed = (windowTokens: number) => ({ kind: 'assume window', windowTokens });
    expect([window(9000), window(9500), window(20_000), window(null)]).toEqual(
      [9000, 6000, 6000, 6000].map((tokens) => assumed(tokens)),
    );
  });

  it('gives up at a window that fits no summary', () => {
    expect([window(500), window(499), window(null, 800)].map(({ kind }) => kind)).toEqual([
      'assume window',
      'none',
      'none',
    ]);
  });
});

describe('the progress of a maintenance', () => {
  const before: Progress = { ...firstProgress('manual'), open: { toSeq: 9, trigger: 'manual' }, late: 1 };
  const result = (details: Partial<JobResult> = {}): JobResult => ({
    result: 'committed',
    toSeq: 12,
    memories: [],
    ...details,
  });

  it('ends a plan without result, and counts late ones', () => {
    expect(progressAfter(before, compact, null)).toEqual({ ...before, open: null });
    const late = progressAfter(before, compact, result({ result: 'stale' }));
    expect(late).toEqual({ ...before, open: null, late: 2 });
    expect(progressAfter(late, compact, result()).late).toBe(0);
  });

  it('keeps a compaction open to its planned end', () => {
    expect(progressAfter(before, compact, result()).open).toEqual({ toSeq: 20, trigger: 'background' });
    for (const work of [rewrite, condense, extract]) expect(progressAfter(before, work, result()).open).toBeNull();
  });

  it('compacts once on request, and again only after a rewrite', () => {
    const manual: Work = { ...compact, trigger: 'manual' };
    const triggers = [manual, asked, compact].map((work) => progressAfter(before, work, result()).trigger);
    expect(triggers).toEqual(['queue', 'manual', 'manual']);
  });

  it('settles after a summary that nobody asked for', () => {
    const manual: Work = { ...compact, trigger: 'manual' };
    const settling = [compact, manual, extract].map((work) => progressAfter(before, work, result()).settling);
    expect(settling).toEqual([true, false, false]);
    expect(progressAfter({ ...before, settling: true }, extract, result()).settling).toBe(true);
  });

  it('tells what was done, up to where it came', () => {
    const insert = { kind: 'insert', memory: memoryOf('likes tea'), sources: [] } as const;
    const all = [compact, rewrite, condense, extract].reduce(
      (progress, work) => progressAfter(progress, work, result({ memories: [insert, insert] })),
      before,
    );
    expect(all.done).toEqual(
      ['summarised', 'summarised again', 'condensed the summaries of', 'read for memories'].map(
        (words) => `${words} #1 to #12, 2 memories saved`,
      ),
    );
    expect(progressAfter(before, compact, result()).done).toEqual(['summarised #1 to #12']);
  });
});
