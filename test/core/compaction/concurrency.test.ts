import { describe, expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createMaintenance } from '../../../src/compaction/maintenance.ts';
import { createBreaker } from '../../../src/models/breaker.ts';
import { threadCpuMs } from '../../support/cpu.ts';
import {
  createWorld,
  expectCovered,
  faithful,
  filler,
  promptIn,
  type Script,
  scriptedModel,
  seqsIn,
  testClock,
  until,
  type World,
} from './compaction.world.ts';

async function talk(world: World, exchanges = 12): Promise<void> {
  for (let index = 1; index <= exchanges; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
}

/** A model that waits for a sign before its first answer. */
function blocked(then: Script = faithful) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const model = scriptedModel(
    async (request, options) => {
      if (options.count === 1) await promise;
      return await then(request, options);
    },
    { window: 32_000 },
  );
  return { model, go: resolve };
}

describe('while a compaction runs', () => {
  // Shows: B1, R2, S14, T10
  it('each arriving message ends in either summary or tail', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const job = world.run();
    await until(() => model.requests.length === 1);
    const planned = Math.max(...seqsIn(model.requests[0] ?? fail()));
    for (let index = 0; index < 5; index += 1) await world.say(`Late ${index}`, { author: 'Bob' });
    await world.exchange('Are you there?', 'Yes.');
    go();
    await job;
    await expectCovered(world);
    const { stack, tail, conversation } = await world.snapshot();
    expect(stack[0]).toMatchObject({ kind: 'summary', fromSeq: 1, toSeq: planned });
    expect(tail.map((entry) => entry.seq)).toContain(conversation.nextSeq - 1);
    expect(conversation.nextSeq).toBe(32);
  });

  // Shows: B13, T11
  it('a reset discards its result', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const { id } = await world.conversation();
    const job = world.run();
    await until(() => model.requests.length === 1);
    await world.services.store.conversations.change(id, { kind: 'reset', now: world.clock.now() });
    go();
    await job;
    const { stack, tail } = await world.snapshot();
    expect({ stack, tail }).toEqual({ stack: [], tail: [] });
    expect(await world.services.store.summaries.live(id)).toEqual([]);
    await world.say('A new start.');
    await expectCovered(world);
  });

  // Shows: T13
  it('an emergency and the finishing summary both survive (T13)', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const job = world.run();
    await until(() => model.requests.length === 1);
    const planned = Math.max(...seqsIn(model.requests[0] ?? fail()));
    await world.emergency(planned + 6);
    const during = await world.snapshot();
    expect(during.stack).toMatchObject([{ kind: 'gap', fromSeq: 1, toSeq: planned + 6 }]);
    go();
    await job;
    await expectCovered(world);
    const { stack } = await world.snapshot();
    expect(stack).toMatchObject([
      { kind: 'summary', fromSeq: 1, toSeq: planned },
      { kind: 'summary', fromSeq: planned + 1, toSeq: planned + 6 },
    ]);
  });

  it('a summary may reach past an emergency’s gap', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const job = world.run();
    await until(() => model.requests.length === 1);
    const planned = Math.max(...seqsIn(model.requests[0] ?? fail()));
    await world.emergency(2);
    go();
    await job;
    await expectCovered(world);
    expect((await world.snapshot()).stack[0]).toMatchObject({ kind: 'summary', fromSeq: 1, toSeq: planned });
  });

  it('an edited message is summarised in its new wording', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await world.say('FACT Ada likes mint.', { id: 'first' });
    await talk(world);
    const { id } = await world.conversation();
    const job = world.run();
    await until(() => model.requests.length === 1);
    const parts = [{ kind: 'text', text: 'FACT Ada likes sage.' }] as const;
    await world.services.store.transcript.edit(id, { externalId: 'first', parts, tokens: 9, now: world.clock.now() });
    go();
    await job;
    const [first] = (await world.snapshot()).stack;
    expect(first?.text).toContain('sage');
    expect(first?.text).not.toContain('mint');
    expect(world.of('maintenance.ended').map(({ run }) => run.outcome)).toContain('stale');
    await expectCovered(world);
  });

  it('a deleted message leaves neither summary nor memory behind (B17)', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await world.say('FACT Ada has the secret number 4711.', { id: 'first' });
    await talk(world);
    const { id } = await world.conversation();
    const job = world.run();
    await until(() => model.requests.length === 1);
    await world.services.store.transcript.redact(id, { externalIds: ['first'], now: world.clock.now() });
    go();
    await job;
    const { stack } = await world.snapshot();
    expect(stack.map((item) => item.text).join()).not.toContain('4711');
    expect(await memoriesOf(world)).toEqual([]);
    await expectCovered(world);
  });

  it.each(['deleted', 'edited'] as const)('nothing %s before its range is repeated by it', async (how) => {
    const second = Promise.withResolvers<void>();
    const repeating: Script = async (request, { count }) => {
      if (count === 2) await second.promise;
      const known = /FACT [^.\n]*\./u.exec(promptIn(request))?.[0] ?? '';
      return { calls: [{ tool: 'summary_save', input: { summary: `Message and answer. ${known}` } }] };
    };
    const model = scriptedModel(repeating, { window: 32_000 });
    await using world = await createWorld({ model });
    await world.say('FACT Ada has the secret number 4711.', { id: 'first' });
    await talk(world);
    await world.run();
    const [first] = (await world.snapshot()).stack;
    expect(first?.text).toContain('4711');
    await talk(world);
    const job = world.run();
    await until(() => model.requests.length === 2);
    const { transcript } = world.services.store;
    const { id } = await world.conversation();
    if (how === 'deleted') await transcript.redact(id, { externalIds: ['first'], now: world.clock.now() });
    else {
      const parts = [{ kind: 'text', text: 'Never mind.' }] as const;
      await transcript.edit(id, { externalId: 'first', parts, tokens: 3, now: world.clock.now() });
    }
    second.resolve();
    await job;
    const { stack } = await world.snapshot();
    expect(stack.map((item) => item.text).join()).not.toContain('4711');
    await expectCovered(world);
  });

  // Shows: B12
  it('stopping it changes nothing, and the next run does it', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const stop = new AbortController();
    const job = world.run({ signal: stop.signal });
    await until(() => model.requests.length === 1);
    stop.abort();
    expect(await job).toEqual({ changed: false, reason: 'stopped before it finished' });
    go();
    expect((await world.snapshot()).stack).toEqual([]);
    expect((await world.conversation()).failures).toBe(0);
    expect((await world.run()).changed).toBe(true);
    await expectCovered(world);
  });
});

