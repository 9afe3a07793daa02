import { describe, expect, it } from 'vitest';
import type { ChatModel, ModelPart } from '../../../src/adapter-kit.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { createWorld, filler, type ScriptedModel, scriptedModel, until } from '../compaction/compaction.world.ts';

const BEGUN: readonly ModelPart[] = [{ kind: 'text', text: 'It all began on a cold morning in March.' }];

/** Says something, and then nothing more until it is told to stop. */
function stalling(model: ScriptedModel, begun = BEGUN): ChatModel {
  return {
    ...model,
    async *stream(request, { signal }): AsyncGenerator<ModelPart> {
      model.requests.push(request);
      yield* begun;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw signal.reason;
    },
  };
}

const usageOf = async (
  world: Pick<Awaited<ReturnType<typeof createWorld>>, 'services' | 'conversation'>,
): Promise<unknown> => await world.services.store.journal.usage((await world.conversation()).id);

describe('a call whose answer is lost', () => {
  it('counts with what the model wrote before its timeout', async () => {
    const chat = stalling(scriptedModel(() => ({}), { id: 'test:chat' }));
    await using world = await createBotWorld({ models: [chat], agent: { timeout_seconds: 1 } });
    await world.say('Tell me a story.');
    await world.settled();
    const [used, ...others] = await world.bot.services.store.journal.usage((await world.conversation()).id);
    expect(others).toEqual([]);
    expect(used).toMatchObject({ purpose: 'reply', calls: 1 });
    expect(used?.inputTokens).toBeGreaterThan(100);
    expect(used?.outputTokens).toBeGreaterThan(5);
    expect(used?.outputTokens).toBeLessThan(20);
  });

  it.each<{ name: string; parts: readonly ModelPart[] }>([
    { name: 'its reasoning', parts: [{ kind: 'reasoning', text: filler(60) }] },
    { name: 'what it took back', parts: [{ kind: 'text', text: filler(60) }, { kind: 'retract' }] },
    { name: 'reasoning before its answer', parts: [{ kind: 'reasoning', text: filler(60) }, ...BEGUN] },
  ])('counts with $name', async ({ parts }) => {
    const chat = stalling(
      scriptedModel(() => ({}), { id: 'test:chat' }),
      parts,
    );
    await using world = await createBotWorld({ models: [chat], agent: { timeout_seconds: 1 } });
    await world.say('Tell me a story.');
    await world.settled();
    const [used] = await world.bot.services.store.journal.usage((await world.conversation()).id);
    expect(used?.inputTokens).toBeGreaterThan(100);
    expect(used?.outputTokens).toBeGreaterThan(60);
    expect(used?.reasoningTokens).toBeGreaterThan(60);
  });

  it('counts when the bot stops meanwhile', async () => {
    const model = scriptedModel(() => ({}), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [stalling(model)] });
    await world.say('Tell me a story.');
    await until(() => model.requests.length === 1);
    await world.restart();
    const usage = await world.bot.services.store.journal.usage((await world.conversation()).id);
    // Messages are read for memories before the stop, which the model does not answer either.
    expect(usage.filter(({ purpose }) => purpose === 'reply')).toMatchObject([{ calls: 1 }]);
  });

  it('counts for each stream that breaks off', async () => {
    const chat = scriptedModel((_, { count }) => ({ text: 'Well.', ...(count === 1 ? { cut: true } : {}) }), {
      id: 'test:chat',
    });
    await using world = await createBotWorld({ models: [chat], hooks: [{ post: (_context, next) => next() }] });
    await world.say('Tell me a story.');
    await world.settled();
    const usage = await world.bot.services.store.journal.usage((await world.conversation()).id);
    expect(usage).toMatchObject([{ purpose: 'reply', calls: chat.requests.length }]);
  });

  it('is free if nothing of it has come', async () => {
    const chat = scriptedModel(() => Promise.reject(new Error('no connection')), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [chat] });
    await world.say('Tell me a story.');
    await world.settled();
    expect(await world.bot.services.store.journal.usage((await world.conversation()).id)).toEqual([]);
  });

  it('counts for a summary that comes too late', async () => {
    const late = Promise.withResolvers<{ text: string }>();
    const model = scriptedModel(() => late.promise, { window: 32_000 });
    await using world = await createWorld({ model, agent: { compaction: { timeout_seconds: 20 } } });
    for (let turn = 0; turn < 12; turn += 1) await world.exchange(filler(60), filler(60));
    const job = world.run();
    await until(() => model.requests.length === 1);
    await world.clock.advance(20_000);
    await job;
    expect(await usageOf(world)).toEqual([]);
    late.resolve({ text: 'A summary.' });
    const paid = { purpose: 'compact', calls: 1, inputTokens: 100, outputTokens: 10 };
    await expect.poll(() => usageOf(world)).toMatchObject([paid]);
  });

  it('counts for a summary that breaks off', async () => {
    const model = scriptedModel(() => ({ text: 'They spoke of', cut: true }), { window: 32_000 });
    await using world = await createWorld({ model });
    for (let turn = 0; turn < 12; turn += 1) await world.exchange(filler(60), filler(60));
    await world.run();
    await expect.poll(() => usageOf(world)).toMatchObject([{ purpose: 'compact', calls: model.requests.length }]);
  });
});
