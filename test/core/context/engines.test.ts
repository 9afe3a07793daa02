import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  assembleView,
  type ContextEngine,
  defineTool,
  type FinishedTurn,
  makeChildKey,
  type Services,
} from '../../../src/adapter-kit.ts';
import { createEngines } from '../../../src/bot/engines.ts';
import { type AgentOverrides, defaultAgent } from '../../../src/config/defaults.ts';
import { defineEngine } from '../../../src/context/engines/define-engine.ts';
import { StrataError } from '../../../src/domain/errors.ts';
import type { ContextSnapshot, TurnMessage } from '../../../src/ports/store.ts';
import { key, profile, snapshot, talk } from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { BO, openWorld, type World } from '../commands/commands.world.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

const maintenance = { run: async () => ({ changed: false, reason: 'the stacked engine was asked' }) };
const broken = (error: Error) => () => Promise.reject(error);

const roles = (messages: readonly TurnMessage[]) => messages.map(({ role }) => role).join(' ');

/** A custom engine in which everything fails that the test names. */
function own(inner: ContextEngine, faults: Partial<ContextEngine> = {}): ContextEngine {
  return { ...inner, info: { ...inner.info, id: 'mine', name: 'Mine' }, ...faults };
}

async function openPlace(overrides: AgentOverrides) {
  const warnings: string[] = [];
  const agent = defaultAgent(overrides);
  const agents = {
    agentFor: () => agent,
    agent: (id: string) => (id === agent.id ? agent : null),
    list: () => [agent],
  };
  const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
  return { place: await createPlace({ agents, log }), warnings };
}

const stackedOf = (services: Services) =>
  createEngines({ services, maintenance, own: {} }).for({ agentId: 'nobody configured this' });

const request = {
  conversationId: 1,
  trigger: 'queue',
  instruction: null,
  signal: AbortSignal.timeout(60_000),
} as const;

const about = (snapshot: ContextSnapshot) => ({ profile: profile(), snapshot });
const read = { readUpto: 5, now: Date.now() };
const family = { parent: key, child: makeChildKey(key, 'a') };

/** Each member that an engine may take its time for. */
const calls = {
  maintain: (engine: ContextEngine) => engine.maintain(request),
  ingest: (engine: ContextEngine, shown: ContextSnapshot) => engine.ingest({ ...about(shown), seq: 1 }),
  ingestBatch: (engine: ContextEngine, shown: ContextSnapshot) => engine.ingestBatch({ ...about(shown), seqs: [1] }),
  endChild: (engine: ContextEngine) => engine.endChild({ ...family, conversationId: null, reason: 'completed' }),
  bootstrap: (engine: ContextEngine, shown: ContextSnapshot) => engine.bootstrap(shown),
  assemble: (engine: ContextEngine, shown: ContextSnapshot) =>
    engine.assemble({ ...about(shown), ...read, volatile: [], steps: [] }),
  compact: (engine: ContextEngine, shown: ContextSnapshot) =>
    engine.compact({ ...about(shown), ...read, reason: 'overflow' }),
  prepareChild: (engine: ContextEngine) => engine.prepareChild({ ...family, ttlMs: 1 }),
} as const;

