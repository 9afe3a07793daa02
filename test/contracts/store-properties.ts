import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim, CommitResult, NewSummary, Storage, SummaryId } from '../../src/adapter-kit.ts';
import { SIZED, sized, sizedLimitMs } from '../support/size.ts';
import { createKit, HERE, type Kit, NOW, READER, textParts } from './store-kit.ts';

interface Made {
  readonly storage: Storage;
  dispose(): Promise<void>;
}

/** One action on a conversation. Numbers are taken modulo what exists. */
type Step =
  | { readonly kind: 'append' | 'redeliver' | 'turn' | 'gap' | 'edit' | 'redact' | 'expire'; readonly n: number }
  | { readonly kind: 'reset' | 'claim' | 'repeat' }
  | { readonly kind: 'compact'; readonly start: number; readonly length: number; readonly extract: boolean }
  | { readonly kind: 'condense'; readonly start: number; readonly length: number };

const n = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), n }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('redeliver' as const), n }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn' as const), n }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('gap' as const), n }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('edit' as const), n }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('redact' as const), n }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), n: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reset' as const, 'claim' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('compact' as const),
      start: n,
      length: fc.nat(6),
      extract: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('condense' as const), start: n, length: fc.nat(3) }) },
);

const LONG = { ...SIZED, timeout: sizedLimitMs(400_000) };

