import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minSourceTokens } from '../../../src/context/cuts/depth.ts';
import { reduceBelow } from '../../../src/context/fit/fit.ts';
import { inspectContext } from '../../../src/context/inspection.ts';
import { estimateText } from '../../../src/context/measure/tokens.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import { viewKey } from '../../../src/context/view/order.ts';
import { gapText } from '../../../src/context/view/reduce.ts';
import type { ContextProfile } from '../../../src/ports/engine.ts';
import type { ToolSpec } from '../../../src/ports/model.ts';
import type { ContextSnapshot } from '../../../src/ports/store.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { section } from '../../fixtures/context.ts';
import { SIZED, sized, sizedLimitMs } from '../../support/size.ts';
import {
  createWorld,
  filler,
  type Script,
  scriptedModel,
  transcriptIn,
  type World,
  type WorldOptions,
} from '../compaction/compaction.world.ts';

/** A message, its answer, and what tools gave in between, in tokens of a window of 2,000. */
interface Talk {
  readonly said: number;
  readonly answered: number;
  readonly tools: readonly number[];
}

const size = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 2, max: 80 }) },
  { weight: 2, arbitrary: fc.integer({ min: 80, max: 400 }) },
  { weight: 1, arbitrary: fc.integer({ min: 400, max: 6000 }) },
);
const talk: fc.Arbitrary<Talk> = fc.record({ said: size, answered: size, tools: fc.array(size, { maxLength: 3 }) });

const languages: Readonly<Record<string, (tokens: number, seed: number) => string>> = {
  english: filler,
  chinese: (tokens, seed) => '昨天我们讨论了会议的时间和地点。'.repeat(Math.ceil(tokens / 12)).slice(seed % 7),
  emoji: (tokens, seed) => `party ${seed} ${'👩‍👩‍👧‍👦🎉'.repeat(Math.ceil(tokens / 12))}`,
  code: (tokens, seed) => `const x${seed} = [${'1, {a: "b"}, '.repeat(Math.ceil(tokens / 7))}];`,
};

/** What an agent may set about its window; most set nothing. */
const compaction: fc.Arbitrary<NonNullable<NonNullable<WorldOptions['agent']>['compaction']>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { background_threshold: 0.6, aggressive_threshold: 0.7 },
      { background_target: 0.4, aggressive_target: 0.3 },
      { tail_share: 0.2 },
      { fixed_share: 0.2, reserve_share: 0.1 },
    ),
  },
);

const setting = fc.record({
  compaction,
  window: fc.constantFrom(2000, 3000, 4000, 8000, 16_000, 32_000, 200_000),
  ratio: fc.option(fc.double({ min: 0.6, max: 2.5, noNaN: true }), { nil: undefined }),
  persona: fc.constantFrom(10, 200, 3000),
  tools: fc.constantFrom(0, 5, 40),
  instructions: fc.constantFrom(0, 3, 60),
  language: fc.constantFrom(...Object.keys(languages)),
});

const TOKENS_PER_WORD = 1.25;

/** Keeps the beginning of every line, within the words that the prompt allows. */
const openings: Script = ({ purpose, system, ...request }) => {
  if (purpose === 'extract') return { text: 'NOTHING' };
  const words = Number(/about (\d+) words/u.exec(system.map(({ text }) => text).join('\n'))?.[1]);
  const transcript = transcriptIn({ purpose, system, ...request });
  const lines = transcript.split('\n').map((line) => line.replace(/^\[[^\]]*\] ?/u, '').trim());
  const said = lines.map((line) => line.slice(0, Math.max(8, (words * 3) / lines.length))).join(' ');
  const share = (words * TOKENS_PER_WORD) / Math.max(1, estimateText(said));
  return { text: `They said: ${said.slice(0, Math.floor(said.length * Math.min(1, share)))}` };
};

function toolsOf(count: number): readonly ToolSpec[] {
  const field = { type: 'string', description: 'What to look for, in the words of the person who asked for it' };
  return Array.from({ length: count }, (_, index) => ({
    name: `look_up_${index}`,
    description: 'Looks something up in a catalogue. Call it once for each question. It returns at most ten rows.',
    inputSchema: { type: 'object', properties: { query: field, place: field, person: field }, required: ['query'] },
  }));
}

