import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reduceIfDue, reduceToFit } from '../../../src/context/fit/fit.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import { reductionSteps } from '../../../src/context/view/reduce.ts';
import type { ViewRequest } from '../../../src/context/view/view.ts';
import type { Entry } from '../../../src/domain/message.ts';
import type { ContextProfile } from '../../../src/ports/engine.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { calls, profile, results, section, snapshot, stories, summary, user } from '../../fixtures/context.ts';
import { faults } from '../../fixtures/provider-rules.ts';

const prefixes = createFixedPrefixBuilder({
  prompts: createPromptLibrary(),
  agents: { agent: () => null },
});

const sections = [
  section({ key: 'persona', text: 'You are a test. '.repeat(50), protected: true }),
  section({ key: 'guidance', text: 'Read with care. '.repeat(50) }),
];

interface Setting {
  readonly tail: readonly Entry[];
  readonly layers?: number;
  readonly volatile?: string;
  readonly ratio?: number;
  readonly fields: Partial<ContextProfile>;
}

function request({ tail, layers = 0, volatile = '', ratio = 1, fields }: Setting): ViewRequest {
  const stack = Array.from({ length: layers }, (_, index) =>
    summary({ fromSeq: index * 10 + 1, toSeq: index * 10 + 10, text: 'They talked. '.repeat(20 * index + 1) }),
  );
  const shift = layers * 10;
  const shifted = tail.map((one) => ({
    ...one,
    seq: one.seq + shift,
    turn: one.turn === null ? null : one.turn + shift,
  }));
  const calibration = { model: 'offline:demo', ratio, samples: 9, lastInputTokens: 1, revision: 0 };
  const newest = shifted.findLast(({ role }) => role === 'user')?.seq ?? 0;
  const extra = { key: 'memories', text: volatile, source: 'test', reason: 'test', memoryIds: [] };
  return {
    profile: profile({ sections, ...fields }),
    snapshot: snapshot(shifted, { calibration }, stack),
    readUpto: newest,
    volatile: [extra],
    steps: [],
  };
}

describe('a view that is pressed to fit', () => {
  it('cuts the fixed part before the last of the stack', () => {
    const steps = reductionSteps(2000).map(({ reduction }) => reduction);
    const withoutStack = steps.filter(({ droppedStackShare }) => droppedStackShare === 1);
    expect(withoutStack.length).toBeGreaterThan(0);
    for (const { fixedShare } of withoutStack) expect(fixedShare).toBeLessThan(1);
    expect(steps.some((one) => one.fixedShare < 1 && one.droppedStackShare < 1)).toBe(true);
  });

  it('fits with any layers, memories, images and ratio', () => {
    fc.assert(
      fc.property(
        stories,
        fc.record({
          windowTokens: fc.integer({ min: 1100, max: 4000 }),
          layers: fc.integer({ min: 0, max: 8 }),
          memories: fc.integer({ min: 0, max: 4000 }),
          ratio: fc.constantFrom(0.6, 1, 2.5),
          images: fc.boolean(),
        }),
        ({ tail }, { windowTokens, layers, memories, ratio, images }) => {
          const traits = { windowTokens, tools: true, images };
          const fields = { windowTokens, reserveTokens: Math.floor(windowTokens / 10), traits };
          const asked = request({ tail, layers, volatile: 'known '.repeat(memories), ratio, fields });
          if (reduceIfDue(prefixes, asked).measurement.tier !== 'emergency') return;
          const { view, measurement } = reduceToFit(prefixes, asked, windowTokens);
          expect(measurement.used).toBeLessThanOrEqual(windowTokens);
          expect(estimateRequest(view) * ratio + measurement.reserve).toBeLessThanOrEqual(windowTokens);
          expect(faults(view.messages)).toEqual([]);
          expect(JSON.stringify(view.messages)).toContain(`[#${asked.readUpto} |`);
        },
      ),
      { numRuns: 200 },
    );
  });

  // Shows: P18
  it('drops tool traffic, then texts, then memories, the ask last', () => {
    const tail = [user(1, 'a question '.repeat(60)), user(2, 'What of this?')];
    const fields = { windowTokens: 1500, reserveTokens: 100 };
    const { view } = reduceToFit(prefixes, request({ tail, layers: 2, volatile: 'Ada likes tea.', fields }), 1500);
    expect(view.volatileKeys).toEqual(['memories']);
    expect(view.layers.every(({ dropped }) => !dropped)).toBe(true);
    expect(JSON.stringify(view.messages)).toContain('What of this?');
  });

  // Shows: P18
  it('shortens old texts further before the question', () => {
    const asked = 'Why is the boat blue? '.repeat(195);
    const tail = [...Array.from({ length: 2 }, (_, index) => user(index + 1, 'old news '.repeat(900))), user(3, asked)];
    const fields = { windowTokens: 2400, reserveTokens: 100 };
    const { view } = reduceToFit(prefixes, request({ tail, fields }), 2400);
    const shown = JSON.stringify(view.messages);
    expect(shown).toContain(asked.trim());
    expect(shown).toContain('characters left out');
  });

  it('omits whole rounds of tools and counts them', () => {
    const rounds = Array.from({ length: 60 }, (_, index) => {
      const id = `c${index}`;
      return [calls(index * 2 + 2, 1, [id]), results(index * 2 + 3, 1, [id], 'found '.repeat(20))];
    });
    const tail = [user(1), ...rounds.flat(), user(122, 'What of this? '.repeat(40))];
    for (const windowTokens of [1150, 1200, 1250, 1300, 1400, 1500, 1700]) {
      const { view } = reduceToFit(
        prefixes,
        request({ tail, fields: { windowTokens, reserveTokens: 100 } }),
        windowTokens,
      );
      const text = JSON.stringify(view.messages);
      const left = Number(/(\d+) earlier messages are left out/u.exec(text)?.[1] ?? 0);
      const shown = view.messages.reduce((sum, message) => sum + (message.role === 'tool' ? 2 : 0), 0);
      expect(left + shown + (left === 0 ? 1 : 0)).toBe(121);
    }
  });

  it('says with one line that summaries are left out', () => {
    const tail = Array.from({ length: 40 }, (_, index) => user(index + 1, 'one more point that needs an answer today'));
    const { view } = reduceToFit(
      prefixes,
      request({ tail, layers: 8, fields: { windowTokens: 1300, reserveTokens: 100 } }),
      1300,
    );
    const notes = view.system.filter(({ text }) => text.includes('the summaries of messages'));
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^\[System: the summaries of messages #1 to #\d+ are left out here .*\]$/),
    ]);
    expect(view.layers).toHaveLength(8);
  });
});
