import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateRequest } from '../../src/context/measure/tokens.ts';
import { makeChildKey } from '../../src/domain/key.ts';
import type { ContextEngine, MaintainRequest, MaintainResult } from '../../src/ports/engine.ts';
import type { ModelMessage } from '../../src/ports/model.ts';
import type { ContextSnapshot } from '../../src/ports/store.ts';
import type { Services } from '../../src/services.ts';
import { profile, type Story, stories, talk } from '../fixtures/context.ts';
import { createPlace, type Place } from '../fixtures/place.ts';
import { faults } from '../fixtures/provider-rules.ts';
import { SIZED, sized } from '../support/size.ts';

/** What `engineContract` offers the engine that it creates. Most engines need none of it. */
export interface EngineOptions {
  readonly services: Services;
  readonly maintenance: { run(request: MaintainRequest): Promise<MaintainResult> };
}

const NOW = Date.UTC(2026, 10, 21);

/** A maintenance that never ends: whatever waits for it hangs the test. */
const hung = { run: () => new Promise<MaintainResult>(() => undefined) };

/** What a host requires of every context engine. */
export function engineContract(name: string, create: (options: EngineOptions) => ContextEngine): void {
  const open = async (overrides: Partial<Services> = {}): Promise<Place & { readonly engine: ContextEngine }> => {
    const place = await createPlace(overrides);
    return { ...place, engine: create({ services: place.services, maintenance: hung }) };
  };
  const assemble = (
    engine: ContextEngine,
    snapshot: ContextSnapshot,
    fields: Partial<Parameters<ContextEngine['assemble']>[0]> = {},
  ) =>
    engine.assemble({
      profile: profile(),
      snapshot,
      readUpto: snapshot.conversation.nextSeq - 1,
      volatile: [],
      steps: [],
      now: NOW,
      ...fields,
    });

  describe(`engine contract: ${name}`, () => {
    // Shows: O1
    it('says what it is', async () => {
      await using place = await open();
      const { id, name: title, version, ownsCompaction } = place.engine.info;
      expect([id, title, version].every((text) => text !== '')).toBe(true);
      expect(typeof ownsCompaction).toBe('boolean');
    });

    // Shows: O5
    it('answers a start, with a reason when idle', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(2));
      for (const answer of [await place.engine.bootstrap(snapshot), await place.engine.bootstrap(snapshot)]) {
        expect(answer.bootstrapped || answer.reason !== null).toBe(true);
      }
    });

    // Shows: O7
    it('takes in each message once', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(2));
      const ingest = { profile: profile(), snapshot, seq: 3 };
      expect((await place.engine.ingest(ingest)).ingested).toBe(true);
      expect((await place.engine.ingest(ingest)).ingested).toBe(false);
      expect((await place.engine.ingest({ ...ingest, seq: 4 })).ingested).toBe(true);
    });

    it('takes in a turn as a batch, each message once', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(3));
      const ingest = { profile: profile(), snapshot, seq: 3 };
      expect((await place.engine.ingest(ingest)).ingested).toBe(true);
      const batch = { profile: profile(), snapshot, seqs: [3, 4] };
      expect(await place.engine.ingestBatch(batch)).toEqual({ ingested: 1 });
      expect(await place.engine.ingestBatch(batch)).toEqual({ ingested: 0 });
      expect((await place.engine.ingest({ ...ingest, seq: 4 })).ingested).toBe(false);
      // A message may be stored before the reply that comes before it in the view.
      expect(await place.engine.ingestBatch({ ...batch, seqs: [6] })).toEqual({ ingested: 1 });
      expect((await place.engine.ingest({ ...ingest, seq: 5 })).ingested).toBe(true);
    });

    it('answers a person who asks for room', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(30));
      const before = await assemble(place.engine, snapshot);
      const request = { profile: profile(), snapshot, readUpto: snapshot.conversation.nextSeq - 1, now: NOW };
      const result = await place.engine.compact({ ...request, reason: 'manual' });
      expect(result.ok).toBe(true);
      expect(result.reason).not.toBe('');
      expect(result.tokensAfter < result.tokensBefore).toBe(result.compacted);
      const after = await assemble(place.engine, result.snapshot);
      expect(after.measurement.used < before.measurement.used).toBe(result.compacted);
      expectWhole(await place.snapshot());
    });

    // Shows: O9
    it('shows the messages in order, ending with the newest ask', async () => {
      await using place = await open();
      const assembly = await assemble(place.engine, await place.tell(talk(3)), { readUpto: 5 });
      const shown = [...JSON.stringify(assembly.messages).matchAll(/\[#(\d+) /g)].map(([, seq]) => Number(seq));
      expect(shown).toEqual([1, 3, 5]);
      expect(assembly.messages.at(-1)?.role).toBe('user');
    });

    // Shows: O10
    it('measures what it returns against the model’s window', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(5));
      for (const windowTokens of [2000, 4000, 128_000]) {
        const { measurement, estimatedTokens, system, messages, tools } = await assemble(place.engine, snapshot, {
          profile: profile({ windowTokens }),
        });
        const { fixed, stack, tail, volatile, reserve, used, window, ratio } = measurement;
        expect(used).toBe(fixed + stack + tail + volatile + reserve);
        expect([window, ratio]).toEqual([windowTokens, used / windowTokens]);
        expect(Math.abs(estimatedTokens - estimateRequest({ system, messages, tools }))).toBeLessThan(
          estimatedTokens / 10,
        );
      }
    });

    // Shows: O11
    it('names every part with source, reason and tokens', async () => {
      await using place = await open();
      const volatile = [{ key: 'clock', text: 'It is noon.', source: 'clock', reason: 'always', memoryIds: [] }];
      const { parts, measurement } = await assemble(place.engine, await place.tell(talk(3)), { volatile });
      expect(parts.map(({ key }) => key)).toEqual(['tools', 'persona', 'tail', 'clock', 'reserve']);
      expect(parts.every(({ source, reason }) => source !== '' && reason !== '')).toBe(true);
      const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
      expect(Math.abs(sum - measurement.used)).toBeLessThan(20);
    });

    it('gives a model without tools none to read', async () => {
      await using place = await open();
      const deaf = profile({ traits: { windowTokens: 4000, tools: false, images: false } });
      const { messages } = await assemble(place.engine, await place.tell(talk(3, { tools: true })), { profile: deaf });
      expect(messages.some(({ role }) => role === 'tool')).toBe(false);
    });

    // Shows: P24, T5
    it('keeps the steps of the running turn', async () => {
      await using place = await open();
      const steps = round('x', 'found');
      const { messages } = await assemble(place.engine, await place.tell(talk(2)), { steps });
      expect(messages.slice(-2)).toEqual(steps);
    });

    it('never exceeds the window and never loses the ask', SIZED, async () => {
      await using place = await open();
      const run = async (story: Story, windowTokens: number, grown: number): Promise<void> => {
        const snapshot = await fresh(place, story);
        const newest = story.tail.findLast(({ role }) => role === 'user');
        const steps = grown === 0 ? [] : round('x', 'grown '.repeat(grown));
        const request = { profile: profile({ windowTokens, reserveTokens: 100 }), steps, readUpto: newest?.seq ?? 0 };
        const assembly = await assemble(place.engine, snapshot, request);
        expect(assembly.measurement.used).toBeLessThanOrEqual(windowTokens);
        expect(faults(assembly.messages)).toEqual([]);
        const sent = estimateRequest({ system: assembly.system, messages: assembly.messages, tools: assembly.tools });
        expect(sent + 100).toBeLessThanOrEqual(windowTokens);
        if (newest) expect(JSON.stringify(assembly.messages)).toContain(`[#${newest.seq} |`);
      };
      await fc.assert(
        fc.asyncProperty(stories, fc.integer({ min: 700, max: 3000 }), fc.constantFrom(0, 400, 4000), run),
        {
          numRuns: sized({ small: 10, full: 40 }),
        },
      );
    });

    // Shows: B7, Q15
    it('reports a window too small for the newest message', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(1));
      const tiny = profile({ windowTokens: 60, reserveTokens: 40 });
      await expect(assemble(place.engine, snapshot, { profile: tiny })).rejects.toMatchObject({
        code: 'WINDOW_TOO_SMALL',
      });
    });

    // Shows: P20
    it('keeps head and tail of an oversized message', async () => {
      await using place = await open();
      const snapshot = await place.tell(
        talk(1, { text: `What is this? ${'lorem ipsum '.repeat(20_000)} Please explain.` }),
      );
      const { measurement, messages } = await assemble(place.engine, snapshot);
      const shown = JSON.stringify(messages);
      expect(shown).toContain('What is this?');
      expect(shown).toContain('Please explain.');
      expect(measurement.ratio).toBeLessThan(0.95);
      expect(measurement.ratio).toBeGreaterThan(0.5);
    });

    // Shows: O16
    it('frees room after a refusal and reports it', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(30));
      const before = await assemble(place.engine, snapshot);
      const request = { profile: profile(), snapshot, readUpto: snapshot.conversation.nextSeq - 1, now: NOW };
      const result = await place.engine.compact({ ...request, reason: 'overflow' });
      expect(result).toMatchObject({ ok: true, compacted: true });
      expect(result.reason).not.toBe('');
      expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
      const after = await assemble(place.engine, result.snapshot);
      expect(after.measurement.used).toBeLessThan(before.measurement.used);
    });

    // Shows: O21
    it('frees room once even when one message is all', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(1, { text: 'lorem ipsum '.repeat(1000) }));
      const before = await assemble(place.engine, snapshot, { readUpto: 1 });
      const request = { profile: profile(), snapshot, readUpto: 1, now: NOW, reason: 'overflow' as const };
      const first = await place.engine.compact(request);
      expect(first.compacted).toBe(true);
      const after = await assemble(place.engine, first.snapshot, { readUpto: 1 });
      expect(after.measurement.used).toBeLessThan(before.measurement.used);
      expect((await place.engine.compact(request)).compacted).toBe(false);
      const next = await assemble(place.engine, snapshot, { readUpto: 2 });
      expect(next.measurement.used).toBeGreaterThan(after.measurement.used);
    });

    // Shows: O3
    it('answers whether maintenance is due while one hangs', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(30));
      const { measurement } = await assemble(place.engine, snapshot);
      const parts = [{ kind: 'text', text: 'Yes.' }] as const;
      const messages = [{ role: 'assistant', parts, tokens: 10, at: NOW }] as const;
      const turn = { profile: profile(), snapshot, readUpto: 59, messages, measurement };
      const verdict = place.engine.afterTurn({ ...turn, addedTokens: 10 });
      expect(typeof verdict.due).toBe('boolean');
      const grown = place.engine.afterTurn({ ...turn, addedTokens: 100_000 });
      expect(grown.tier).toBe('emergency');
      expect(grown.due).toBe(place.engine.info.ownsCompaction);
    });

    it('takes parallel calls and keeps layers without hole or overlap', async () => {
      await using place = await open();
      const snapshot = await place.tell(talk(60));
      const { nextSeq } = snapshot.conversation;
      const readUpto = nextSeq - 1;
      const small = profile({ windowTokens: 1500, reserveTokens: 100 });
      await Promise.all([
        assemble(place.engine, snapshot, { profile: small }),
        assemble(place.engine, snapshot, { profile: small }),
        place.engine.ingest({ profile: small, snapshot, seq: readUpto }),
        place.engine.compact({ profile: small, snapshot, readUpto, reason: 'manual', now: NOW }),
      ]);
      expectWhole(await place.snapshot());
    });

    // Shows: O40, O41
    it('prepares a child, and takes it back', async () => {
      await using place = await open();
      const parent = await place.tell(talk(2));
      const before = await assemble(place.engine, parent);
      const child = await place.child('count the boats');
      const start = { parent: parent.conversation.key, child: child.conversation.key, ttlMs: 1000 };
      const preparation = await place.engine.prepareChild(start);
      await preparation?.rollback();
      expect(await assemble(place.engine, parent)).toEqual(before);
      // Nothing is left of it: the same child can start for the first time.
      const again = await place.engine.prepareChild(start);
      expect(again === null).toBe(preparation === null);
      await place.engine.bootstrap(child);
      const batch = { profile: profile(), snapshot: child, seqs: [1] };
      expect(await place.engine.ingestBatch(batch)).toEqual({ ingested: 1 });
      expect(JSON.stringify((await assemble(place.engine, child)).messages)).toContain('count the boats');
      expect(await assemble(place.engine, parent)).toEqual(before);
    });

    // Shows: O42
    it('ends a child, known or not, and repeats it', async () => {
      await using place = await open();
      const parent = await place.tell(talk(4));
      const before = await assemble(place.engine, parent);
      const { key } = parent.conversation;
      const child = await place.child('count the boats');
      await place.engine.prepareChild({ parent: key, child: child.conversation.key, ttlMs: 1000 });
      await place.engine.bootstrap(child);
      const batch = { profile: profile(), snapshot: child, seqs: [1] };
      expect(await place.engine.ingestBatch(batch)).toEqual({ ingested: 1 });
      const end = { parent: key, child: child.conversation.key, conversationId: child.conversation.id };
      await place.engine.endChild({ ...end, reason: 'completed' });
      await place.engine.endChild({ ...end, reason: 'swept' });
      await place.engine.endChild({ ...end, child: makeChildKey(key, 'z'), conversationId: null, reason: 'swept' });
      expect(await place.engine.ingestBatch(batch)).toEqual({ ingested: 1 });
      expect(await assemble(place.engine, parent)).toEqual(before);
    });

    it('shows a child its own messages only', async () => {
      await using place = await open();
      await place.tell(talk(4, { text: 'the secret of the harbour' }));
      const child = await place.child('count the boats');
      const { messages } = await assemble(place.engine, child);
      expect(JSON.stringify(messages)).toContain('count the boats');
      expect(JSON.stringify(messages)).not.toContain('secret');
    });

    // Shows: O43
    it('lets go of everything at the end', async () => {
      await using place = await open();
      await place.engine.dispose();
    });
  });
}