function instructionsOf(count: number): WorldOptions['instructions'] {
  const lines = Array.from({ length: count }, (_, index) => `- [i${index}] Ask before you delete the file ${index}.`);
  return section({ key: 'instructions', text: lines.join('\n'), priority: 95, protected: true });
}

async function shown(world: World) {
  const snapshot = await world.snapshot();
  const profile = await world.profiles.of(snapshot.conversation);
  const report = inspectContext(world.services, { profile, snapshot });
  return { report, snapshot, newestTokens: leastTokens(world, profile, newestOf(snapshot)) };
}

/** Only what may not leave: the summaries, the newest message of a person, and what answers it. */
function newestOf(snapshot: ContextSnapshot): ContextSnapshot {
  const tail = snapshot.tail.filter((entry) => viewKey(entry) >= snapshot.conversation.answeredUpto);
  return { ...snapshot, tail };
}

/** The tokens of the view that is reduced until it is below the background threshold, or as far as possible. */
function leastTokens({ services }: World, profile: ContextProfile, snapshot: ContextSnapshot): number {
  const request = { profile, snapshot, readUpto: snapshot.conversation.nextSeq - 1, volatile: [], steps: [] };
  const wantedTokens = profile.thresholds.background * profile.windowTokens;
  const limits = { limitTokens: profile.windowTokens, wantedTokens };
  const { measurement, correction } = reduceBelow(createFixedPrefixBuilder(services), request, limits);
  // One line stands for the messages before.
  return measurement.used + Math.ceil(estimateText(gapText(99)) * correction);
}

/** The tokens of the turns before the newest that the share of the tail does not keep. A compaction splits no turn. */
function wholeTurns({ tail, conversation }: ContextSnapshot, reservedTokens: number): number {
  const starts = tail.flatMap((entry, index) =>
    entry.role === 'user' && viewKey(entry) <= conversation.answeredUpto ? [index] : [],
  );
  const allowed = starts.filter((start) => tokensOf(tail.slice(start)) >= reservedTokens);
  return Math.max(0, ...allowed.map((start) => tokensOf(tail.slice(0, start))));
}