describe('two workers', () => {
  // Shows: S11
  it('only one works on a conversation; the other says so', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const other = createMaintenance({ ...world, breaker: createBreaker(world.services) });
    const job = world.run();
    await until(() => model.requests.length === 1);
    const { id: conversationId } = await world.conversation();
    const signal = new AbortController().signal;
    const second = await other.run({ conversationId, trigger: 'queue', instruction: null, signal });
    expect(second).toEqual({ changed: false, reason: 'another job is working on it' });
    go();
    await job;
    expect(world.of('maintenance.ended').filter(({ run }) => run.work === 'compact')).toHaveLength(1);
  });

  // Shows: B2, T14
  it('a stalled one that returns late changes nothing (B2, T14)', async () => {
    const { model, go } = blocked();
    const slow = testClock();
    await using world = await createWorld({ model, clock: slow });
    await talk(world);
    // Its own clock is stopped, so it neither renews its lease nor notices that it has expired.
    const stalled = world.run();
    await until(() => model.requests.length === 1);
    const later = testClock(slow.now() + 60_000);
    const services = { ...world.services, clock: later };
    const other = createMaintenance({ profiles: world.profiles, services, breaker: createBreaker(services) });
    const { id: conversationId } = await world.conversation();
    const signal = new AbortController().signal;
    expect((await other.run({ conversationId, trigger: 'queue', instruction: null, signal })).changed).toBe(true);
    const done = await world.snapshot();
    go();
    await stalled;
    expect(await world.snapshot()).toEqual(done);
    await expectCovered(world);
  });

  it('gives its claim up when the lease was not renewed', async () => {
    const { model } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const job = world.run();
    await until(() => model.requests.length === 1);
    const { id: conversationId } = await world.conversation();
    const taken = await world.services.store.conversations.claim({
      work: 'maintenance',
      conversationId,
      now: world.clock.now() + 60_000,
      leaseMs: 60_000,
    });
    expect(taken).not.toBeNull();
    await world.clock.advance(2500);
    expect(await job).toEqual({ changed: false, reason: 'stopped before it finished' });
    expect((await world.snapshot()).stack).toEqual([]);
  });
});

