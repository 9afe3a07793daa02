import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelError, type SummaryId } from '../../../src/adapter-kit.ts';
import {
  cachePricesOf,
  isPublicationDue,
  isWarm,
  type PublicationFacts,
} from '../../../src/context/cuts/publication.ts';
import { placeReady, publishedView } from '../../../src/context/cuts/ready.ts';
import { lastReported } from '../../../src/context/measure/calibration.ts';
import { parsePrint } from '../../../src/context/record/request-print.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { snapshot, summary, user } from '../../fixtures/context.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import {
  faithful,
  filler,
  type Script,
  type ScriptedModel,
  scriptedModel,
  settle,
} from '../compaction/compaction.world.ts';

const profile = { windowTokens: 8000, thresholds: { background: 0.8, aggressive: 0.85, emergency: 0.95 } };
const warm: PublicationFacts = {
  profile,
  usedTokens: 6500,
  publishedTokens: 4500,
  rewrittenTokens: 3000,
  isWarm: true,
  isBroken: false,
  requests: 0,
  prices: { read: 0.1, miss: 1.25 },
};

describe('a ready summary', () => {
  it('waits while the cache is warm and there is room', () => {
    expect(isPublicationDue(warm)).toBe(false);
    expect(isPublicationDue({ ...warm, isWarm: false })).toBe(true);
    expect(isPublicationDue({ ...warm, isBroken: true })).toBe(true);
  });

  it('never waits beyond the aggressive threshold', () => {
    const facts = fc.record({
      usedTokens: fc.integer({ min: 6800, max: 20_000 }),
      publishedTokens: fc.integer({ min: 0, max: 20_000 }),
      rewrittenTokens: fc.integer({ min: 0, max: 20_000 }),
      requests: fc.integer({ min: 0, max: 100 }),
    });
    fc.assert(fc.property(facts, (given) => isPublicationDue({ ...warm, ...given })));
  });

  it('waits until it cost as much as a new prefix', () => {
    // 2,000 tokens at 0.1 for each request, 3,000 tokens at 1.15 for the prefix.
    expect(isPublicationDue({ ...warm, requests: 17 })).toBe(false);
    expect(isPublicationDue({ ...warm, requests: 18 })).toBe(true);
    expect(isPublicationDue({ ...warm, prices: { read: 1, miss: 1 } })).toBe(true);
  });

  it('is left out after a reset that hid its messages', () => {
    const ready = [summary({ fromSeq: 1, toSeq: 4 }), summary({ fromSeq: 5, toSeq: 8 })];
    const placed = (contextFrom: number) =>
      placeReady({ compactedUpto: 0, contextFrom, nextSeq: 9 }, [], ready).placed.map(({ fromSeq }) => fromSeq);
    expect(placed(1)).toEqual([1, 5]);
    expect(placed(2)).toEqual([]);
  });

  it('makes the count of the provider useless for its view', () => {
    const calibration = { model: 'offline:demo', ratio: 1, samples: 5, lastInputTokens: 900, revision: 3 };
    const view = snapshot([user(1), user(2)], { calibration, revision: 3 });
    const published = publishedView({ ...view, ready: [summary({ fromSeq: 1, toSeq: 1 })] });
    expect(published.tail.map(({ seq }) => seq)).toEqual([2]);
    const lasting = (of: typeof view) =>
      lastReported(of.conversation.calibration, { model: 'offline:demo', revision: 3 });
    expect([lasting(view), lasting(published)]).toEqual([900, null]);
  });

  it('takes its share of what the view left out', () => {
    const view = { ...snapshot([user(101), user(102)], { nextSeq: 103 }), omitted: { entries: 100, tokens: 3000 } };
    const left = (toSeq: number) => publishedView({ ...view, ready: [summary({ fromSeq: 1, toSeq })] }).omitted;
    expect(left(40)).toEqual({ entries: 60, tokens: 1800 });
    expect(left(101)).toEqual({ entries: 0, tokens: 0 });
  });

  it('is priced by the list where it knows the model', () => {
    const perThousand = ({ cacheReadTokens }: { readonly cacheReadTokens: number }) => (cacheReadTokens > 0 ? 2 : 5);
    expect(cachePricesOf(perThousand)).toEqual({ read: 2, miss: 5 });
    expect(cachePricesOf(() => null)).toEqual({ read: 0.1, miss: 1.25 });
    expect(cachePricesOf(() => 0)).toEqual({ read: 0.1, miss: 1.25 });
    expect(isWarm(null, { modelId: 'm', traits: { windowTokens: 1, tools: true, images: true } }, 0)).toBe(false);
  });
});

/** Reports that it has read most of the request from its cache. */
const cached: Script = ({ messages }) => ({
  text: `Answer ${messages.length}. ${filler(40, messages.length)}`,
  inputTokens: 100,
  cacheReadTokens: 90,
});

async function createWorld(): Promise<BotWorld & { readonly reply: ScriptedModel }> {
  const reply = scriptedModel(cached, { id: 'test:chat' });
  const world = await createBotWorld({
    models: [reply, scriptedModel(faithful)],
    agent: {
      context_window: 3000,
      compaction: { model: 'test:summariser', background_threshold: 0.5, aggressive_threshold: 0.85 },
    },
  });
  return Object.assign(world, { reply });
}

async function say(world: BotWorld, text: string): Promise<void> {
  await world.say(text);
  await world.settled();
  await settle();
  await world.bot.services.queue.idle();
}

async function readyIn(world: BotWorld): Promise<number> {
  return ((await world.snapshot()).ready ?? []).length;
}

