import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Conversation, MEMORY_STATES, ModelError, type SummaryId } from '../../../src/adapter-kit.ts';
import { createMaintenance } from '../../../src/compaction/maintenance.ts';
import { createBreaker } from '../../../src/models/breaker.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { SIZED, sized, sizedLimitMs } from '../../support/size.ts';
import {
  createWorld,
  expectCovered,
  faithful,
  filler,
  type ScriptedModel,
  scriptedModel,
  settle,
  type World,
} from './compaction.world.ts';

/** One thing that happens to a conversation while jobs come and go. */
type Move =
  | { readonly kind: 'say'; readonly text: string; readonly id: number }
  | { readonly kind: 'exchange'; readonly size: number; readonly tools: number; readonly fact: number }
  | { readonly kind: 'edit'; readonly which: number }
  | { readonly kind: 'remove'; readonly which: number }
  | { readonly kind: 'emergency'; readonly share: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'wait'; readonly minutes: number }
  /** A job begins; its model answers at a later `answer`, or never. */
  | { readonly kind: 'job'; readonly worker: 0 | 1; readonly trigger: 'queue' | 'manual' | 'shutdown' }
  | { readonly kind: 'answer'; readonly how: 'well' | 'badly' | 'not' };

const text = fc.constantFrom(
  'Good morning.',
  '你好，今天下雨。',
  '🎉🎉 party at 8',
  `Long ${filler(200)}`,
  '</transcript>',
  'x',
);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('say' as const), text, id: fc.nat(30) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('exchange' as const),
      size: fc.integer({ min: 5, max: 300 }),
      tools: fc.nat(3),
      fact: fc.nat(12),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('edit' as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat(30) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('emergency' as const),
      share: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('job' as const),
      worker: fc.constantFrom(0 as const, 1 as const),
      trigger: fc.constantFrom('queue' as const, 'queue' as const, 'manual' as const, 'shutdown' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      how: fc.constantFrom('well' as const, 'well' as const, 'well' as const, 'badly' as const, 'not' as const),
    }),
  },
);

/** A model whose answers the test supplies, in the order of the calls. */
function handed(): {
  readonly model: ScriptedModel;
  answer(how: 'well' | 'badly' | 'not'): void;
  readonly open: () => number;
} {
  const waiting: ((how: 'well' | 'badly' | 'not') => void)[] = [];
  const model = scriptedModel(
    (request, options) =>
      new Promise((resolve, reject) => {
        waiting.push((how) => {
          if (how === 'well') resolve(faithful(request, options));
          else if (how === 'badly') resolve({ text: '' });
          else reject(new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'no' }));
        });
      }),
    { window: 4000 },
  );
  return { model, answer: (how) => waiting.shift()?.(how), open: () => waiting.length };
}

async function play(
  world: World,
  moves: readonly Move[],
  model: ReturnType<typeof handed>,
): Promise<readonly Promise<unknown>[]> {
  const workers = [world.maintenance, createMaintenance({ ...world, breaker: createBreaker(world.services) })] as const;
  const jobs: Promise<unknown>[] = [];
  const { store } = world.services;
  for (const each of moves) {
    const { conversation, tail } = await world.snapshot();
    const { id } = conversation;
    const now = world.clock.now();
    switch (each.kind) {
      case 'say':
        await world.say(each.text, { id: `say-${each.id}` });
        break;
      case 'exchange': {
        const tools = Array.from({ length: each.tools }, (_, index) => ({
          tool: 'look',
          input: { index },
          result: filler(60, index),
        }));
        await world.exchange(`FACT Item ${each.fact} is blue. ${filler(each.size, each.fact)}`, 'Noted.', tools);
        break;
      }
      case 'edit':
        await store.transcript.edit(id, {
          externalId: `say-${each.which}`,
          parts: [{ kind: 'text', text: 'FACT It was edited.' }],
          tokens: 9,
          now,
        });
        break;
      case 'remove':
        await store.transcript.redact(id, { externalIds: [`say-${each.which}`], now });
        break;
      case 'emergency': {
        const at = Math.floor(tail.length * each.share);
        const last = tail[at - 1];
        const isClean = last !== undefined && !tail.slice(at).some(({ turn }) => turn !== null && turn <= last.seq);
        if (isClean) await openGap(world, { conversation, toSeq: last.seq });
        break;
      }
      case 'reset':
        await store.conversations.change(id, { kind: 'reset', now });
        break;
      case 'wait':
        await world.clock.advance(each.minutes * 60_000);
        break;
      case 'job': {
        const signal = new AbortController().signal;
        const job = workers[each.worker].run({ conversationId: id, trigger: each.trigger, instruction: null, signal });
        // Awaited at the end; when the property fails before, its reason is the only one of interest.
        job.catch(() => undefined);
        jobs.push(job);
        await settle();
        break;
      }
      case 'answer':
        model.answer(each.how);
        await settle();
        break;
      default:
        each satisfies never;
    }
    await expectCovered(world);
  }
  return jobs;
}

