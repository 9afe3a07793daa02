import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createPriceList } from '../../../adapters/prices/genai-prices/index.ts';
import { defineTool, type EventOf, silentLog, type TokenCounts } from '../../../src/adapter-kit.ts';
import { formatCost, formatDollars } from '../../../src/costs/format.ts';
import { createPrices, type PriceOptions } from '../../../src/costs/prices.ts';
import { ADA, BOB, createBotWorld } from '../../support/bot-world.ts';
import { createWorld, faithful, filler, type Said, scriptedModel } from '../compaction/compaction.world.ts';

const tokens = (over: Partial<TokenCounts> = {}): TokenCounts => ({
  inputTokens: 1_000_000,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...over,
});

async function pricesFor(models: readonly string[], options: PriceOptions = {}) {
  const prices = createPrices({ list: createPriceList(), ...options }, silentLog);
  for (const model of models) await prices.load(model);
  return prices;
}

describe('prices', () => {
  const AT = Date.UTC(2026, 9, 1);

  it('come from the shipped list, cached tokens apart', async () => {
    const model = 'anthropic:claude-haiku-4-5';
    const prices = await pricesFor([model, 'openai:gpt-4.1-mini']);
    expect(prices.costOf(model, tokens(), AT)).toBeCloseTo(1);
    expect(prices.costOf(model, tokens({ cacheReadTokens: 1_000_000 }), AT)).toBeCloseTo(0.1);
    expect(prices.costOf(model, tokens({ cacheWriteTokens: 1_000_000 }), AT)).toBeCloseTo(1.25);
    const hour = tokens({ cacheWriteTokens: 1_000_000, hourCacheWriteTokens: 400_000 });
    expect(prices.costOf(model, hour, AT)).toBeCloseTo(1.25 * 0.6 + 2 * 0.4);
    expect(prices.costOf(model, tokens({ inputTokens: 0, outputTokens: 1_000_000 }), AT)).toBeCloseTo(5);
    expect(prices.costOf('openai:gpt-4.1-mini', tokens(), AT)).toBeCloseTo(0.4);
  });

  it('are unknown for unknown providers, whatever the model’s name', async () => {
    const models = ['local:gpt-4.1-mini', 'openai:no-such-model', 'anthropic', 'constructor:__proto__'];
    const prices = await pricesFor(models);
    for (const model of models) expect(prices.costOf(model, tokens(), AT), model).toBeNull();
    expect(prices.costOf('openai:never-opened', tokens(), AT)).toBeNull();
  });

  it('from the configuration come first; local models are free', async () => {
    const own = { 'openai:gpt-4.1-mini': { input: 2, output: 8, cache_read: 0.5 } };
    const prices = await pricesFor(['openai:gpt-4.1-mini'], { own: () => own });
    expect(prices.costOf('openai:gpt-4.1-mini', tokens({ cacheReadTokens: 400_000 }), AT)).toBeCloseTo(1.4);
    expect(prices.costOf('ollama:llama3.2', tokens(), AT)).toBe(0);
    expect(prices.costOf('offline:demo', tokens(), AT)).toBe(0);
  });

  it('survive counts that cannot be true', async () => {
    const model = 'anthropic:claude-haiku-4-5';
    const prices = await pricesFor([model]);
    const odd = tokens({ inputTokens: 5, cacheReadTokens: 9, cacheWriteTokens: 9, reasoningTokens: 9 });
    expect(prices.costOf(model, odd, AT)).toBeGreaterThanOrEqual(0);
  });

  it('are written for people', () => {
    expect([0, 0.0000124, 0.0031, 0.5, 12.4, 1234.5].map(formatDollars)).toEqual([
      ...['$0.00', '$0.000012', '$0.0031', '$0.5000', '$12.40', '$1,234.50'],
    ]);
    expect(formatCost({ calls: 2, costUsd: 0, unpricedCalls: 2 })).toBe('price unknown');
    expect(formatCost({ calls: 4, costUsd: 1, unpricedCalls: 1 })).toBe('$1.00 and 1 call of unknown price');
  });
});

const RATES = { input: 10, output: 100 };
const dice = defineTool({
  name: 'roll_dice',
  description: 'Rolls a die.',
  input: z.object({}),
  run: async () => 'four',
});