describe('kicks', () => {
  // Shows: B3, S35, T31
  it('the same job twice gives one summary and its memories', async () => {
    await using world = await createWorld();
    await world.say('FACT Ada keeps four bees.');
    await talk(world);
    await world.run();
    const once = { ...(await world.snapshot()), conversation: null };
    const memories = await memoriesOf(world);
    expect(memories).toHaveLength(1);
    const calls = world.model.requests.length;
    expect(await world.run()).toEqual({ changed: false, reason: 'nothing is due' });
    expect({ ...(await world.snapshot()), conversation: null }).toEqual(once);
    expect(await memoriesOf(world)).toEqual(memories);
    expect(world.model.requests).toHaveLength(calls);
  });

  it('come a second after a run whose messages kept changing', async () => {
    const model = scriptedModel(
      async (request, options) => {
        const { id } = await world.conversation();
        const parts = [{ kind: 'text', text: `The number is ${options.count}.` }] as const;
        const edit = { externalId: 'first', parts, tokens: 9, now: world.clock.now() };
        await world.services.store.transcript.edit(id, edit);
        return await faithful(request, options);
      },
      { window: 32_000 },
    );
    await using world = await createWorld({ model });
    await world.say('The number is 0.', { id: 'first' });
    await talk(world);
    const kickedAt: number[] = [];
    const handled = async () => void kickedAt.push(world.clock.now());
    world.services.queue.process(handled, { concurrency: 1, signal: new AbortController().signal });
    const before = world.clock.now();
    await world.run();
    expect(world.of('maintenance.ended').map(({ run }) => run.outcome)).toEqual(['stale', 'stale', 'stale']);
    await world.clock.advance(5000);
    expect(kickedAt).toEqual([before + 1000]);
  });

  // Shows: T12
  it('many at once cause one compaction and wait for none', async () => {
    const { model, go } = blocked();
    await using world = await createWorld({ model });
    await talk(world);
    const { id } = await world.conversation();
    const queue = createLocalQueue({ log: world.services.log });
    let looks = 0;
    queue.process(
      async (conversationId, { signal }) => {
        looks += 1;
        await world.maintenance.run({ conversationId, trigger: 'queue', instruction: null, signal });
      },
      { concurrency: 4, signal: new AbortController().signal },
    );
    const before = threadCpuMs();
    for (let kicks = 0; kicks < 50; kicks += 1) queue.kick(id);
    expect(threadCpuMs() - before).toBeLessThan(50);
    await until(() => model.requests.length === 1);
    for (let kicks = 0; kicks < 3; kicks += 1) queue.kick(id);
    expect(looks).toBe(1);
    go();
    await queue.idle();
    expect(looks).toBe(2);
    expect(world.of('maintenance.ended').filter(({ run }) => run.outcome === 'committed')).toHaveLength(1);
    await queue.close({ deadlineMs: 100 });
  });
});

async function memoriesOf(world: World) {
  const { id } = await world.conversation();
  const reader = {
    agentId: 'main',
    place: 'test:here:talk',
    workspace: 'test:here',
    audience: 'private',
    sharePublic: false,
  } as const;
  const all = await world.services.store.memories.list({ reader, limit: 100, offset: 0 });
  return all.map(({ text, sources }) => ({
    text,
    sources: sources.filter((source) => source.conversationId === id).map(({ seq }) => seq),
  }));
}

function fail(): never {
  throw new Error('The model was not asked.');
}
