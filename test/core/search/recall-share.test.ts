import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultAgent as agentWith } from '../../../src/config/defaults.ts';
import { addPassages } from '../../../src/context/fit/add-passages.ts';
import { reduceIfDue, reduceToFit } from '../../../src/context/fit/fit.ts';
import { limitsOf } from '../../../src/context/profile/shares.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import type { Fitted, ViewRequest } from '../../../src/context/view/view.ts';
import type { Entry } from '../../../src/domain/message.ts';
import type { PassageSection, VolatileSection } from '../../../src/ports/sections.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { bot, profile, snapshot, summary, user } from '../../fixtures/context.ts';
import { faults } from '../../fixtures/provider-rules.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

const prefixes = createFixedPrefixBuilder({
  prompts: createPromptLibrary(),
  agents: { agent: () => null },
});
const LAYER = summary({ fromSeq: 1, toSeq: 50, text: 'They talked about boats. '.repeat(10) });
const section: PassageSection = {
  key: 'passages',
  text: '[Earlier]',
  source: 'transcript',
  reason: '',
  memoryIds: [],
  passages: Array.from({ length: 50 }, (_, index) => ({
    seq: index + 1,
    externalId: `m${index + 1}`,
    text: `[#${index + 1}] the tent number ${index} is orange, and it has a green door that nobody ever closes`,
  })),
};

/** A talk that fills the window up to a share, with a question at the end. */
function filled(windowTokens: number, share: number, wordsEach: number): ViewRequest {
  const limits = limitsOf(
    agentWith({ context_window: windowTokens, max_output_tokens: windowTokens / 4 }),
    windowTokens,
  );
  const traits = { windowTokens, tools: true, images: false };
  const tail: Entry[] = [];
  const request = (): ViewRequest => {
    const asked = user(51 + tail.length, 'What colour is my tent?');
    const view = snapshot([...tail, asked], { answeredUpto: asked.seq - 1, replyDueSeq: asked.seq }, [LAYER]);
    return { profile: profile({ ...limits, traits }), snapshot: view, readUpto: asked.seq, volatile: [], steps: [] };
  };
  const usedTokens = () => reduceIfDue(prefixes, request()).measurement.used;
  while (usedTokens() < share * windowTokens) {
    const seq = 51 + tail.length;
    tail.push(user(seq, 'cloud '.repeat(wordsEach)), bot(seq + 1, seq, 'wind '.repeat(wordsEach)));
  }
  return request();
}