/** The same view in a new conversation, to compare the store's result with the expected story. */
async function fresh(place: Place, story: Story): Promise<ContextSnapshot> {
  const known = await place.services.store.conversations.list({ order: 'active', limit: 10, after: null });
  for (const { id } of known) await place.services.store.conversations.change(id, { kind: 'purge' });
  const snapshot = await place.tell(story);
  const { replyDueSeq, replyDueFrom, answeredUpto, nextSeq } = story.conversation;
  expect(snapshot.conversation).toMatchObject({ replyDueSeq, answeredUpto, nextSeq });
  if (replyDueSeq > answeredUpto) expect(snapshot.conversation.replyDueFrom).toBe(replyDueFrom);
  return snapshot;
}

/** I2: the stack and the tail cover the conversation exactly. */
export function expectWhole({ conversation, stack, tail, omitted }: ContextSnapshot): void {
  let next = conversation.contextFrom;
  for (const { fromSeq, toSeq } of stack) {
    expect(fromSeq).toBe(next);
    next = toSeq + 1;
  }
  expect(conversation.compactedUpto).toBe(next - 1);
  expect(tail.map(({ seq }) => seq)).toEqual(tail.map((_, index) => next + omitted.entries + index));
  expect(next + omitted.entries + tail.length).toBe(conversation.nextSeq);
}

function round(callId: string, text: string): readonly ModelMessage[] {
  return [
    { role: 'assistant', text: '', calls: [{ callId, tool: 'look', input: {} }] },
    { role: 'tool', results: [{ callId, tool: 'look', text, isError: false }] },
  ];
}
