import { describe, expect, it } from 'vitest';
import { ModelError, textOf } from '../../../src/adapter-kit.ts';
import { SIZED, spread } from '../../support/size.ts';
import {
  createWorld,
  expectCovered,
  faithful,
  filler,
  type Said,
  type Script,
  scriptedModel,
  transcriptIn,
  type World,
} from './compaction.world.ts';

const REFUSED = 'the quince recipe';

const refusals = {
  refuses: () => ({ text: "I'm sorry, but I can't help with that." }),
  filters: () => ({ text: 'They talked', finish: 'filtered' }),
  'ends the request of': () => ({ finish: 'refused' }),
  'answers 400 to': () => {
    throw new ModelError({ model: 'test:summariser', reason: 'fatal', detail: 'the prompt was flagged' });
  },
} satisfies Readonly<Record<string, () => Said>>;

/** Summarises everything but what contains these words. */
const refusing =
  (refuse: () => Said, words = REFUSED): Script =>
  (request, options) =>
    transcriptIn(request).includes(words) ? refuse() : faithful(request, options);

/** Twenty exchanges that share no line, the refused one among them. */
async function talk(world: World, refusedAt: readonly number[] = [3]): Promise<void> {
  for (let index = 1; index <= 20; index += 1) {
    const told = refusedAt.includes(index) ? REFUSED : `FACT Ada keeps ${index} boats.`;
    await world.exchange(`${told} ${filler(60, index)}`, `Answer ${index}: ${filler(60, index + 3)}`);
  }
}

async function runOften(world: World, times: number): Promise<void> {
  for (let run = 0; run < times; run += 1) {
    const { nextAttemptAt } = await world.conversation();
    await world.clock.advance(Math.max(0, (nextAttemptAt ?? 0) - world.clock.now()));
    await world.run();
  }
}

async function leftOutIn(world: World): Promise<readonly (readonly number[])[]> {
  const { stack } = await world.snapshot();
  return stack.filter(({ model }) => model === null).map(({ fromSeq, toSeq }) => [fromSeq, toSeq]);
}

async function remembered(world: World): Promise<readonly string[]> {
  const reader = { agentId: 'main', place: 'test:here:talk', workspace: 'test:here', sharePublic: false } as const;
  const page = { reader: { ...reader, audience: 'dm' }, limit: 100, offset: 0 } as const;
  return (await world.services.store.memories.list(page)).map(({ text }) => text);
}

describe('a summariser that', () => {
  it('refuses a request is not asked the same twice', async () => {
    const model = scriptedModel(() => ({ finish: 'refused' }), { window: 32_000 });
    await using world = await createWorld({ model, window: 3000 });
    await talk(world);
    await world.run();
    expect(model.requests).toHaveLength(1);
    expect((await world.conversation()).lastError).toContain('content filter');
  });

  it.each(Object.entries(refusals))('%s one message summarises the others', async (_, refuse) => {
    await using world = await createWorld({ model: scriptedModel(refusing(refuse), { window: 32_000 }), window: 3000 });
    await talk(world);
    await runOften(world, 4);
    await expectCovered(world);
    expect(await world.conversation()).toMatchObject({ failures: 0, lastError: null });
    const [range, ...others] = await leftOutIn(world);
    expect(others).toEqual([]);
    expect(range?.[0]).toBeLessThanOrEqual(5);
    expect(range?.[1]).toBeGreaterThanOrEqual(5);
    expect((range?.[1] ?? 99) - (range?.[0] ?? 0)).toBeLessThanOrEqual(3);
    const facts = await remembered(world);
    expect(facts).toContain('Ada keeps 1 boats.');
    expect(facts).toContain('Ada keeps 11 boats.');
    const [entry] = await world.services.store.transcript.pick((await world.conversation()).id, [5]);
    expect(textOf(entry?.parts ?? [])).toContain(REFUSED);
  });

  it('refuses twice reads the whole a third time', async () => {
    const model = scriptedModel(refusing(refusals.refuses), { window: 32_000 });
    await using world = await createWorld({ model, window: 3000 });
    await talk(world);
    await runOften(world, 2);
    expect(await world.conversation()).toMatchObject({ failures: 2, compactedUpto: 0 });
    model.script = faithful;
    await runOften(world, 1);
    expect(await leftOutIn(world)).toEqual([]);
  });

  it('refuses many messages in a row leaves out only those', async () => {
    const model = scriptedModel(
      refusing(() => ({ text: '' })),
      { window: 32_000 },
    );
    await using world = await createWorld({ model, window: 3000 });
    await talk(world, [1, 2, 3, 4, 5, 6]);
    await runOften(world, 12);
    await expectCovered(world);
    expect((await world.conversation()).failures).toBe(0);
    const seqs = (await leftOutIn(world)).flatMap(([from = 0, to = 0]) => [from, to]);
    expect(Math.max(...seqs)).toBeLessThanOrEqual(14);
    expect(await remembered(world)).toContain('Ada keeps 8 boats.');
  });

  it('refuses everything makes nothing be left out', async () => {
    const model = scriptedModel(() => ({ text: "I'm sorry, but I can't help with that." }), { window: 32_000 });
    await using world = await createWorld({ model, window: 3000 });
    await talk(world);
    const before = await world.snapshot();
    await runOften(world, 8);
    const after = await world.snapshot();
    expect({ ...after, conversation: null }).toEqual({ ...before, conversation: null });
    expect(after.conversation).toMatchObject({ compactedUpto: 0, extractedUpto: 0, failures: 8 });
    model.script = faithful;
    await runOften(world, 1);
    expect(await leftOutIn(world)).toEqual([]);
    expect(await remembered(world)).toContain('Ada keeps 1 boats.');
  });

  it('refuses a message in an idle tail reads the others', async () => {
    const model = scriptedModel(refusing(refusals.refuses), { window: 32_000 });
    await using world = await createWorld({ model, window: 30_000, agent: { compaction: { idle_minutes: 1 } } });
    await talk(world);
    await world.clock.advance(61_000);
    await runOften(world, 4);
    const { extractedUpto, nextSeq, failures } = await world.conversation();
    expect({ extractedUpto, failures }).toEqual({ extractedUpto: nextSeq - 1, failures: 0 });
    const facts = await remembered(world);
    expect(facts).toEqual(expect.arrayContaining(['Ada keeps 1 boats.', 'Ada keeps 2 boats.', 'Ada keeps 4 boats.']));
  });

  it('refuses to condense does not block what comes after', async () => {
    const refuse: Script = (request, options) =>
      request.purpose === 'condense' ? { text: '' } : faithful(request, options);
    await using world = await createWorld({ model: scriptedModel(refuse, { window: 32_000 }), window: 2000 });
    for (let round = 0; round < 8; round += 1) {
      await talk(world);
      await runOften(world, 4);
    }
    await expectCovered(world);
    expect((await world.conversation()).failures).toBeLessThan(4);
    const { stack } = await world.snapshot();
    const condensed = stack.filter(({ level }) => level > 0);
    expect(condensed.map(({ model }) => model)).toContain(null);
    expect(condensed.find(({ model }) => model === null)?.text).toContain('People talked about the river');
  });
});