describe('the context engines', () => {
  it('are chosen by the agent’s settings', async () => {
    const { place, warnings } = await openPlace({ engine: 'sliding' });
    await using _ = place;
    const engines = createEngines({ services: place.services, maintenance, own: {} });
    expect(engines.for({ agentId: 'main' }).info.id).toBe('sliding');
    expect(engines.for({ agentId: 'unknown' }).info.id).toBe('stacked');
    expect(warnings).toEqual([]);
  });

  // Shows: P31
  it('fall back to the stacked one with a warning', async () => {
    const { place, warnings } = await openPlace({ engine: 'stackd' });
    await using _ = place;
    const engines = createEngines({ services: place.services, maintenance, own: {} });
    for (let turn = 0; turn < 3; turn += 1) expect(engines.for({ agentId: 'main' }).info.id).toBe('stacked');
    expect(warnings).toHaveLength(1);
  });

  // Shows: T36
  it('may be custom, and are set aside once they throw', async () => {
    const { place } = await openPlace({ engine: 'mine' });
    await using _ = place;
    const { services } = place;
    let calls = 0;
    const assemble = () => {
      calls += 1;
      return Promise.reject(new Error('no more room in my head'));
    };
    const mine = own(stackedOf(services), { assemble, maintain: async () => ({ changed: true, reason: 'mine' }) });
    const engine = createEngines({ services, maintenance, own: { mine } }).for({ agentId: 'main' });
    expect(engine.info.id).toBe('mine');
    expect((await engine.maintain(request)).reason).toBe('mine');
    const snapshot = await place.tell(talk(3));
    const turn = { profile: profile(), snapshot, readUpto: 5, volatile: [], steps: [], now: Date.now() };
    for (let times = 0; times < 2; times += 1) expect((await engine.assemble(turn)).messages).not.toEqual([]);
    expect(calls).toBe(1);
    expect((await engine.maintain(request)).reason).toBe('the stacked engine was asked');
    const told = place.seen.filter((event) => event.kind === 'error.internal').map(({ message }) => message);
    expect(told).toEqual(['The context engine mine failed and is disabled: no more room in my head']);
  });

  it('are not blamed for an oversized message', async () => {
    const { place } = await openPlace({ engine: 'mine' });
    await using _ = place;
    const { services } = place;
    const tooSmall = new StrataError('WINDOW_TOO_SMALL', { usedTokens: 9, windowTokens: 1 });
    const answer = { bootstrapped: false, reason: 'mine' };
    const mine = own(stackedOf(services), { assemble: broken(tooSmall), bootstrap: async () => answer });
    const engine = createEngines({ services, maintenance, own: { mine } }).for({ agentId: 'main' });
    const snapshot = await place.tell(talk(1));
    const turn = { profile: profile(), snapshot, readUpto: 1, volatile: [], steps: [], now: Date.now() };
    await expect(engine.assemble(turn)).rejects.toThrow(tooSmall);
    expect(await engine.bootstrap(snapshot)).toEqual(answer);
  });

  it('stay in use when the store is away', async () => {
    const { place } = await openPlace({ engine: 'mine' });
    await using _ = place;
    const { services } = place;
    const away = new StrataError('STORE_UNREACHABLE', { path: 'there', reason: 'it restarts' });
    let isAway = true;
    const maintain = async () => {
      if (isAway) throw away;
      return { changed: true, reason: 'mine' };
    };
    const mine = own(stackedOf(services), { maintain });
    const engine = createEngines({ services, maintenance, own: { mine } }).for({ agentId: 'main' });
    await expect(engine.maintain(request)).rejects.toBe(away);
    isAway = false;
    expect((await engine.maintain(request)).reason).toBe('mine');
  });

  it.each<[keyof typeof calls, number]>([
    ['maintain', 600],
    ['ingest', 600],
    ['ingestBatch', 600],
    ['endChild', 600],
    ['bootstrap', 60],
    ['assemble', 60],
    ['compact', 60],
    ['prepareChild', 60],
  ])('are set aside when %s never answers', async (member, seconds) => {
    const { place } = await openPlace({ engine: 'mine' });
    await using _ = place;
    const { services } = place;
    const signals: (AbortSignal | undefined)[] = [];
    const hang = (work: { readonly signal?: AbortSignal }) => {
      signals.push(work.signal);
      return new Promise<never>(() => undefined);
    };
    const mine = own(stackedOf(services), { [member]: hang });
    const engine = createEngines({ services, maintenance, own: { mine } }).for({ agentId: 'main' });
    const shown = await place.tell(talk(3));
    const call = () => calls[member](engine, shown);
    let isAnswered = false;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = Promise.all([call(), call()]).then(() => {
        isAnswered = true;
      });
      while (signals.length < 2) await new Promise(setImmediate);
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
      expect(isAnswered).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      vi.useRealTimers();
      await asked;
    } finally {
      vi.useRealTimers();
    }
    await call();
    expect(signals).toHaveLength(2);
    if (member === 'maintain') expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
    const told = place.seen.filter((event) => event.kind === 'error.internal').map(({ message }) => message);
    expect(told).toEqual([expect.stringMatching(/^The context engine mine failed and is disabled: No answer within/u)]);
  });

  it('stay in use when their maintenance is stopped', async () => {
    const { place } = await openPlace({ engine: 'mine' });
    await using _ = place;
    const { services } = place;
    let isStopping = true;
    const hang = () => new Promise<never>(() => undefined);
    const maintain = () => (isStopping ? hang() : Promise.resolve({ changed: true, reason: 'mine' }));
    const mine = own(stackedOf(services), { maintain });
    const engine = createEngines({ services, maintenance, own: { mine } }).for({ agentId: 'main' });
    const stop = new Error('The bot is stopping.');
    await expect(engine.maintain({ ...request, signal: AbortSignal.abort(stop) })).rejects.toBe(stop);
    isStopping = false;
    expect((await engine.maintain(request)).reason).toBe('mine');
  });

  // Shows: O4, O6, O23
  it('hear of start, each message, each turn and the end', async () => {
    const { place } = await openPlace({});
    await using _ = place;
    const inner = stackedOf(place.services);
    const calls: string[] = [];
    const noted =
      <Given, Answer>(name: (given: Given) => string, work: (given: Given) => Answer) =>
      (given: Given): Answer => {
        calls.push(name(given));
        return work(given);
      };
    const watched = own(inner, {
      bootstrap: noted(() => 'bootstrap', inner.bootstrap),
      ingest: noted(({ seq }) => `ingest ${seq}`, inner.ingest),
      ingestBatch: noted(({ seqs }) => `batch ${seqs.join(' ')}`, inner.ingestBatch),
      assemble: noted(({ readUpto }) => `assemble ${readUpto}`, inner.assemble),
      afterTurn: noted(({ readUpto, messages }) => `afterTurn ${readUpto} ${roles(messages)}`, inner.afterTurn),
      dispose: async () => void calls.push('dispose'),
    });
    const agents = [{ id: 'main', engine: 'watched' }];
    const world = await openWorld({ parts: { agents, engines: { watched } } });
    await world.say('Good morning.');
    const message = {
      conversation: world.place,
      externalId: 'aside',
      author: BO,
      text: 'Well.',
      audience: 'dm',
    } as const;
    const plain = { attachments: [], replyTo: null, mentions: [], addressesBot: false, at: Date.now() } as const;
    await world.bot.sink.message({ ...message, ...plain, isPast: true });
    await until(() => calls.length >= 5);
    await world.say('Good evening.');
    await world[Symbol.asyncDispose]();
    expect(calls).toEqual([
      ...['bootstrap', 'assemble 1', 'afterTurn 1 assistant', 'batch 1 2', 'ingest 3'],
      ...['assemble 4', 'afterTurn 4 assistant', 'batch 3 4 5', 'dispose'],
    ]);
  });

  it('ignore the sections for one message in their tier', () => {
    const mine = defineEngine({ id: 'mine', assemble: async (request) => assembleView(request) });
    const parts = { fixed: 100, stack: 0, tail: 500, volatile: 200, reserve: 100, estimated: true };
    const measurement = { ...parts, used: 900, window: 1000, ratio: 0.9, tier: 'aggressive' } as const;
    const turn = { profile: profile({ windowTokens: 1000 }), snapshot: snapshot([]), readUpto: 1, messages: [] };
    expect(mine.afterTurn({ ...turn, measurement, addedTokens: 0 }).tier).toBe('none');
    expect(mine.afterTurn({ ...turn, measurement, addedTokens: 150 }).tier).toBe('aggressive');
  });

  it('hear of tokens that no request contained', async () => {
    const turns: FinishedTurn[] = [];
    const tools = [defineTool({ name: 'look', description: 'Looks', input: z.object({}), run: () => 'A garden.' })];
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'It is a garden.' } : { calls: [{ tool: 'look', input: {} }] },
    );
    const mine = defineEngine({
      id: 'mine',
      assemble: async (request) => assembleView(request),
      afterTurn(turn) {
        turns.push(turn);
        return { tier: 'none', due: false };
      },
    });
    await using world = await createBotWorld({
      models: [model],
      tools,
      engines: { mine },
      agent: { engine: 'mine', tools: ['look'] },
    });
    await world.say('What is there?');
    await world.settled();
    expect(turns.map(({ messages }) => roles(messages))).toEqual(['assistant tool assistant']);
    expect(turns[0]?.addedTokens).toBe(turns[0]?.messages.at(-1)?.tokens);
  });

  // Shows: O46
  it.each(['bootstrap', 'ingest', 'ingestBatch', 'assemble', 'afterTurn', 'maintain'] as const)(
    'do not silence their agent when %s breaks mid-talk',
    async (member) => {
      const { place } = await openPlace({});
      await using _ = place;
      const broke = () => {
        throw new Error('broken');
      };
      const mine = own(stackedOf(place.services), { [member]: broke });
      const agents = [{ id: 'main', engine: 'mine' }];
      await using world = await openWorld({ parts: { agents, engines: { mine } } });
      await world.say('My name is Ada and I prefer tea.');
      await world.say('What is my name?');
      expect((await world.type('/transcript search name')).rows?.cells.length).toBeGreaterThan(0);
      const { id, nextSeq } = await conversationOf(world);
      const entries = await world.bot.services.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 9 });
      expect(entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    },
  );
});