/** I1, I2 and I4 over random histories: what a store must guarantee in any order of actions. */
export function storeProperties(create: () => Promise<Made>): void {
  describe('properties', () => {
    // Shows: I4, S29
    it('keeps the stack whole and late results without effect', LONG, async () => {
      const histories = fc.array(step, { minLength: 5, maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(histories, async (steps) => {
          const made = await create();
          try {
            await live(createWorld(made.storage), steps);
          } finally {
            await made.dispose();
          }
        }),
        { numRuns: sized({ small: 12, full: 24 }) },
      );
    });

    it('keeps the stack whole when everything happens at once', LONG, async () => {
      const histories = fc.array(step, { minLength: 5, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(histories, async (steps) => {
          const made = await create();
          try {
            const world = createWorld(made.storage);
            await world.begin();
            await Promise.all(steps.map((one) => world.act(one)));
            await world.check();
          } finally {
            await made.dispose();
          }
        }),
        { numRuns: sized({ small: 10, full: 16 }) },
      );
    });
  });
}

async function live(world: World, steps: readonly Step[]): Promise<void> {
  await world.begin();
  for (const one of steps) {
    const before = await world.dump();
    const result = await world.act(one);
    await world.check();
    const after = await world.dump();
    if (result === 'stale') expect(after).toEqual(before);
    if (one.kind === 'compact' && result === 'committed')
      expect(after.memories).toHaveLength(before.memories.length + 1);
  }
}

type World = ReturnType<typeof createWorld>;

function createWorld(storage: Storage) {
  const { store } = storage;
  const kit = createKit(storage);
  const sent: string[] = [];
  let id = 0;
  let held: Claim;
  let facts = 0;
  let repeat: (() => Promise<CommitResult>) | null = null;

  const begin = async () => {
    sent.push('x0');
    ({ id } = (await kit.say('first', {}, { externalId: 'x0' })).conversation);
    held = await kit.claim('maintenance', id);
  };
  const act = async (one: Step): Promise<CommitResult | 'done'> => {
    switch (one.kind) {
      case 'append':
        sent.push(`x${sent.length}`);
        await kit.append({
          wantsReply: one.n % 2 === 0,
          message: { externalId: sent.at(-1) ?? null, at: NOW + sent.length },
        });
        return 'done';
      case 'redeliver': {
        const again = await kit.append({ message: { externalId: sent[one.n % sent.length] ?? null } });
        expect(again.kind).toBe('duplicate');
        return 'done';
      }
      case 'turn':
        await reply(kit, id, one.n);
        return 'done';
      case 'gap': {
        const conversation = await kit.get(id);
        return kit.openGap(conversation, conversation.compactedUpto + (one.n % 5));
      }
      case 'edit':
        await store.transcript.edit(id, {
          externalId: `x${one.n % sent.length}`,
          parts: textParts(`edit ${one.n}`),
          tokens: 1,
          now: NOW,
        });
        return 'done';
      case 'redact':
        await store.transcript.redact(id, { externalIds: [`x${one.n % sent.length}`], now: NOW });
        return 'done';
      case 'expire':
        await store.conversations.change(id, { kind: 'expire', before: NOW + one.n, now: NOW });
        return 'done';
      case 'reset':
        await store.conversations.change(id, { kind: 'reset', now: NOW });
        return 'done';
      case 'claim':
        held =
          (await store.conversations.claim({ work: 'maintenance', conversationId: id, now: NOW + 5_000, leaseMs: 1 }))
            ?.claim ?? held;
        return 'done';
      case 'repeat':
        return repeat === null ? 'done' : repeat();
      case 'compact':
        return compact(one);
      case 'condense':
        return condense(one);
      default:
        return one satisfies never;
    }
  };
  const compact = async (one: Extract<Step, { kind: 'compact' }>) => {
    const { compactedUpto, extractedUpto, revision } = await kit.get(id);
    const starts = [
      ...(await store.summaries.live(id)).map((item) => item.fromSeq),
      compactedUpto + 1,
      compactedUpto + 1,
    ];
    const fromSeq = starts[one.start % starts.length] ?? 1;
    const summary = kit.summary(fromSeq, fromSeq + one.length);
    const extracted = one.extract ? { from: extractedUpto, upto: summary.toSeq } : null;
    const memories = [kit.inserting(`fact ${++facts}`, [fromSeq])];
    const commit = (made: NewSummary) => kit.compact(held, made, { extracted, memories, seenRevision: revision });
    const result = await commit(summary);
    if (result === 'committed') {
      repeat = () => commit({ ...summary, id: kit.next('r') as SummaryId });
    }
    return result;
  };
  const condense = async (one: Extract<Step, { kind: 'condense' }>) => {
    const stack = await store.summaries.live(id);
    if (stack.length === 0) return 'done';
    const parts = stack.slice(one.start % stack.length).slice(0, one.length + 1);
    const level = Math.max(...parts.map((part) => part.level)) + 1;
    const summary = kit.summary(parts[0]?.fromSeq ?? 1, parts.at(-1)?.toSeq ?? 1, { level });
    return kit.condense(
      held,
      summary,
      parts.map((part) => part.id),
    );
  };
  const check = async () => {
    const snapshot = await store.transcript.context(id, { maxEntries: 10_000 });
    if (snapshot === null) throw new Error('the conversation is gone');
    const { contextFrom, compactedUpto, nextSeq } = snapshot.conversation;
    let next = contextFrom;
    for (const item of snapshot.stack) {
      expect(item.fromSeq).toBe(next);
      expect(item.toSeq).toBeGreaterThanOrEqual(item.fromSeq);
      next = item.toSeq + 1;
    }
    expect(next).toBe(compactedUpto + 1);
    expect(snapshot.tail.map((entry) => entry.seq)).toEqual(range(compactedUpto + 1, nextSeq - 1));
    const everything = await store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 10_000 });
    expect(everything.map((entry) => entry.seq)).toEqual(range(1, nextSeq - 1));
    const externalIds = everything.flatMap((entry) => entry.externalId ?? []);
    expect(externalIds.toSorted()).toEqual(sent.toSorted());
  };
  const dump = async () => ({
    snapshot: await store.transcript.context(id, { maxEntries: 10_000 }),
    memories: await store.memories.list({ reader: { ...READER, place: HERE }, limit: 1_000, offset: 0 }),
  });
  return { begin, act, check, dump };
}

async function reply(kit: Kit, conversationId: number, n: number): Promise<void> {
  const claimed = await kit.tryClaim('reply', conversationId);
  if (claimed === null) return;
  const answer = { role: 'assistant', parts: textParts('yes'), tokens: 1, at: NOW } as const;
  const entries = Array.from({ length: (n % 3) + 1 }, () => answer);
  await kit.commitTurn(claimed.claim, { readUpto: claimed.conversation.nextSeq - 1, entries });
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