describe('the share for recalled text', () => {
  it('has space for passages in an almost full view', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(2000, 3000, 4000, 8000),
        fc.double({ min: 0.5, max: 0.93, noNaN: true }),
        fc.integer({ min: 3, max: 30 }),
        (windowTokens, share, wordsEach) => {
          const request = filled(windowTokens, share, wordsEach);
          const fitted = reduceIfDue(prefixes, request);
          if (fitted.measurement.tier === 'emergency') return;
          const { view, measurement } = addPassages(prefixes, fitted, { volatile: [section] });
          expect(view.volatileKeys).toEqual(['passages']);
          expect(view.regions.volatile).toBeGreaterThan(request.profile.recallTokens * 0.7);
          expect(measurement.ratio).toBeLessThanOrEqual(0.95);
          expect(faults(view.messages)).toEqual([]);
          expect(JSON.stringify(view.messages.at(-1))).toContain('What colour is my tent?');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('leaves a view alone that has space, or no passages', () => {
    const full = reduceIfDue(prefixes, filled(4000, 0.9, 10));
    expect(addPassages(prefixes, full, { volatile: [] })).toBe(full);
    const shown = { ...section, passages: section.passages.map((one) => ({ ...one, seq: one.seq + 1000 })) };
    expect(addPassages(prefixes, full, { volatile: [shown] })).toBe(full);
    const half = reduceIfDue(prefixes, filled(4000, 0.6, 10));
    const { request } = addPassages(prefixes, half, { volatile: [section] });
    expect(request.snapshot).toBe(half.request.snapshot);
  });

  it('shortens long messages when none may leave', () => {
    const windowTokens = 4000;
    const request = filled(windowTokens, 0.5, 10);
    const long = user(request.readUpto, 'cloud '.repeat(2500));
    const asked = user(request.readUpto + 1, 'What colour is my tent?');
    const waiting = { answeredUpto: long.seq - 1, replyDueFrom: long.seq, replyDueSeq: asked.seq };
    const view = snapshot([...request.snapshot.tail.slice(0, -1), long, asked], waiting, [LAYER]);
    const pressed = reduceToFit(prefixes, { ...request, snapshot: view, readUpto: asked.seq }, windowTokens);
    const fitted = addPassages(prefixes, pressed, { volatile: [section] });
    expect(fitted.view.volatileKeys).toEqual(['passages']);
    expect(fitted.measurement.ratio).toBeLessThanOrEqual(0.95);
  });

  it('costs the tail no more than the usual share', () => {
    const full = filled(4000, 0.93, 10);
    const quoted = (recallTokens: number) => {
      const request = { ...full, profile: { ...full.profile, recallTokens } };
      return addPassages(prefixes, reduceIfDue(prefixes, request), { volatile: [section] });
    };
    const [usual, large] = [quoted(full.profile.recallTokens), quoted(full.profile.recallTokens * 4)];
    const kept = ({ request }: Fitted) => request.snapshot.tail.length;
    expect(kept(usual)).toBeLessThan(full.snapshot.tail.length);
    // The usual share may end in a message that does not fit in.
    expect(kept(large)).toBeGreaterThanOrEqual(kept(usual) - 2);
    // Free space is used beyond that.
    const half = filled(4000, 0.5, 10);
    const spacious = { ...half, profile: { ...half.profile, recallTokens: half.profile.recallTokens * 3 } };
    const { view, request } = addPassages(prefixes, reduceIfDue(prefixes, spacious), { volatile: [section] });
    expect(view.regions.volatile).toBeGreaterThan(half.profile.recallTokens * 2);
    expect(request.snapshot).toBe(spacious.snapshot);
  });

  it('keeps what it was given beside memories', () => {
    const memories: VolatileSection = {
      ...section,
      key: 'memories',
      text: 'known '.repeat(40),
      memoryIds: ['m' as never],
    };
    const request = { ...filled(4000, 0.9, 10), volatile: [memories] };
    const { view } = addPassages(prefixes, reduceIfDue(prefixes, request), { volatile: [section, memories] });
    expect(view.volatileKeys).toEqual(['passages', 'memories']);
    expect(view.regions.volatile).toBeLessThanOrEqual(request.profile.recallTokens + 2);
  });

  it('is counted before the fixed part takes its own', () => {
    const compaction = { background_threshold: 0.9, aggressive_threshold: 0.92, reserve_share: 0.35 };
    const shares = (tokens: number) =>
      limitsOf(agentWith({ max_output_tokens: 9000, compaction, recall: { tokens } }), 10_000).fixedShare;
    expect(shares(1500)).toBeCloseTo(0.95 - 0.15 - 0.15 - 0.05 - 0.35);
    expect(shares(0)).toBe(0.3);
  });
});

describe('a bot whose summariser fails', () => {
  it.each([2000, 4000])('still sees what answers at %i', async (window) => {
    const model = scriptedModel(
      ({ purpose }) => (purpose === 'reply' ? { text: 'Noted.' } : { error: new Error('down') }),
      { id: 'test:chat' },
    );
    const agent = { context_window: window, max_output_tokens: window / 4 };
    await using world = await createBotWorld({ models: [model], agent });
    const say = async (text: string) => {
      await world.say(text);
      await world.settled();
    };
    await say('My tent is orange.');
    const ratio = async () => (await world.bot.commandServices.inspect(await world.conversation())).measurement.ratio;
    for (let turn = 0; turn < 400; turn += 1) {
      if ((await world.snapshot()).conversation.compactedUpto > 2 && (await ratio()) > 0.9) break;
      await say(`${turn} the weather report spoke of clouds`);
    }
    expect(await ratio()).toBeGreaterThan(0.9);
    await say('What colour is my tent?');
    const last = model.requests.findLast(({ purpose }) => purpose === 'reply')?.messages.at(-1);
    expect(JSON.stringify(last)).toContain('| Ada] My tent is orange.');
  });
});

describe('memories beside passages', () => {
  it('take half of the share at most', async () => {
    const model = scriptedModel(() => ({ text: 'Noted.' }), { id: 'test:chat' });
    const agent = { context_window: 2000, max_output_tokens: 200 };
    await using world = await createBotWorld({ models: [model], agent });
    const say = async (text: string) => {
      await world.say(text);
      await world.settled();
    };
    await say('My tent is orange and I bought it in Porto.');
    for (let turn = 0; turn < 24; turn += 1)
      await say(`${turn} ${'clouds and a little wind over the bridge '.repeat(16)}`);
    for (let index = 0; index < 8; index += 1) {
      const text = `The tent of Ada number ${index} has a colour that is number ${index * 7} of the list`;
      await world.command('memory remember', { text });
    }
    const part = async (question: string, key: string) => {
      const { parts } = await world.bot.commandServices.preview(await world.conversation(), question);
      return parts.find((one) => one.key === key && one.included)?.tokens ?? 0;
    };
    expect(await part('What colour is my tent?', 'passages')).toBeGreaterThan(30);
    expect(await part('What colour is my tent?', 'memories')).toBeLessThanOrEqual(100);
    expect(await part('The colour of my tent is nice.', 'memories')).toBeGreaterThan(100);
  });
});