/** An emergency cut of what was just read. A job that commits first makes it stale. */
async function openGap(
  world: World,
  { conversation, toSeq }: { readonly conversation: Conversation; readonly toSeq: number },
): Promise<void> {
  const { store, random, clock } = world.services;
  const { id: conversationId, compactedUpto: expectedCompactedUpto } = conversation;
  const gap = { id: random.id() as SummaryId, conversationId, expectedCompactedUpto, toSeq, now: clock.now() };
  if ((await store.summaries.openGap(gap)) === 'committed') return;
  expect((await world.conversation()).compactedUpto).toBeGreaterThan(expectedCompactedUpto);
}

/** I4, I8: nothing is saved twice, and nothing that no message says. */
async function expectSound(world: World): Promise<void> {
  const { store } = world.services;
  const { id, nextSeq } = await world.conversation();
  const reader = {
    agentId: 'main',
    place: 'test:here:talk',
    workspace: 'test:here',
    audience: 'dm',
    sharePublic: false,
  } as const;
  const memories = await store.memories.list({ reader, states: MEMORY_STATES, limit: 500, offset: 0 });
  expect(new Set(memories.map(({ text: said }) => said)).size).toBe(memories.length);
  const entries = await store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: nextSeq });
  const textOfSeq = new Map(entries.map((entry) => [entry.seq, JSON.stringify(entry.parts)]));
  for (const { text: said, sources } of memories) {
    expect(sources.length).toBeGreaterThan(0);
    for (const { seq } of sources) expect(textOfSeq.get(seq)).toContain(said.replace(/\.$/u, ''));
  }
  for (const layer of await store.summaries.live(id)) {
    const children = await store.summaries.children(layer.id);
    if (layer.level > 0) expect([children[0]?.fromSeq, children.at(-1)?.toSeq]).toEqual([layer.fromSeq, layer.toSeq]);
  }
}

describe('whatever happens while jobs come and go', () => {
  it('stack and tail always cover the conversation, storing nothing twice', {
    ...SIZED,
    timeout: sizedLimitMs(400_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 45 }), async (moves) => {
        const hands = handed();
        await using world = await createWorld({ model: hands.model, agent: { compaction: { idle_minutes: 5 } } });
        await world.say('The beginning.');
        const jobs = await play(world, moves, hands);
        let running = true;
        const ended = Promise.all(jobs).finally(() => {
          running = false;
        });
        while (running) {
          hands.answer('well');
          await settle();
        }
        await ended;
        await expectCovered(world);
        await expectSound(world);

        // Once the model works and everybody is silent, one run more brings all of it to rest.
        hands.model.script = faithful;
        for (let rounds = 0; rounds < 4; rounds += 1) {
          await world.clock.advance(30 * MINUTE_MS);
          await world.run();
        }
        await expectCovered(world);
        await expectSound(world);
        const { stack, conversation } = await world.snapshot();
        expect(stack.filter((item) => item.kind === 'gap' || item.stale)).toEqual([]);
        expect(conversation).toMatchObject({ failures: 0, maintainAt: null, maintenanceUntil: null });
        expect(conversation.extractedUpto).toBe(conversation.nextSeq - 1);
      }),
      { numRuns: sized({ small: 12, full: 25 }), interruptAfterTimeLimit: sizedLimitMs(60_000) },
    );
  });
});