function tokensOf(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Runs jobs until nothing is due. Returns whether anything was summarised. */
async function workOff(world: World): Promise<boolean> {
  let summarised = false;
  for (let round = 0; round < 50; round += 1) {
    const { changed, reason } = await world.run();
    summarised ||= /summarised/u.test(reason);
    if (!changed) {
      expect(reason).toBe('nothing is due');
      return summarised;
    }
  }
  throw new Error('The jobs never came to an end.');
}

const short: Talk = { said: 2, answered: 2, tools: [] };
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never;
const base: Setting = {
  compaction: {},
  window: 2000,
  ratio: undefined,
  persona: 10,
  tools: 0,
  instructions: 0,
  language: 'english',
};
/** A huge newest exchange after one so small that no job summarises it, and one too large for any view. */
const huge: [Setting, Talk[]][] = [
  [{ ...base, ratio: 0.6 }, [short, { said: 1430, answered: 926, tools: [] }, short]],
  [{ ...base, tools: 40 }, [short, { said: 353, answered: 183, tools: [208, 47, 3] }, short]],
  [
    { ...base, ratio: 2.5, persona: 3000, tools: 40, instructions: 3, language: 'code' },
    [{ said: 314, answered: 3, tools: [5, 18] }, { said: 397, answered: 181, tools: [4511, 356, 44] }, short],
  ],
  // Two turns that are too small for a summary of their own precede larger ones.
  [
    { ...base, window: 3000, ratio: 1.07, persona: 3000, tools: 40, language: 'chinese' },
    [
      { said: 2, answered: 80, tools: [118] },
      { said: 20, answered: 30, tools: [] },
      { said: 69, answered: 40, tools: [138] },
      { said: 2, answered: 59, tools: [40] },
      { said: 59, answered: 49, tools: [] },
      { said: 23, answered: 2, tools: [] },
      short,
    ],
  ],
  // With the line for the first exchange, the second fits only if its question is shortened as far as possible.
  [
    { ...base, ratio: 2.42, persona: 3000, tools: 40, language: 'chinese' },
    [{ said: 6, answered: 78, tools: [] }, { said: 411, answered: 61, tools: [85, 8, 5] }, short],
  ],
];

describe('a conversation at rest', () => {
  it('stays below the background threshold and within its window', {
    ...SIZED,
    timeout: sizedLimitMs(400_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.array(talk, { minLength: 8, maxLength: 20 }), async (of, talks) => {
        const write = languages[of.language] ?? filler;
        const scale = Math.sqrt(of.window / 2000);
        await using world = await createWorld({
          model: scriptedModel(openings, { window: 32_000 }),
          window: of.window,
          reserve: 4096,
          tools: toolsOf(of.tools),
          ...(of.ratio === undefined ? {} : { ratio: of.ratio }),
          ...(of.instructions === 0 ? {} : { instructions: instructionsOf(of.instructions) ?? expect.unreachable() }),
          agent: {
            compaction: of.compaction,
            persona: filler(of.persona),
            context_window: of.window,
            max_output_tokens: Math.min(4096, of.window / 2),
          },
        });
        for (const [index, { said, answered, tools }] of talks.entries()) {
          const uses = tools.map((tokens, call) => ({
            tool: 'look_up_0',
            input: { query: `${call}` },
            result: write(tokens * scale, index),
          }));
          await world.exchange(write(said * scale, index), write(answered * scale, index + 3), uses);
          await world.clock.advance(HOUR_MS);
          const before = await shown(world);
          expect(before.report.measurement.used).toBeLessThanOrEqual(of.window);
          const summarised = await workOff(world);
          const { report, snapshot, newestTokens } = await shown(world);
          const { used, window } = report.measurement;
          // The view may be too large only if its required part is, even when shortened.
          const { background } = report.thresholds;
          if (newestTokens < background * window) expect(used).toBeLessThan(background * window);
          // Older messages that are too few to be worth a job stay too.
          const correction = of.ratio ?? 1.1;
          const reserved = (Number(of.compaction.tail_share ?? 0) * window) / correction;
          const profile = await world.profiles.of(snapshot.conversation);
          const least = minSourceTokens(snapshot, profile, { isAsked: false, correction });
          const mayLeave = wholeTurns(snapshot, reserved) >= least;
          if (summarised && mayLeave) expect(used).toBeLessThanOrEqual((background - 0.05) * window);
          // Summaries of different levels are condensed above one and a half times the share of the stack.
          const mayCondense = snapshot.stack.length > 1;
          if (mayCondense) expect(tokensOf(snapshot.stack) * correction).toBeLessThanOrEqual(0.225 * window);
        }
        for (const { run } of world.of('maintenance.ended')) {
          expect(Math.max(run.tokensBefore, run.tokensAfter)).toBeLessThanOrEqual(of.window);
        }
      }),
      {
        examples: huge,
        numRuns: huge.length + sized({ small: 4, full: 60 }),
        // Also limits how long a failure is shrunk.
        interruptAfterTimeLimit: sized({ small: 20_000, full: 40_000 }),
      },
    );
  });

  it('needs no layer above level 3 for 675 messages', async () => {
    const agent = { context_window: 8000, max_output_tokens: 1000 };
    await using world = await createWorld({ model: scriptedModel(openings, { window: 32_000 }), window: 8000, agent });
    for (let turn = 0; turn < 338; turn += 1) {
      await world.exchange(filler(20 + ((turn * 7) % 50), turn), filler(15 + ((turn * 11) % 60), turn + 3));
      if (turn % 4 === 3) await workOff(world);
    }
    const levels = world.of('stack.condensed').map(({ level }) => level);
    expect(Math.max(...levels)).toBeGreaterThan(0);
    expect(Math.max(...levels)).toBeLessThanOrEqual(3);
  });
});
