import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineEngine } from '../../../src/context/engines/define-engine.ts';
import { createSlidingEngine } from '../../../src/context/engines/sliding.ts';
import { createStackedEngine } from '../../../src/context/engines/stacked.ts';
import { assembleView } from '../../../src/context/fit/assemble-view.ts';
import type { ConversationKey, SummaryId } from '../../../src/domain/message.ts';
import type { ContextProfile } from '../../../src/ports/engine.ts';
import type { ModelMessage } from '../../../src/ports/model.ts';
import type { ContextSnapshot } from '../../../src/ports/store.ts';
import { pagesOf } from '../../../src/util/async/conversation-pages.ts';
import { engineContract, expectWhole } from '../../contracts/engine.ts';
import {
  calls,
  key,
  profile,
  snapshot as pureSnapshot,
  results,
  stories,
  summary,
  talk,
  user,
} from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';
import { SIZED, sized } from '../../support/size.ts';

engineContract('stacked', createStackedEngine);
engineContract('sliding', ({ services }) => createSlidingEngine({ services }));
engineContract('with nothing but assemble', ({ services }) => {
  const { assemble } = createSlidingEngine({ services });
  return defineEngine({ id: 'own', assemble });
});

engineContract('with the newest messages', () =>
  defineEngine({
    id: 'own',
    assemble: async (request) => assembleView(request, { tail: request.snapshot.tail.slice(-20) }),
  }),
);

engineContract('with something prepared for children', ({ services }) => {
  const { assemble } = createSlidingEngine({ services });
  const prepared = new Set<ConversationKey>();
  return defineEngine({
    id: 'own',
    assemble,
    async prepareChild({ child }) {
      if (prepared.has(child)) throw new Error('This child is prepared already.');
      prepared.add(child);
      return { rollback: async () => void prepared.delete(child) };
    },
    endChild: async ({ child }) => void prepared.delete(child),
  });
});

const NOW = Date.UTC(2026, 10, 21);
const small = profile({ windowTokens: 1500, reserveTokens: 100 });

async function open() {
  const place = await createPlace();
  const ran: number[] = [];
  const maintenance = {
    run: async ({ conversationId }: { readonly conversationId: number }) => {
      ran.push(conversationId);
      return { changed: true, reason: 'done' };
    },
  };
  const engine = createStackedEngine({ services: place.services, maintenance });
  const assemble = (
    snapshot: ContextSnapshot,
    used: ContextProfile = small,
    readUpto = snapshot.conversation.nextSeq - 1,
  ) => engine.assemble({ profile: used, snapshot, readUpto, volatile: [], steps: [], now: NOW });
  return { ...place, engine, assemble, ran };
}

