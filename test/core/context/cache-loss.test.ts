import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  type EventOf,
  ModelError,
  type ModelMessage,
  type ModelRequest,
} from '../../../src/adapter-kit.ts';
import { cacheLossOf } from '../../../src/context/cuts/cache-loss.ts';
import { estimateBlock, estimateMessages, estimateRequest } from '../../../src/context/measure/tokens.ts';
import { partsOf, type RequestPrint } from '../../../src/context/record/request-print.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { type BotWorld, type BotWorldOptions, createBotWorld } from '../../support/bot-world.ts';
import { faithful, filler, type Script, scriptedModel } from '../compaction/compaction.world.ts';

const yes: Script = () => ({ text: 'Yes.' });

function createWorld(options: Partial<BotWorldOptions> = {}, script: Script = yes): Promise<BotWorld> {
  const models = [scriptedModel(script, { id: 'test:chat' }), scriptedModel(faithful)];
  return createBotWorld({
    ...options,
    models: [...models, ...(options.models ?? [])],
    agent: { compaction: { model: 'test:summariser' }, ...options.agent },
  });
}

async function talk(world: BotWorld, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await world.say(filler(60, turn));
    await world.settled();
  }
}

async function instruct(world: BotWorld, text: string): Promise<void> {
  await world.command('memory remember', { text });
  const saved = world.events.findLast((event): event is EventOf<'memory.saved'> => event.kind === 'memory.saved');
  await world.command('memory approve', { id: saved?.ids[0] ?? '' });
}

function lossesIn({ events }: BotWorld) {
  return events.filter((event): event is EventOf<'cache.lost'> => event.kind === 'cache.lost');
}

function causesIn(world: BotWorld): readonly string[] {
  return lossesIn(world).map(({ cause }) => cause);
}

/** Tokens of what the next turn repeats of a request, from the first part on that the later request has otherwise. */
function tokensLost(before: ModelRequest, now: ModelRequest): number {
  const partsIn = ({ system, messages }: ModelRequest) => [...system, ...messages].map((part) => JSON.stringify(part));
  const later = partsIn(now);
  const first = partsIn(before).findIndex((part, index) => part !== later[index]);
  const stable = before.messages.slice(
    0,
    before.messages.findLastIndex(({ role }) => role === 'user'),
  );
  const blocks = before.system.slice(first).reduce((sum, block) => sum + estimateBlock(block), 0);
  return blocks + estimateMessages(stable.slice(Math.max(0, first - before.system.length)));
}