describe('the ledger', () => {
  it('contains every call with person and purpose', async () => {
    const talker = scriptedModel(
      ({ messages }) =>
        messages.at(-1)?.role === 'tool' ? { text: 'You rolled four.' } : { calls: [{ tool: 'roll_dice', input: {} }] },
      { id: 'test:chat' },
    );
    const prices = { own: () => ({ 'test:chat': RATES }) };
    const models = [talker, scriptedModel(faithful)];
    const agent = { tools: ['roll_dice'], compaction: { model: 'test:summariser' } };
    await using world = await createBotWorld({ models, agent, prices, tools: [dice] });
    await world.say('Roll a die.', { author: ADA });
    await world.settled();
    const story =
      'The walrus in the harbour of Bremen sleeps on the second pier until the ferry comes at nine. '.repeat(12);
    await world.say(story, { author: BOB, asks: false });
    await world.say('Roll again.', { author: BOB });
    await world.settled();
    await world.command('compact');
    const { journal } = world.bot.services.store;
    const spent = await journal.spending({ by: 'person', since: null, conversationId: null, limit: 9 });
    const priced = spent.filter(({ key }) => key !== null);
    expect(priced.map(({ key, calls, inputTokens }) => [key, calls, inputTokens])).toEqual([
      ['test:u-ada', 2, 200],
      ['test:u-bob', 2, 200],
    ]);
    for (const { costUsd } of priced) expect(costUsd).toBeCloseTo(2 * 0.002);
    const background = spent.find(({ key }) => key === null);
    expect(background).toMatchObject({ costUsd: 0, unpricedCalls: background?.calls });
    expect(background?.calls).toBeGreaterThan(0);
    const called = world.events.filter((event): event is EventOf<'model.called'> => event.kind === 'model.called');
    expect(called.filter(({ purpose }) => purpose === 'reply').map(({ costUsd }) => costUsd)).toEqual(
      Array.from({ length: 4 }, () => 0.002),
    );
    const status = await world.command('status');
    const cost = status.fields.find(({ name }) => name === 'Cost')?.value;
    expect(cost).toContain('reply: 4 calls of test:chat, 400 in + 40 out, $0.0080\n');
    expect(cost).toMatch(/^compact: \d calls? of test:summariser, .*, price unknown\n/);
  });

  it('estimates what a provider does not report', async () => {
    const unreported = { text: 'One two three. '.repeat(100), inputTokens: 0, outputTokens: 0 };
    const prices = { own: () => ({ 'test:chat': RATES }) };
    await using world = await createBotWorld({
      models: [scriptedModel(() => unreported, { id: 'test:chat' })],
      prices,
    });
    await world.say('Hello?');
    await world.settled();
    const [used] = await world.bot.services.store.journal.usage((await world.conversation()).id);
    expect(used?.inputTokens).toBeGreaterThan(100);
    expect(used?.outputTokens).toBeGreaterThan(200);
    expect(used?.costUsd).toBeGreaterThan(0);
    expect((await world.conversation()).calibration).toBeNull();
  });

  it.each<{ missing: string; said: Partial<Said>; least: Partial<Record<'inputTokens' | 'outputTokens', number>> }>([
    { missing: 'input', said: { inputTokens: 0 }, least: { inputTokens: 100, outputTokens: 10 } },
    { missing: 'output', said: { outputTokens: 0 }, least: { inputTokens: 100, outputTokens: 200 } },
  ])('estimates the $missing where only that is unreported', async ({ said, least }) => {
    const text = 'One two three. '.repeat(100);
    const chat = scriptedModel(() => ({ text, ...said }), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [chat], prices: { own: () => ({ 'test:chat': RATES }) } });
    await world.say('Hello?');
    await world.settled();
    const [used] = await world.bot.services.store.journal.usage((await world.conversation()).id);
    expect(used?.inputTokens).toBeGreaterThanOrEqual(least.inputTokens ?? 0);
    expect(used?.outputTokens).toBeGreaterThanOrEqual(least.outputTokens ?? 0);
  });

  it('believes no part that is larger than its whole', async () => {
    const absurd = { text: 'Yes.', cacheReadTokens: 900_000_000, reasoningTokens: 900_000_000 };
    const chat = scriptedModel(() => absurd, { id: 'test:chat' });
    await using world = await createBotWorld({ models: [chat], prices: { own: () => ({ 'test:chat': RATES }) } });
    await world.say('Hello?');
    await world.settled();
    const status = await world.command('status');
    const cost = status.fields.find(({ name }) => name === 'Cost')?.value;
    expect(cost).toContain('100 in (100 % cached) + 10 out (10 reasoning), $0.0020');
  });

  it('estimates calls that a provider does not report', async () => {
    const input = { summary: 'The walrus sleeps. '.repeat(100) };
    const unreported = { calls: [{ tool: 'summary_save', input }], inputTokens: 0, outputTokens: 0 };
    await using world = await createWorld({ model: scriptedModel(() => unreported) });
    for (let index = 0; index < 12; index += 1) await world.exchange(filler(50, index), filler(50, index + 3));
    await world.run();
    const [used] = await world.services.store.journal.usage((await world.conversation()).id);
    expect(used?.outputTokens).toBeGreaterThan(300);
  });

  it('says once why nothing was compacted', async () => {
    const refusal = () => ({ text: "I can't help with that." });
    const models = [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' }), scriptedModel(refusal)];
    await using world = await createBotWorld({ models, agent: { compaction: { model: 'test:summariser' } } });
    for (const name of ['walrus', 'seal', 'ferry']) {
      await world.say(`The ${name} in the harbour sleeps until the evening comes at nine. `.repeat(20));
      await world.settled();
    }
    expect((await world.command('compact')).text).toMatch(
      /^Nothing was compacted: .* it was a refusal, not a summary\.$/,
    );
  });

  it('counts the cost of a turn that stored nothing', async () => {
    const talker = scriptedModel(
      async () => {
        await world.command('reset');
        return { text: 'Too late.' };
      },
      { id: 'test:chat' },
    );
    await using world = await createBotWorld({ models: [talker] });
    await world.say('Hello?');
    await world.settled();
    expect(world.events.some(({ kind }) => kind === 'turn.ended')).toBe(false);
    const { id } = await world.conversation();
    const usage = () => world.bot.services.store.journal.usage(id);
    await vi.waitFor(async () => expect(await usage()).toMatchObject([{ purpose: 'reply', calls: 1 }]));
  });

  it('loses the name of a person who is forgotten', async () => {
    await using world = await createBotWorld({
      models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })],
    });
    await world.say('Hello?', { author: ADA });
    await world.settled();
    const { journal } = world.bot.services.store;
    const persons = async () =>
      (await journal.spending({ by: 'person', since: null, conversationId: null, limit: 9 })).map(({ key }) => key);
    expect(await persons()).toEqual(['test:u-ada']);
    await world.command('memory forget', { id: 'me' });
    expect(await persons()).toEqual([null]);
  });
});