const breakdowns = {
  'refuses everything': refusals.refuses,
  'says nothing': () => ({ text: '' }),
  'is down': () => {
    throw new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'the server is restarting' });
  },
} satisfies Readonly<Record<string, () => Said>>;

/** Refuses one message, and stops working after so many calls. */
const breakingAfter =
  (calls: number, fail: () => Said): Script =>
  (request, options) =>
    options.count > calls ? fail() : refusing(refusals.refuses)(request, options);

/** The numbers of calls after which the summariser breaks. */
const CALLS = Array.from({ length: 12 }, (_, index) => index + 1);

describe('a summariser that stops working in the middle of a run', () => {
  it.each(Object.entries(breakdowns))('and %s makes nothing be left out', SIZED, async (_, fail) => {
    for (const calls of spread(CALLS, 4)) {
      const model = scriptedModel(breakingAfter(calls, fail), { window: 32_000 });
      await using world = await createWorld({ model, window: 3000 });
      await talk(world);
      await runOften(world, 5);
      for (const [from = 0, to = 0] of await leftOutIn(world)) {
        expect({ calls, holds: from <= 5 && to >= 5 }).toEqual({ calls, holds: true });
      }
      model.script = refusing(refusals.refuses);
      await runOften(world, 4);
      await expectCovered(world);
      expect(await world.conversation()).toMatchObject({ failures: 0, lastError: null });
      expect(await leftOutIn(world)).toHaveLength(1);
      expect(await remembered(world)).toContain('Ada keeps 11 boats.');
    }
  });
});

describe('summaries of what was deleted', () => {
  it('are condensed without a model', async () => {
    const model = scriptedModel(faithful, { window: 32_000 });
    await using world = await createWorld({ model, window: 3000, agent: { compaction: { stack_share: 0.01 } } });
    const ids = Array.from({ length: 40 }, (_, index) => `x${index}`);
    for (const [index, id] of ids.entries())
      await world.say(`FACT Ada keeps ${index} boats. ${filler(60, index)}`, { id });
    await runOften(world, 1);
    const { id } = await world.conversation();
    const called = model.requests.length;
    await world.services.store.transcript.redact(id, { externalIds: ids, now: world.clock.now() });
    await runOften(world, 3);
    expect(model.requests).toHaveLength(called);
    expect(await world.conversation()).toMatchObject({ failures: 0 });
  });
});

describe('a summariser that is too slow for the whole text', () => {
  const late = () => {
    throw new ModelError({ model: 'test:summariser', reason: 'timeout', detail: 'no answer within 120 s' });
  };
  const slow =
    (characters: number): Script =>
    (request, options) =>
      transcriptIn(request).length > characters ? late() : faithful(request, options);

  it.each([
    ['somewhat', 6000, 2],
    ['much', 2000, 5],
  ])('reads it in parts after failures (%s)', async (_, characters, runs) => {
    const model = scriptedModel(slow(characters), { window: 8000 });
    await using world = await createWorld({ model, window: 4000 });
    await talk(world);
    await runOften(world, runs - 1);
    expect((await world.snapshot()).stack).toEqual([]);
    await runOften(world, 1);
    await expectCovered(world);
    expect(await world.conversation()).toMatchObject({ failures: 0, lastError: null });
    expect((await world.snapshot()).stack.length).toBeGreaterThan(1);
    expect(await leftOutIn(world)).toEqual([]);
    expect(await remembered(world)).toContain('Ada keeps 1 boats.');
  });

  it('is asked at most twice in a run without answers', async () => {
    const model = scriptedModel(late, { window: 8000 });
    await using world = await createWorld({ model, window: 4000 });
    await talk(world);
    const calls: number[] = [];
    for (let run = 0; run < 5; run += 1) {
      await runOften(world, 1);
      calls.push(model.requests.length);
    }
    expect(calls.map((count, run) => count - (calls[run - 1] ?? 0))).toEqual([1, 2, 2, 2, 2]);
    expect((await world.snapshot()).stack).toEqual([]);
  });
});