describe('a request', () => {
  it('loses nothing in quiet turns, restarts included', async () => {
    await using world = await createWorld();
    await talk(world, 4);
    await world.say('Just so you know.', { asks: false });
    await talk(world, 2);
    await world.restart();
    await talk(world, 2);
    await world.crash();
    await talk(world, 2);
    expect(causesIn(world)).toEqual([]);
  });

  it('loses nothing within a turn that calls tools', async () => {
    const dice = defineTool({
      name: 'roll_dice',
      description: 'Rolls a die.',
      input: z.object({}),
      run: async () => 'four',
    });
    const script: Script = ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Four.' } : { calls: [{ tool: 'roll_dice', input: {} }] };
    await using world = await createWorld({ tools: [dice], agent: { tools: ['roll_dice'] } }, script);
    await talk(world, 3);
    expect(causesIn(world)).toEqual([]);
  });

  // Shows: O36, O37
  it('loses its tail when an old result is shortened', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks around.',
      input: z.object({}),
      run: async () => filler(900, 1),
    });
    let calls = 0;
    const script: Script = ({ messages }) => {
      if (messages.at(-1)?.role === 'tool' || calls > 0) return { text: 'A garden.' };
      calls += 1;
      return { calls: [{ tool: 'look', input: {} }] };
    };
    const agent = { context_window: 4000, max_output_tokens: 400, tools: ['look'] };
    await using world = await createWorld({ tools: [look], agent }, script);
    for (let turn = 0; turn < 60 && causesIn(world).length === 0; turn += 1) await talk(world, 1);
    expect(causesIn(world)).toEqual(['shortened']);
  });

  it('loses its tail when a summary replaces messages', async () => {
    await using world = await createWorld({ agent: { context_window: 8000 } });
    await talk(world, 8);
    await world.command('compact');
    await talk(world, 2);
    expect(causesIn(world)).toEqual(['compaction']);
    expect(lossesIn(world)[0]?.tokens).toBeGreaterThan(200);
  });

  // Shows: O37
  it.each([
    ['edited', 'edit'],
    ['removed', 'edit'],
    ['reset', 'reset'],
  ])('says that the conversation was %s', async (kind, cause) => {
    await using world = await createWorld();
    await talk(world, 3);
    const of = { conversation: world.key, externalId: 'm2' };
    const { sink } = world.bot;
    if (kind === 'edited') await sink.edited({ ...of, parts: [{ kind: 'text', text: 'No.' }], at: world.clock.now() });
    if (kind === 'removed') await sink.removed({ conversation: world.key, externalIds: ['m2'] });
    if (kind === 'reset') await world.command('reset');
    await talk(world, 2);
    expect(causesIn(world)).toEqual([cause]);
  });

  it.each<[string, (world: BotWorld) => Promise<unknown>]>([
    [
      'message',
      ({ bot, clock, key }) => {
        const parts = [{ kind: 'text', text: 'No.' }] as const;
        return bot.sink.edited({ conversation: key, externalId: 'm2', parts, at: clock.now() });
      },
    ],
    ['instruction', (world) => instruct(world, 'Always answer in one sentence.')],
  ])('loses what follows a changed %s', async (_name, change) => {
    const chat = scriptedModel(yes, { id: 'test:own' });
    await using world = await createWorld({ models: [chat], agent: { model: 'test:own' } });
    await talk(world, 4);
    await change(world);
    await talk(world, 1);
    const [before, now] = chat.requests.slice(-2);
    if (before === undefined || now === undefined) throw new Error('two requests were expected');
    expect(lossesIn(world)).toMatchObject([{ tokens: tokensLost(before, now) }]);
  });

  it('says that a refused head was left out', async () => {
    let isRefused = false;
    const script: Script = ({ messages }) => {
      if (!isRefused || messages.length < 5) return { text: 'Yes.' };
      throw new ModelError({ model: 'test:chat', reason: 'refused', detail: 'flagged' });
    };
    await using world = await createWorld({}, script);
    await talk(world, 4);
    isRefused = true;
    await talk(world, 2);
    expect(causesIn(world)).toEqual(['shortened']);
  });

  it('says that instructions changed', async () => {
    await using world = await createWorld();
    await talk(world, 2);
    await instruct(world, 'Always answer in one sentence.');
    await talk(world, 2);
    expect(causesIn(world)).toEqual(['instructions']);
  });

  it('says that another model answered', async () => {
    const script: Script = ({ messages }) => {
      if (messages.length > 5) throw new ModelError({ model: 'test:chat', reason: 'transient', detail: 'away' });
      return { text: 'Yes.' };
    };
    const other = scriptedModel(yes, { id: 'test:other' });
    await using world = await createWorld({ models: [other], agent: { model: ['test:chat', 'test:other'] } }, script);
    await talk(world, 4);
    expect(causesIn(world)[0]).toBe('model');
    const [first] = other.requests;
    if (first === undefined) throw new Error('the other model was not asked');
    // All that the request before it had in front of its question.
    const lost = { ...first, messages: first.messages.slice(0, -3) };
    expect(lossesIn(world)[0]?.tokens).toBe(estimateRequest(lost));
  });

  // Shows: O38
  it('tells an expired cache from one that was lost', async () => {
    let cacheReadTokens = 6000;
    const script: Script = () => ({ text: 'Yes.', inputTokens: 9000, cacheReadTokens });
    await using world = await createWorld({ agent: { context_window: 100_000 } }, script);
    for (let turn = 0; turn < 3; turn += 1) await world.say(filler(3000, turn)).then(() => world.settled());
    cacheReadTokens = 0;
    await world.clock.advance(6 * MINUTE_MS);
    await talk(world, 1);
    await world.clock.advance(MINUTE_MS);
    await talk(world, 1);
    expect(causesIn(world)).toEqual(['expired', 'unknown']);
  });

  it('is compared once, with losses in the books', async () => {
    await using world = await createWorld();
    await talk(world, 3);
    await world.command('reset');
    await talk(world, 2);
    const { id } = await world.conversation();
    const { journal } = world.bot.services.store;
    expect(await journal.cache.losses({ since: null, conversationId: id })).toMatchObject([
      { cause: 'reset', losses: 1 },
    ]);
    const status = await world.command('status');
    const line = status.fields.find(({ name }) => name === 'Prefix cache')?.value;
    expect(line).toMatch(/^the provider reports no cached tokens\n1 loss, ~\d+ tokens: the conversation was reset$/u);
  });
});

it('names a section that the window cut differently', () => {
  const before: RequestPrint = {
    at: 0,
    model: 'test:chat',
    engine: 'stacked',
    hooked: false,
    reduced: false,
    touched: 0,
    contextFrom: 1,
    layers: [],
    stableTokens: 600,
    totalTokens: 700,
    stableParts: 3,
    reports: false,
    sections: [
      ['persona', 'aaaaaa'],
      ['guidance', 'bbbbbb'],
    ],
    parts: 'toolsXperso1guide1',
  };
  const now: RequestPrint = { ...before, at: 1, parts: 'toolsXperso2guide2' };
  const facts = { sameTurn: false, readTokens: 0, cacheMs: 300_000, tokensUpto: () => 100 };
  expect(cacheLossOf(before, now, facts)).toEqual({ cause: 'shortened', tokens: 500 });
});

it('equal requests have equal hashes after any earlier ones', () => {
  const said = (text: string): ModelMessage => ({ role: 'user', content: [{ kind: 'text', text }] });
  const answer = (text: string): ModelMessage => ({ role: 'assistant', text, calls: [] });
  const talk = [said('one'), answer('two'), said('three'), answer('four'), said('five')];
  const system = [{ text: 'You are a bot.', cacheBreak: true }];
  const requests = [
    ...talk.map((_, index) => ({ tools: [], system, messages: talk.slice(0, index + 1) })),
    { tools: [], system, messages: talk.with(2, said('another')) },
    { tools: [], system: [{ text: 'You are a cat.', cacheBreak: true }], messages: talk },
    { tools: [], system, messages: talk.slice(0, 3) },
  ];
  for (const request of requests) expect(partsOf(request)).toBe(partsOf(structuredClone(request)));
});