/** Talks until a summary is ready. */
async function untilReady(world: BotWorld): Promise<void> {
  for (let turn = 0; turn < 30 && (turn === 0 || (await readyIn(world)) === 0); turn += 1) {
    await say(world, `The walrus sleeps on pier ${turn}. ${filler(40, turn)}`);
  }
  expect(await readyIn(world)).toBeGreaterThan(0);
}

function lossesIn({ events }: BotWorld): readonly string[] {
  return events.flatMap((event) => (event.kind === 'cache.lost' ? [event.cause] : []));
}

describe('a conversation with a prefix cache', () => {
  it('shows in its status what waits for publication', async () => {
    await using world = await createWorld();
    await say(world, 'The walrus sleeps on pier 0.');
    const stackIn = async () => (await world.command('status')).fields.find(({ name }) => name === 'Stack')?.value;
    expect(await stackIn()).not.toContain('ready');
    await untilReady(world);
    const count = await readyIn(world);
    expect(await stackIn()).toMatch(new RegExp(`tokens; ${count} more ready to be published$`));
  });

  it('keeps its prefix while a summary is ready', async () => {
    await using world = await createWorld();
    await untilReady(world);
    const { stack } = await world.snapshot();
    expect(stack).toEqual([]);
    await say(world, 'And now?');
    expect(lossesIn(world)).toEqual([]);
    expect(publishedView(await world.snapshot()).stack.length).toBeGreaterThan(0);
  });

  it('publishes when the cache is cold', async () => {
    await using world = await createWorld();
    await untilReady(world);
    await world.clock.advance(6 * MINUTE_MS);
    await say(world, 'Good morning.');
    expect(await readyIn(world)).toBe(0);
    expect((await world.snapshot()).stack.length).toBeGreaterThan(0);
    const last = world.reply.requests.at(-1);
    expect(JSON.stringify(last?.system)).toContain('People talked about the river');
  });

  it('publishes before the view reaches the aggressive threshold', async () => {
    await using world = await createWorld();
    await untilReady(world);
    for (let turn = 0; turn < 30; turn += 1) await say(world, filler(60, turn));
    expect((await world.snapshot()).stack.length).toBeGreaterThan(0);
    expect(lossesIn(world)).toContain('compaction');
    expect(world.events.some(({ kind }) => kind === 'gap.opened')).toBe(false);
    const tiers = world.events.flatMap((event) => (event.kind === 'context.tier' ? [event.tier] : []));
    expect(tiers).not.toContain('emergency');
  });

  it('publishes instead of dropping messages after an overflow', async () => {
    await using world = await createWorld();
    await untilReady(world);
    let isTooLong = true;
    world.reply.script = (request, options) => {
      if (!isTooLong) return cached(request, options);
      isTooLong = false;
      throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too long' });
    };
    await say(world, 'And now?');
    expect(isTooLong).toBe(false);
    expect(await readyIn(world)).toBe(0);
    expect((await world.snapshot()).stack.map(({ kind }) => kind)).not.toContain('gap');
    expect(world.events.filter(({ kind }) => kind === 'gap.opened')).toEqual([]);
  });

  it('fills a gap at once, however warm the cache is', async () => {
    await using world = await createWorld();
    for (let turn = 0; turn < 5; turn += 1) await say(world, filler(40, turn));
    expect(await readyIn(world)).toBe(0);
    const { id } = await world.conversation();
    const gap = { id: 'gap' as SummaryId, conversationId: id, expectedCompactedUpto: 0, toSeq: 4 };
    const opened = await world.bot.services.store.summaries.openGap({ ...gap, now: world.clock.now() });
    expect(opened).toBe('committed');
    world.bot.changed(world.key);
    await say(world, 'And now?');
    expect(await readyIn(world)).toBe(0);
    expect((await world.snapshot()).stack).toMatchObject([{ kind: 'summary', fromSeq: 1, toSeq: 4 }]);
  });

  it('publishes when another model answers', async () => {
    await using world = await createWorld();
    await untilReady(world);
    const last = parsePrint(await world.bot.services.store.journal.cache.lastRequest((await world.conversation()).id));
    const traits = { windowTokens: 3000, tools: true, images: false };
    const isWarmFor = (modelId: string) => isWarm(last, { modelId, traits }, world.clock.now());
    expect([isWarmFor('test:chat'), isWarmFor('test:other')]).toEqual([true, false]);
  });

  it('publishes together with another change of the prefix', async () => {
    await using world = await createWorld();
    await untilReady(world);
    await world.command('memory remember', { text: 'Always answer in one sentence.' });
    const saved = world.events.findLast(({ kind }) => kind === 'memory.saved');
    await world.command('memory approve', { id: saved?.kind === 'memory.saved' ? (saved.ids[0] ?? '') : '' });
    await say(world, 'And now?');
    expect(await readyIn(world)).toBe(0);
    expect(lossesIn(world)).toEqual(['instructions']);
  });

  it('finds a ready summary after a crash', async () => {
    await using world = await createWorld();
    await untilReady(world);
    const before = await readyIn(world);
    await world.crash();
    expect(await readyIn(world)).toBe(before);
    await world.command('compact');
    expect(await readyIn(world)).toBe(0);
    expect((await world.snapshot()).stack.length).toBeGreaterThanOrEqual(before);
  });

  it('drops a ready summary of an edited message', async () => {
    await using world = await createWorld();
    await untilReady(world);
    const edit = { conversation: world.key, externalId: 'm1', at: world.clock.now() };
    await world.bot.sink.edited({ ...edit, parts: [{ kind: 'text', text: 'Something else.' }] });
    expect(await readyIn(world)).toBe(0);
    await say(world, 'And now?');
    const requests = JSON.stringify(world.reply.requests.at(-1));
    expect(requests).toContain('Something else.');
    expect(requests).not.toContain('pier 0');
  });
});
