import { describe, expect, it } from 'vitest';
import { historyFields } from '../../../src/commands/built-in/context-fields.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { createSlidingEngine } from '../../../src/context/engines/sliding.ts';
import { historyOf, MAX_RUNS } from '../../../src/context/history.ts';
import { inspectContext } from '../../../src/context/inspection.ts';
import type { SummaryId } from '../../../src/domain/message.ts';
import type { MaintenanceRun } from '../../../src/ports/journal.ts';
import { bot, profile, section, snapshot, summary, talk, user } from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';

const stack = [
  summary({ fromSeq: 1, toSeq: 20, level: 1 }),
  summary({ fromSeq: 21, toSeq: 30, kind: 'gap', id: 'g1' as SummaryId, tokens: 0 }),
];
const tail = [user(31, 'hello'), bot(32, 31, 'hi'), user(33, 'how are you?')];

describe('looking at a context', () => {
  // Shows: A32
  it('gives the numbers of the command line', async () => {
    await using place = await createPlace();
    const { summary: numbers, measurement } = inspectContext(place.services, {
      profile: profile(),
      snapshot: snapshot(tail, {}, stack),
    });
    expect(numbers).toMatchObject({
      conversation: 'terminal:local:main',
      entries: 33,
      contextFrom: 1,
      compactedUpto: 30,
      stack: [
        { id: 's1-20', kind: 'summary', level: 1, fromSeq: 1, toSeq: 20 },
        { id: 'g1', kind: 'gap', level: 0, fromSeq: 21, toSeq: 30 },
      ],
      tail: { fromSeq: 31, toSeq: 33, tokens: measurement.tail },
      used: measurement.used,
      window: 4000,
      tier: 'none',
      estimated: true,
    });
    expect(numbers.stack.reduce((sum, { tokens }) => sum + tokens, 0)).toBeCloseTo(measurement.stack, -1);
  });

  // Shows: A7
  it('shows every part with its text and its cuts', async () => {
    await using place = await createPlace();
    const sections = [
      section({ key: 'persona', text: 'You are a test.', priority: 100, protected: true }),
      section({ key: 'place', text: 'long '.repeat(3000) }),
    ];
    const volatile = [{ key: 'clock', text: 'It is noon.', source: 'clock', reason: 'always', memoryIds: [] }];
    const report = inspectContext(place.services, {
      profile: profile({ sections }),
      snapshot: snapshot(tail, {}, stack),
      volatile,
    });
    expect(report.parts.map(({ key, truncated }) => [key, truncated])).toEqual([
      ['tools', true],
      ['persona', false],
      ['place', true],
      ['summary:s1-20', false],
      ['gap:g1', false],
      ['tail', false],
      ['clock', false],
      ['reserve', false],
    ]);
    expect(report.parts.find(({ key }) => key === 'tail')?.text).toContain('Ada] how are you?');
    expect(report.parts.find(({ key }) => key === 'summary:s1-20')?.text).toContain('What was said from 1 to 20.');
  });

  it('gives each part its rank, whole size and budget', async () => {
    await using place = await createPlace();
    const sections = [
      section({ key: 'persona', text: 'You are a test.', priority: 100, protected: true }),
      section({ key: 'place', text: 'long '.repeat(3000), priority: 10 }),
    ];
    const volatile = ['clock', 'memories'].map((key) => ({ key, text: 'x', source: 's', reason: 'r', memoryIds: [] }));
    const shares = { fixedShare: 0.25, stackShare: 0.2, recallTokens: 77, reserveTokens: 400 };
    const { parts, measurement } = inspectContext(place.services, {
      profile: profile({ sections, ...shares, windowTokens: 4000 }),
      snapshot: snapshot(tail, {}, stack),
      volatile,
    });
    const part = (key: string) => parts.find((each) => each.key === key);
    expect(part('persona')).toMatchObject({ priority: 100, protected: true, budget: { of: 'fixed', tokens: 1000 } });
    expect(part('place')).toMatchObject({ priority: 10, protected: false, budget: { of: 'fixed', tokens: 1000 } });
    expect(part('place')?.originalTokens).toBeGreaterThan(2 * (part('place')?.tokens ?? 0));
    expect(part('summary:s1-20')?.budget).toEqual({ of: 'stack', tokens: 800 });
    expect(part('memories')?.budget).toEqual({ of: 'recall', tokens: 77 });
    expect(part('clock')?.budget).toBeNull();
    expect(part('reserve')?.budget).toEqual({ of: 'reserve', tokens: 400 });
    const { used, tail: tailTokens } = measurement;
    const emergency = profile().thresholds.emergency * 4000;
    expect(part('tail')?.budget).toEqual({ of: 'tail', tokens: Math.floor(emergency - used + tailTokens) });
  });

  // Shows: A34
  it('adds up its compactions and shows peak and trend', async () => {
    await using place = await createPlace();
    const report = inspectContext(place.services, { profile: profile(), snapshot: snapshot(tail, {}, stack) });
    const run: MaintenanceRun = {
      id: 'r',
      conversationId: 1,
      work: 'compact',
      trigger: 'background',
      fromSeq: 1,
      toSeq: 9,
      error: null,
      model: 'offline:demo',
      startedAt: 0,
      durationMs: 5,
      outcome: 'committed',
      tokensBefore: 3000,
      tokensAfter: 1200,
      memories: 2,
      inputTokens: 500,
      outputTokens: 60,
    };
    const runs: MaintenanceRun[] = [run, { ...run, tokensBefore: 3600 }, { ...run, outcome: 'failed', memories: 0 }];
    // The view can grow while a job runs.
    runs.push({ ...run, work: 'fill', tokensAfter: 3500, memories: 0, inputTokens: 0, outputTokens: 0 });
    const { compactions, peak, trend } = historyOf(report, runs);
    expect(compactions).toEqual({
      isAll: true,
      committed: 3,
      failed: 1,
      freedTokens: 4200,
      memories: 4,
      inputTokens: 1500,
      outputTokens: 180,
    });
    expect(peak).toEqual({ tokens: 3600, ratio: 0.9 });
    const { used, tail: tailTokens } = report.measurement;
    expect(trend.tokensPerMessage).toBe(Math.round(tailTokens / 3));
    const left = profile().thresholds.background * 4000 - used;
    expect(trend.messagesLeft).toBe(Math.ceil(left / (tailTokens / 3)));
    expect(historyOf({ ...report, compacts: false }, []).trend.messagesLeft).toBeNull();
    expect(historyOf(report, []).peak.tokens).toBe(used);
    const many = historyOf(
      report,
      Array.from({ length: MAX_RUNS }, () => run),
    );
    expect(historyFields(null, many)[0]?.value).toMatch(/^the newest 100: 100 done, 0 failed/u);
  });

  it('changes with each setting', async () => {
    await using place = await createPlace();
    const look = (fields: Parameters<typeof profile>[0]) =>
      inspectContext(place.services, { profile: profile(fields), snapshot: snapshot(tail, {}, stack) });
    const thresholds = { background: 0.1, aggressive: 0.12, emergency: 0.9 };
    expect(look({ thresholds }).measurement.tier).toBe('aggressive');
    expect(look({ thresholds }).thresholds).toEqual(thresholds);
    expect(look({ reserveTokens: 900 }).measurement.used - look({ reserveTokens: 400 }).measurement.used).toBe(500);
    expect(look({ windowTokens: 8000 }).summary.window).toBe(8000);
  });

  // Shows: O33
  it('shows the provider’s count only for the view it measured', async () => {
    await using place = await createPlace();
    const calibration = { model: 'offline:demo', ratio: 1, samples: 5, lastInputTokens: 321, revision: 4 };
    const look = (revision: number) =>
      inspectContext(place.services, {
        profile: profile(),
        snapshot: snapshot(tail, { calibration, revision }, stack),
      });
    expect(look(4).lastInputTokens).toBe(321);
    expect(look(5).lastInputTokens).toBeNull();
  });

  it('shows what would be sent and opens no gap', async () => {
    await using place = await createPlace();
    const full = await place.tell(talk(60));
    const report = inspectContext(place.services, {
      profile: profile({ windowTokens: 1500, reserveTokens: 100 }),
      snapshot: full,
    });
    expect(report.measurement.used).toBeLessThan(0.95 * 1500);
    expect(report.summary.tail.fromSeq).toBeGreaterThan(1);
    expect(report.summary.tail.tokens).toBe(report.measurement.tail);
    expect((await place.snapshot()).stack).toEqual([]);
  });

  it('shows a window that nothing fits as full', async () => {
    await using place = await createPlace();
    const report = inspectContext(place.services, {
      profile: profile({ windowTokens: 60, reserveTokens: 40 }),
      snapshot: snapshot(tail),
    });
    expect(report.measurement).toMatchObject({ used: 60, ratio: 1 });
  });

  it('shows an empty conversation', async () => {
    await using place = await createPlace();
    const { summary: numbers } = inspectContext(place.services, { profile: profile(), snapshot: snapshot([]) });
    expect(numbers).toMatchObject({ entries: 0, stack: [], tail: { fromSeq: 1, toSeq: 0, tokens: 0 } });
  });

  it('shows a sliding window as newest turns without layers', async () => {
    const agent = defaultAgent({ engine: 'sliding' });
    await using place = await createPlace({
      agents: { agentFor: () => agent, agent: () => agent, list: () => [agent] },
    });
    const before = await place.tell(talk(120));
    const engine = createSlidingEngine({ services: place.services });
    const turn = { profile: profile(), snapshot: before, readUpto: 239, volatile: [], steps: [], now: Date.now() };
    const { messages, measurement } = await engine.assemble(turn);
    const report = inspectContext(place.services, { profile: profile(), snapshot: before });
    expect(report.measurement).toEqual(measurement);
    const firstShown = Number(/\[#(\d+) \|/.exec(JSON.stringify(messages))?.[1]);
    expect(firstShown).toBeGreaterThan(100);
    expect(report.summary).toMatchObject({
      entries: 239,
      stack: [],
      tail: { fromSeq: firstShown, toSeq: 239, tokens: measurement.tail },
      used: measurement.used,
      tier: 'none',
    });
    const shown = report.parts.find(({ key }) => key === 'tail');
    expect(shown?.text).toContain(`[#${firstShown} |`);
    expect(shown?.text).not.toContain(`[#${firstShown - 2} |`);
  });
});
