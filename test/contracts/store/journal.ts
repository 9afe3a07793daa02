import { beforeEach, describe, expect, it } from 'vitest';
import type {
  CacheLoss,
  JsonValue,
  MaintenanceRun,
  SpendingKey,
  SpendingQuery,
  Spent,
  Storage,
  Store,
} from '../../../src/adapter-kit.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import { CALL, HERE, type Kit, type Lab, NOW, THERE, textParts } from '../store-kit.ts';

const ONCE: Spent = {
  calls: 1,
  inputTokens: 10,
  outputTokens: 2,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  reasoningTokens: 1,
  costUsd: 0.25,
  unpricedCalls: 0,
};

function twice(spent: Spent): Spent {
  const doubled = (field: keyof Spent) => 2 * spent[field];
  return {
    calls: doubled('calls'),
    inputTokens: doubled('inputTokens'),
    outputTokens: doubled('outputTokens'),
    cacheReadTokens: doubled('cacheReadTokens'),
    cacheWriteTokens: doubled('cacheWriteTokens'),
    reasoningTokens: doubled('reasoningTokens'),
    costUsd: doubled('costUsd'),
    unpricedCalls: doubled('unpricedCalls'),
  };
}

export function journalContract(lab: Lab): void {
  describe('journal and state', () => {
    let storage: Storage;
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ storage, store, kit } = lab());
    });

    // Shows: A24
    it('sums usage by purpose and model', async () => {
      const { id } = await kit.fill(1);
      await store.journal.addUsage(id, [CALL, { ...CALL, at: NOW + DAY_MS }, { ...CALL, model: 'n', costUsd: null }]);
      await store.journal.addUsage(id, [{ ...CALL, purpose: 'compact', person: null }]);
      expect(await store.journal.usage(id)).toEqual([
        { ...ONCE, purpose: 'compact', model: 'm' },
        { ...twice(ONCE), purpose: 'reply', model: 'm' },
        { ...ONCE, purpose: 'reply', model: 'n', costUsd: 0, unpricedCalls: 1 },
      ]);
    });

    it('sums costs by every key', async () => {
      const { id } = await kit.fill(1);
      const there = await kit.fill(1, THERE);
      const dear = {
        ...CALL,
        agentId: 'bo',
        person: 'discord:2',
        purpose: 'condense',
        model: 'n',
        costUsd: 2,
      } as const;
      await store.journal.addUsage(id, [CALL, CALL]);
      await store.journal.addUsage(there.id, [{ ...dear, at: NOW + DAY_MS }]);
      const by = (key: SpendingKey, over: Partial<SpendingQuery> = {}) =>
        store.journal.spending({ by: key, since: null, conversationId: null, limit: 9, ...over });
      const [cheap, costly] = [twice(ONCE), { ...ONCE, costUsd: 2 }];
      expect(await by('day')).toEqual([
        { key: '2023-11-15', ...costly },
        { key: '2023-11-14', ...cheap },
      ]);
      const names = { agent: ['bo', 'ada'], conversation: [THERE, HERE], person: ['discord:2', 'discord:1'] };
      for (const [key, [first, second]] of Object.entries({
        ...names,
        purpose: ['condense', 'reply'],
        model: ['n', 'm'],
      }))
        expect(await by(key as SpendingKey)).toEqual([
          { key: first, ...costly },
          { key: second, ...cheap },
        ]);
      expect(await by('model', { limit: 1 })).toEqual([{ key: 'n', ...costly }]);
      expect(await by('model', { since: NOW + DAY_MS })).toEqual([{ key: 'n', ...costly }]);
      expect(await by('person', { conversationId: id })).toEqual([{ key: 'discord:1', ...cheap }]);
    });

    it('keeps sums without the people who were forgotten', async () => {
      const { id } = await kit.fill(1);
      const there = await kit.fill(1, THERE);
      const people = ['discord:1', 'discord:2', null];
      for (const conversationId of [id, there.id])
        await store.journal.addUsage(
          conversationId,
          people.map((person) => ({ ...CALL, person })),
        );
      const plan = { memoryIds: [], tombstones: [], redactions: [], sentences: [], actor: 'u', now: NOW };
      const persons = { by: 'person', since: null, conversationId: null, limit: 9 } as const;
      const asker = { person: 'discord:1', within: 'terminal:another' };
      await store.memories.forget({ ...plan, asker });
      expect(await store.journal.spending(persons)).toHaveLength(3);
      await store.memories.forget({ ...plan, asker: { ...asker, within: 'terminal:local' } });
      const spent = await store.journal.spending(persons);
      expect(spent.map(({ key, calls }) => [key, calls])).toEqual([
        [null, 4],
        ['discord:2', 2],
      ]);
      const asked = await store.journal.usage(id);
      expect(asked).toEqual([
        {
          ...twice(ONCE),
          calls: 3,
          costUsd: 0.75,
          inputTokens: 30,
          outputTokens: 6,
          cacheReadTokens: 9,
          cacheWriteTokens: 12,
          reasoningTokens: 3,
          purpose: 'reply',
          model: 'm',
        },
      ]);
    });

    it('keeps who asked no longer than messages', async () => {
      const { id } = await kit.fill(1);
      await store.journal.addUsage(id, [CALL, { ...CALL, at: NOW + DAY_MS }]);
      await store.conversations.change(id, { kind: 'expire', before: NOW + DAY_MS, now: NOW + DAY_MS });
      const spent = await store.journal.spending({ by: 'person', since: null, conversationId: id, limit: 9 });
      expect(spent.map(({ key, calls }) => [key, calls])).toEqual([
        [null, 1],
        ['discord:1', 1],
      ]);
    });

    it('sums losses of the prefix cache by cause', async () => {
      const { id } = await kit.fill(1);
      const there = await kit.fill(1, THERE);
      const { cache } = store.journal;
      const note = (of: number, at: number, losses: readonly CacheLoss[]) =>
        cache.note(of, { print: '{}', losses, at, revision: 0 });
      const both: readonly CacheLoss[] = [
        { cause: 'edit', tokens: 5 },
        { cause: 'compaction', tokens: 40 },
      ];
      await note(id, NOW, both);
      await note(id, NOW, []);
      await note(id, NOW + DAY_MS, [{ cause: 'compaction', tokens: 2 }]);
      await note(there.id, NOW, [{ cause: 'edit', tokens: 100 }]);
      const losses = (since: number | null, conversationId: number | null) => cache.losses({ since, conversationId });
      expect(await losses(null, id)).toEqual([
        { cause: 'compaction', losses: 2, tokens: 42 },
        { cause: 'edit', losses: 1, tokens: 5 },
      ]);
      expect(await losses(NOW + DAY_MS, id)).toEqual([{ cause: 'compaction', losses: 1, tokens: 2 }]);
      expect((await losses(null, null)).map(({ tokens }) => tokens)).toEqual([105, 42]);
    });

    it('keeps the newest print of a conversation', async () => {
      const { id } = await kit.fill(1);
      const { cache } = store.journal;
      expect(await cache.lastRequest(id)).toBeNull();
      for (const print of ['a print', 'a newer print'])
        await cache.note(id, { print, losses: [], at: NOW, revision: 0 });
      expect(await cache.lastRequest(id)).toBe('a newer print');
    });

    it('leaves out what is added after the deletion', async () => {
      const { id } = await kit.fill(1);
      await store.conversations.change(id, { kind: 'purge' });
      await store.journal.addUsage(id, [CALL]);
      for (const error of [null, 'HTTP 500']) await store.journal.addRun({ ...run(id, 1), error }, 0);
      expect(await store.journal.usage(id)).toEqual([]);
      expect(await store.journal.runs(id, 9)).toEqual([]);
    });

    // Shows: Q25
    it('keeps the newest 100 runs of a conversation', async () => {
      const { id } = await kit.fill(1);
      const there = await kit.fill(1, THERE);
      for (let n = 0; n < 105; n++) await store.journal.addRun(run(id, n), 0);
      await store.journal.addRun(run(there.id, 500), 0);
      expect(await store.journal.runs(id, 2)).toEqual([run(id, 104), run(id, 103)]);
      expect(await store.journal.runs(id, 1_000)).toHaveLength(100);
      expect(await store.journal.runs(there.id, 9)).toHaveLength(1);
    });

    it('keeps small facts by namespace', async () => {
      const { state } = storage;
      await state.set('a', 'k', { n: [1, null, 'x'] });
      await state.set('a', 'j', false);
      await state.set('b', 'k', 'other');
      await state.set('a', 'k', { n: 2 });
      expect(await state.get('a', 'k')).toEqual({ n: 2 });
      expect(await state.get('c', 'k')).toBeUndefined();
      expect(await state.list('a')).toEqual([
        { key: 'j', value: false },
        { key: 'k', value: { n: 2 } },
      ]);
      await state.delete('a', 'k');
      expect(await state.get('a', 'k')).toBeUndefined();
      expect(await state.get('b', 'k')).toBe('other');
    });

    it('swaps a fact that nobody has changed', async () => {
      const { state } = storage;
      const swap = (from: JsonValue | undefined, to: JsonValue | undefined) => state.swap('a', 'k', { from, to });
      const isSwapped = await Promise.all([1, 2, 3].map((value) => swap(undefined, value)));
      expect(isSwapped.filter(Boolean)).toHaveLength(1);
      const winner = isSwapped.indexOf(true) + 1;
      expect(await state.get('a', 'k')).toBe(winner);
      expect(await swap(4, { n: 1 })).toBe(false);
      expect(await swap(winner, { n: [1, 'x'] })).toBe(true);
      expect(await swap({ n: [1, 'y'] }, 3)).toBe(false);
      expect(await swap(await state.get('a', 'k'), undefined)).toBe(true);
      expect(await state.list('a')).toEqual([]);
      expect(await swap({ n: 1 }, undefined)).toBe(false);
      expect(await swap(undefined, undefined)).toBe(true);
    });

    it('swaps a fact of a conversation', async () => {
      const { id, revision } = await kit.fill(2);
      await kit.say('before', {}, { externalId: 'e' });
      const own = storage.state.of(id);
      const results = await Promise.all([1, 2, 3].map((n) => own.swap('wish', { from: undefined, to: { n } })));
      expect(results.filter(Boolean)).toHaveLength(1);
      const from = await own.get('wish');
      expect(from).toEqual({ n: results.indexOf(true) + 1 });
      expect(await own.swap('wish', { from: { n: 9 }, to: 4 })).toBe(false);
      expect(await own.swap('wish', { from, to: 4 }, { quotes: revision })).toBe(true);
      await store.transcript.edit(id, { externalId: 'e', parts: textParts('after'), tokens: 1, now: NOW });
      expect(await own.get('wish')).toBeUndefined();
      expect(await own.swap('wish', { from: undefined, to: 5 }, { quotes: revision })).toBe(false);
      expect(await own.swap('wish', { from: undefined, to: 5 })).toBe(true);
      expect(await own.swap('wish', { from: 5, to: undefined })).toBe(true);
      expect(await own.get('wish')).toBeUndefined();
      expect(await storage.state.of(id + 999).swap('wish', { from: undefined, to: 1 })).toBe(false);
    });

    it('keeps facts of a conversation apart', async () => {
      const [here, there] = [await kit.fill(1), await kit.fill(1, THERE)].map(({ id }) => storage.state.of(id));
      await here?.set('spend', { calls: 1 });
      await here?.set('spend', { calls: 2 });
      await there?.set('spend', 'other');
      expect(await here?.get('spend')).toEqual({ calls: 2 });
      expect(await here?.get('failure')).toBeUndefined();
      await here?.delete('spend');
      expect([await here?.get('spend'), await there?.get('spend')]).toEqual([undefined, 'other']);
    });
  });
}

function run(conversationId: number, n: number): MaintenanceRun {
  return {
    id: `run ${conversationId} ${String(n).padStart(4, '0')}`,
    conversationId,
    work: 'compact',
    trigger: 'background',
    fromSeq: 1,
    toSeq: 2,
    outcome: 'committed',
    error: null,
    tokensBefore: 10,
    tokensAfter: 5,
    memories: 1,
    model: 'm',
    inputTokens: 3,
    outputTokens: 4,
    startedAt: NOW + n,
    durationMs: 5,
  };
}