describe('a person who asks for room', () => {
  it('reaches an engine that runs no maintenance', async () => {
    const { place } = await openPlace({});
    await using _ = place;
    const { assemble } = stackedOf(place.services);
    const asked: string[] = [];
    const mine = defineEngine({
      id: 'mine',
      assemble,
      compact: async ({ snapshot, reason }) => {
        asked.push(reason);
        return {
          ok: true,
          compacted: true,
          reason: 'the notes were tidied',
          tokensBefore: 9,
          tokensAfter: 1,
          snapshot,
        };
      },
    });
    const agents = [{ id: 'main', engine: 'mine' }];
    await using world = await openWorld({ parts: { agents, engines: { mine } } });
    await world.say('My name is Ada and I prefer tea.');
    expect((await world.type('/compact')).text).toBe('Done: the notes were tidied.');
    expect(asked).toEqual(['manual']);
  });

  it('learns that a sliding window has nothing to remove', async () => {
    await using world = await openWorld({ parts: { agents: [{ id: 'main', engine: 'sliding' }] } });
    await world.say('My name is Ada and I prefer tea.');
    expect((await world.type('/compact')).text).toContain(
      'Nothing was compacted: a sliding window keeps only what fits',
    );
  });
});

async function conversationOf({ bot, place }: World) {
  const found = await bot.services.store.conversations.find(place);
  if (found === null) throw new Error('nothing was said');
  return found;
}