describe('the stacked engine in need', () => {
  // Shows: S25
  it('drops the oldest half at once and marks the gap', async () => {
    await using place = await open();
    const before = await place.tell(talk(40));
    const { snapshot, measurement, system } = await place.assemble(before);
    const [gap] = snapshot.stack;
    expect(gap).toMatchObject({ kind: 'gap', fromSeq: 1 });
    const count = gap?.toSeq ?? 0;
    expect(system.at(-1)).toEqual({
      text: `[System: ${count} older messages were truncated due to context limits]`,
      cacheBreak: true,
    });
    expect(measurement.tier).not.toBe('emergency');
    expectWhole(snapshot);
    expectWhole(await place.snapshot());
    expect(place.seen).toContainEqual(
      expect.objectContaining({ kind: 'gap.opened', conversation: key, fromSeq: 1, toSeq: count, reason: 'emergency' }),
    );
  });

  it('shortens long texts before it drops messages', async () => {
    await using place = await open();
    const long = 'The plan has many points. '.repeat(125);
    const { tail, ...story } = talk(12);
    const before = await place.tell({ ...story, tail: tail.map((entry) => (entry.seq === 7 ? user(7, long) : entry)) });
    const stored = JSON.stringify(before.tail);
    const { snapshot, measurement, messages } = await place.assemble(before);
    expect(measurement.tier).not.toBe('emergency');
    expect(snapshot).toBe(before);
    expect(place.seen).toEqual([]);
    expect(JSON.stringify((await place.snapshot()).tail)).toBe(stored);
    const shown = JSON.stringify(messages);
    expect(shown).toContain('[#1 |');
    expect(shown).toMatch(/#7 \|.*The plan has.*characters left out.*many points/u);
  });

  it('shortens a result that no cut makes fit', async () => {
    await using place = await open();
    const before = await place.tell(talk(6));
    const steps: readonly ModelMessage[] = [
      { role: 'assistant', text: '', calls: [{ callId: 'a', tool: 'look', input: {} }] },
      { role: 'tool', results: [{ callId: 'a', tool: 'look', text: 'row '.repeat(4000), isError: false }] },
    ];
    const request = { snapshot: before, readUpto: before.conversation.nextSeq - 1, volatile: [], now: NOW };
    const { snapshot, measurement, messages } = await place.engine.assemble({ ...request, profile: small, steps });
    expect(measurement.used).toBeLessThan(small.windowTokens * small.thresholds.emergency);
    expect(snapshot.stack).toEqual([]);
    expect(JSON.stringify(messages)).toContain('[#1 |');
  });

  it('drops messages for a result that then fits', async () => {
    await using place = await open();
    const before = await place.tell(talk(24));
    const text = 'row '.repeat(300);
    const steps: readonly ModelMessage[] = [
      { role: 'assistant', text: '', calls: [{ callId: 'a', tool: 'look', input: {} }] },
      { role: 'tool', results: [{ callId: 'a', tool: 'look', text, isError: false }] },
    ];
    const request = { snapshot: before, readUpto: before.conversation.nextSeq - 1, volatile: [], now: NOW };
    const { snapshot, messages } = await place.engine.assemble({ ...request, profile: small, steps });
    expect(snapshot.stack).toMatchObject([{ kind: 'gap', fromSeq: 1 }]);
    expect(JSON.stringify(messages)).toContain(text);
  });

  it('asks store and queue to fill the gap', async () => {
    await using place = await open();
    const { snapshot } = await place.assemble(await place.tell(talk(40)));
    expect(snapshot.conversation.maintainAt).toBeLessThanOrEqual(NOW);
    expect(place.services.queue.stats().waiting).toBe(1);
  });

  // Shows: R8
  it('does so while another compaction holds its claim', async () => {
    await using place = await open();
    const before = await place.tell(talk(40));
    const request = { work: 'maintenance', conversationId: before.conversation.id, now: NOW, leaseMs: 60_000 } as const;
    expect(await place.services.store.conversations.claim(request)).not.toBeNull();
    const { snapshot } = await place.assemble(before);
    expect(snapshot.stack).toHaveLength(1);
  });

  it('accepts the view as it is when another cut first', async () => {
    await using place = await open();
    const before = await place.tell(talk(40));
    const gap = {
      id: 'other' as SummaryId,
      conversationId: before.conversation.id,
      expectedCompactedUpto: 0,
      toSeq: 60,
      now: NOW,
    };
    expect(await place.services.store.summaries.openGap(gap)).toBe('committed');
    const { snapshot } = await place.assemble(before);
    expect(snapshot.stack[0]).toMatchObject({ id: 'other', toSeq: 60 });
    expectWhole(snapshot);
  });

  // Shows: Q14
  it('never removes messages that wait for an answer', async () => {
    await using place = await open();
    const asked = Array.from({ length: 40 }, (_, index) =>
      user(index + 1, 'And what about this point of the plan, please?'),
    );
    const snapshot = await place.tell({ tail: asked, asking: new Set(asked.map(({ seq }) => seq)) });
    const assembly = await place.assemble(snapshot);
    expect(assembly.snapshot.stack).toEqual([]);
    expect(assembly.measurement.used).toBeLessThanOrEqual(small.windowTokens);
    expect(JSON.stringify(assembly.messages)).toContain('[#40 |');
    expect((await place.snapshot()).conversation.compactedUpto).toBe(0);
  });

  it('takes the talk before the one message that asks', async () => {
    await using place = await open();
    const talked = Array.from({ length: 60 }, (_, index) =>
      user(index + 1, 'We could also do it in another way, I think.'),
    );
    const { snapshot } = await place.assemble(await place.tell({ tail: talked, asking: new Set([60]) }));
    expect(snapshot.stack[0]).toMatchObject({ kind: 'gap', fromSeq: 1 });
    expectWhole(snapshot);
  });

  // Shows: A13, A15, T26
  it('changes nothing that is stored if a reduction is enough', async () => {
    await using place = await open();
    const story = talk(12, { tools: true });
    const big = story.tail.map((entry) =>
      entry.role === 'tool' ? results(entry.seq, entry.turn ?? 0, [`t${entry.turn}`], 'data '.repeat(120)) : entry,
    );
    const before = await place.tell({ ...story, tail: big });
    const window = profile({ windowTokens: 2600, reserveTokens: 100 });
    const stored = JSON.stringify(before.tail);
    const { snapshot, measurement } = await place.assemble(before, window);
    expect(measurement.tier).toBe('none');
    expect(snapshot).toBe(before);
    expect(JSON.stringify((await place.snapshot()).tail)).toBe(stored);
    expect(place.seen).toEqual([]);
  });

  it('reads the omitted head of a tail when it fits', async () => {
    await using place = await open();
    const whole = await place.tell(talk(10));
    const part = await place.services.store.transcript.context(whole.conversation.id, { maxEntries: 5 });
    if (part === null) throw new Error('the conversation is gone');
    expect(part.omitted.entries).toBe(14);
    const { snapshot } = await place.assemble(part, profile());
    expect(snapshot.tail).toEqual(whole.tail);
  });

  it('opens a gap over it when there is none', async () => {
    await using place = await open();
    const whole = await place.tell(talk(60));
    const part = await place.services.store.transcript.context(whole.conversation.id, { maxEntries: 5 });
    if (part === null) throw new Error('the conversation is gone');
    const { snapshot, measurement } = await place.assemble(part);
    expect(measurement.tier).not.toBe('emergency');
    expect(snapshot.stack[0]?.kind).toBe('gap');
    expectWhole(snapshot);
  });

  it('opens a gap where the omitted head exceeds its estimate', async () => {
    await using place = await open();
    // The stored tokens of a message are less than what its line takes.
    const tail = Array.from({ length: 120 }, (_, index) => user(index + 1, 'ok'));
    const whole = await place.tell({ tail, asking: new Set([120]) });
    const part = await place.services.store.transcript.context(whole.conversation.id, { maxEntries: 40 });
    if (part === null) throw new Error('the conversation is gone');
    const { snapshot, messages } = await place.assemble(part, profile({ windowTokens: 2000, reserveTokens: 100 }));
    expect(snapshot.stack).toMatchObject([{ kind: 'gap', fromSeq: 1 }]);
    expect(JSON.stringify(messages)).not.toContain('left out');
    expectWhole(snapshot);
  });

  it('keeps layers and tail whole through any history', SIZED, async () => {
    await using place = await open();
    await fc.assert(
      fc.asyncProperty(stories, fc.integer({ min: 900, max: 2000 }), async (story, windowTokens) => {
        for await (const { id } of pagesOf(place.services.store.conversations, { order: 'active' })) {
          await place.services.store.conversations.change(id, { kind: 'purge' });
        }
        const before = await place.tell(story);
        const used = profile({ windowTokens, reserveTokens: 100 });
        await place.assemble(before, used);
        const after = await place.snapshot();
        expectWhole(after);
        const all = await place.services.store.transcript.read(after.conversation.id, {
          fromSeq: 1,
          toSeq: 999,
          limit: 999,
        });
        expect(all.map(({ seq }) => seq)).toEqual(story.tail.map(({ seq }) => seq));
      }),
      { numRuns: sized({ small: 8, full: 40 }) },
    );
  });

  it('hands maintenance to the job', async () => {
    await using place = await open();
    const work = {
      conversationId: 7,
      trigger: 'manual',
      instruction: null,
      signal: AbortSignal.timeout(1000),
    } as const;
    expect(await place.engine.maintain(work)).toEqual({ changed: true, reason: 'done' });
    expect(place.ran).toEqual([7]);
  });
});

describe('whether maintenance is due', () => {
  const turns = talk(20).tail;

  async function verdict(used: ContextSnapshot, ratio: number, with_: ContextProfile = profile()) {
    await using place = await open();
    const { measurement } = await place.engine.assemble({
      profile: with_,
      snapshot: pureSnapshot([user(1)]),
      readUpto: 1,
      volatile: [],
      steps: [],
      now: NOW,
    });
    const filled = { ...measurement, used: ratio * with_.windowTokens, ratio };
    const turn = { profile: with_, snapshot: used, readUpto: 1, messages: [], addedTokens: 0 };
    return place.engine.afterTurn({ ...turn, measurement: filled });
  }

  // Shows: S4
  it('follows the tiers, with what the turn adds', async () => {
    expect(await verdict(pureSnapshot(turns), 0.5)).toEqual({ tier: 'none', due: false });
    expect(await verdict(pureSnapshot(turns), 0.81)).toEqual({ tier: 'background', due: true });
    expect(await verdict(pureSnapshot(turns), 0.86)).toEqual({ tier: 'aggressive', due: true });
    expect(await verdict(pureSnapshot(turns), 0.96)).toEqual({ tier: 'emergency', due: true });
  });

  it('counts results that the last request shortened', async () => {
    await using place = await open();
    const small = profile({ windowTokens: 10_000 });
    const view = { profile: small, snapshot: pureSnapshot([user(1)]), readUpto: 1 };
    const { measurement } = await place.engine.assemble({ ...view, volatile: [], steps: [], now: NOW });
    const said = (role: 'assistant' | 'tool', tokens: number) => ({ role, parts: [], tokens, at: NOW });
    const messages = [said('assistant', 10), said('tool', 9000), said('assistant', 10)];
    expect(place.engine.afterTurn({ ...view, measurement, messages, addedTokens: 10 }).tier).not.toBe('none');
  });

  // Shows: O27, T35
  it('uses the agent’s own thresholds', async () => {
    const early = profile({ thresholds: { background: 0.4, aggressive: 0.6, emergency: 0.9 } });
    expect(await verdict(pureSnapshot(turns), 0.5, early)).toEqual({ tier: 'background', due: true });
  });

  // Shows: B6, R12
  it('is not due when nothing may leave', async () => {
    expect(await verdict(pureSnapshot([user(1)]), 0.9)).toEqual({ tier: 'aggressive', due: false });
  });

  it('is due for gaps, stale summaries and an oversized stack', async () => {
    const layer = (fields: object) => [summary({ fromSeq: 1, toSeq: 10, ...fields })];
    const tail = [user(11)];
    expect((await verdict(pureSnapshot(tail, {}, layer({})), 0.1)).due).toBe(false);
    expect((await verdict(pureSnapshot(tail, {}, layer({ kind: 'gap' })), 0.1)).due).toBe(true);
    expect((await verdict(pureSnapshot(tail, {}, layer({ stale: true })), 0.1)).due).toBe(true);
    const two = [summary({ fromSeq: 1, toSeq: 5, tokens: 400 }), summary({ fromSeq: 6, toSeq: 10, tokens: 400 })];
    expect((await verdict(pureSnapshot(tail, {}, two), 0.1)).due).toBe(true);
  });

  it('is also checked for unanswered messages', async () => {
    await using place = await open();
    const talked = Array.from({ length: 60 }, (_, index) =>
      user(index + 1, 'We could also do it in another way, I think.'),
    );
    const snapshot = await place.tell({ tail: talked, asking: new Set() });
    expect(await place.engine.ingest({ profile: small, snapshot, seq: 60 })).toEqual({ ingested: true, due: true });
    expect(await place.engine.ingest({ profile: profile({ windowTokens: 90_000 }), snapshot, seq: 61 })).toMatchObject({
      due: false,
    });
  });

  // Shows: A15
  it('takes reductions into account: stubs may suffice', async () => {
    await using place = await open();
    const tail = [
      user(1),
      calls(2, 1, ['a']),
      results(3, 1, ['a'], 'data '.repeat(600)),
      ...talk(4).tail.map((entry) => ({
        ...entry,
        seq: entry.seq + 3,
        turn: entry.turn === null ? null : entry.turn + 3,
      })),
    ];
    const snapshot = pureSnapshot(tail);
    const window = profile({ windowTokens: 1100, reserveTokens: 100 });
    expect((await place.engine.ingest({ profile: window, snapshot, seq: 10 })).due).toBe(false);
  });
});

describe('the sliding engine', () => {
  // Shows: O2
  it('shows only the newest turns, marks the cut, stores nothing', async () => {
    await using place = await createPlace();
    const engine = createSlidingEngine({ services: place.services });
    const before = await place.tell(talk(60));
    const { messages, snapshot, system, measurement } = await engine.assemble({
      profile: small,
      snapshot: before,
      readUpto: 119,
      volatile: [],
      steps: [],
      now: NOW,
    });
    const shown = JSON.stringify(messages);
    expect(shown).toContain('[#119 |');
    expect(shown).not.toContain('[#1 |');
    expect(shown).toContain('earlier messages are left out');
    expect(system.map(({ text }) => text)).toEqual(['You are a test.']);
    expect(measurement.ratio).toBeLessThan(small.thresholds.background);
    expect(snapshot).toBe(before);
    expect((await place.snapshot()).stack).toEqual([]);
  });
});
