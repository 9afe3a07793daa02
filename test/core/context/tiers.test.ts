import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type ContextProfile,
  type ContextSnapshot,
  defineTool,
  type ModelRequest,
  type Tier,
} from '../../../src/adapter-kit.ts';
import { nextWork } from '../../../src/compaction/job/next-work.ts';
import { createMeasureView } from '../../../src/compaction/watch/measure.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { createStackedEngine } from '../../../src/context/engines/stacked.ts';
import { profile, type Story, snapshot, talk } from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { filler, scriptedModel } from '../compaction/compaction.world.ts';

/** S8 to S10: the default behaviour of an agent. */

const { background_threshold, aggressive_threshold, emergency_threshold } = defaultAgent().compaction;
const thresholds = {
  background: background_threshold,
  aggressive: aggressive_threshold,
  emergency: emergency_threshold,
};
const maintenance = { run: async () => ({ changed: false, reason: 'nobody works here' }) };

/** Every question but the last is answered, so that nearly all of it may leave. */
function answered(turns: number): Pick<Story, 'tail' | 'asking'> & { readonly snapshot: ContextSnapshot } {
  const { tail, asking, conversation } = talk(turns);
  return { tail, asking, snapshot: snapshot(tail, conversation) };
}

/** The profile whose window this view fills to the given share. */
function filledTo(ratio: number, used: (of: ContextProfile) => number): ContextProfile {
  const wide = profile({ thresholds, reserveTokens: 0, windowTokens: 1_000_000 });
  return { ...wide, windowTokens: Math.floor(used(wide) / ratio) };
}

describe('the tiers that an agent has when nobody says otherwise', () => {
  // Shows: S8, S9
  it.each([
    [0.79, 'none', 0],
    [0.8, 'background', 0.3],
    [0.849, 'background', 0.3],
    [0.85, 'aggressive', 0.5],
    [0.94, 'aggressive', 0.5],
  ] satisfies readonly (readonly [number, Tier, number])[])(
    'at %s of the window are %s, taking %s',
    async (ratio, tier, share) => {
      await using place = await createPlace();
      const { snapshot: view } = answered(60);
      const measureView = createMeasureView(place.services);
      const filled = filledTo(ratio, (wide) => measureView(wide, view).measurement.used);
      const measured = measureView(filled, view);
      expect(measured.measurement.tier).toBe(tier);
      const of = {
        snapshot: view,
        profile: filled,
        trigger: 'queue',
        open: null,
        asked: null,
        idleMs: 600_000,
        now: 0,
        settling: false,
        isCached: false,
        canWait: false,
      } as const;
      const work = nextWork({ ...of, ...measured });
      if (tier === 'none') return expect(work).toBeNull();
      const tokens = (upto: number) =>
        view.tail.reduce((sum, entry) => sum + (entry.seq <= upto ? entry.tokens : 0), 0);
      expect(work).toMatchObject({ kind: 'compact', trigger: tier, fromSeq: 1 });
      expect(tokens(work?.toSeq ?? 0) / tokens(Number.MAX_SAFE_INTEGER)).toBeCloseTo(share, 1);
    },
  );

  // Shows: S10, S27
  it('at 0.95 drop the oldest half without a model', async () => {
    await using place = await createPlace();
    const { tail, asking } = answered(60);
    const view = await place.tell({ tail, asking });
    const engine = createStackedEngine({ services: place.services, maintenance });
    const measureView = createMeasureView(place.services);
    const request = { snapshot: view, readUpto: tail.length, volatile: [], steps: [], now: Date.now() };
    const calm = filledTo(0.94, (wide) => measureView(wide, view).measurement.used);
    expect((await engine.assemble({ ...request, profile: calm })).snapshot.stack).toEqual([]);
    const full = filledTo(0.951, (wide) => measureView(wide, view).measurement.used);
    const { stack } = (await engine.assemble({ ...request, profile: full })).snapshot;
    expect(stack).toMatchObject([{ kind: 'gap', fromSeq: 1 }]);
    expect((stack[0]?.toSeq ?? 0) / tail.length).toBeCloseTo(0.5, 1);
    expect(place.seen.filter(({ kind }) => kind === 'gap.opened')).toMatchObject([{ reason: 'emergency' }]);
  });
});

it('what a turn looked up counts once', async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks around.',
    input: z.object({}),
    run: async () => filler(1500),
  });
  let calls = 0;
  const model = scriptedModel(({ messages }) => {
    if (calls > 0 || messages.length < 38) return { text: 'A garden.', inputTokens: 0 };
    calls += 1;
    return { calls: [{ tool: 'look', input: {} }], inputTokens: 0 };
  });
  const agent = { model: model.id, context_window: 6500, max_output_tokens: 400, tools: ['look'] };
  await using world = await createBotWorld({ models: [model], tools: [look], agent });
  for (let turn = 0; turn < 21; turn += 1) {
    await world.say(filler(80, turn));
    await world.settled();
  }
  expect(calls).toBe(1);
  expect(world.events.filter(({ kind }) => kind === 'context.tier' || kind === 'maintenance.requested')).toEqual([]);
});

describe('a summary', () => {
  // Shows: P5, S23, S28
  it('precedes the next turn, oldest first, with its range', async () => {
    const chat = scriptedModel((_request, { count }) => ({ text: filler(60, count) }), { id: 'test:chat' });
    const model = scriptedModel(
      (_request, { count }) => ({
        calls: [{ tool: 'summary_save', input: { summary: `The ${count}. summary: they went on about the river.` } }],
      }),
      { id: 'test:summariser', window: 32_000 },
    );
    const agent = { compaction: { model: model.id, stack_share: 0.75 } };
    await using world = await createBotWorld({ models: [chat, model], agent });
    while ((await stackOf(world)).length < 3) {
      await world.say(`On and on: ${filler(80, chat.requests.length)}`);
      await world.settled();
      await world.bot.services.queue.idle();
    }
    await world.say('And now?');
    await world.settled();
    const stack = await stackOf(world);
    const shown = summariesIn(chat.requests.at(-1));
    expect(shown.map(({ range }) => range)).toEqual(stack.map(({ fromSeq, toSeq }) => `#${fromSeq} to #${toSeq}`));
    expect(shown.map(({ text }) => text)).toEqual(stack.map(({ text }) => text));
    // A summary has no author.
    for (const { messages } of chat.requests) expect(JSON.stringify(messages)).not.toContain('summary: they');
  });
});

async function stackOf(world: Awaited<ReturnType<typeof createBotWorld>>) {
  const conversation = await world.bot.services.store.conversations.find(world.key);
  return conversation === null ? [] : await world.bot.services.store.summaries.live(conversation.id);
}

function summariesIn(request: ModelRequest | undefined) {
  const text = (request?.system ?? []).map((block) => block.text).join('\n\n');
  return [...text.matchAll(/(#\d+ to #\d+)[^\n]*\n {2}(The \d+\. summary[^\n]*)/gu)].map(([, range, of]) => ({
    range,
    text: of,
  }));
}
