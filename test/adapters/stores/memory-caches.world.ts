import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect } from 'vitest';
import type {
  Audience,
  ConversationKey,
  MemoryId,
  MemoryReader,
  MemoryState,
  NewMemory,
  Storage,
} from '../../../src/adapter-kit.ts';
import { createKit, HERE, NOW, READER, THERE, THREAD, textParts } from '../../contracts/store-kit.ts';

/** Something that changes what may be read, in one of two processes. Numbers are taken modulo what exists. */
export interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly by: 0 | 1;
  readonly n: number;
  readonly m: number;
}

const KINDS = [
  ...(['insert', 'insert', 'corroborate', 'supersede', 'change', 'recalled', 'turn', 'turn', 'turn', 'say'] as const),
  ...(['forget', 'redact', 'edit', 'audience', 'purge', 'expire', 'reset', 'refused', 'raw'] as const),
];
const n = fc.nat(10_000);
export const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  by: fc.constantFrom(0, 1),
  n,
  m: n,
});

const KEYS: readonly ConversationKey[] = [HERE, THREAD, THERE];
const AUDIENCES: readonly Audience[] = ['public', 'private', 'dm'];
const WORDS = ['tea', 'jam', 'box', 'cup'];
/** What another program may do to the file. */
const RAW = [
  "update memory set audience = 'dm'",
  "update memory set place = 'terminal:local:other'",
  "update memory set scope = 'global' where rowid % 2 = 0",
  "update memory set agent_id = 'bob' where rowid % 2 = 0",
  'delete from memory_source where seq = 1',
  "update entry set author_id = 'u2' where seq = 1",
  "update conversation set present_audience = 'dm' where id % 2 = 0",
  'delete from memory_reading',
];

function pick<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}

/** Two processes on one file; `open` opens a third one, which remembers nothing. */
export function createCachesWorld(
  directory: string,
  processes: readonly [Storage, Storage],
  open: () => Promise<Storage>,
) {
  const kits = [createKit(processes[0]), createKit(processes[1])] as const;
  const ids: MemoryId[] = [];
  let made = 0;

  const conversationAt = async (number: number) =>
    (await kits[0].say('said', { conversation: pick(KEYS, number) }, { externalId: `x${++made}` })).conversation;
  const newMemory = ({ m }: Step, place: ConversationKey): NewMemory => {
    const id = `y${String(++made).padStart(4, '0')}` as MemoryId;
    ids.push(id);
    return kits[0].memory(`${pick(WORDS, m)} ${pick(WORDS, m >> 2)} ${made}`, {
      id,
      place,
      fingerprint: id,
      audience: pick(AUDIENCES, m >> 1),
      pinned: m % 5 === 0,
      state: m % 7 === 0 ? 'candidate' : 'active',
      scope: m % 11 === 0 ? 'global' : 'place',
      subjectId: m % 3 === 0 ? 'u1' : null,
    });
  };
  const someIds = (number: number) => [...new Set([pick(ids, number), pick(ids, number >> 3), pick(ids, number >> 5)])];

  const write = async (step: Step, kind: 'insert' | 'corroborate' | 'supersede') => {
    const { id, key, nextSeq } = await conversationAt(step.n);
    const sources = step.m % 4 === 0 ? [] : [...new Set([1, 1 + (step.m % (nextSeq - 1))])];
    const place = key === THREAD ? HERE : key;
    const kit = kits[step.by];
    if (kind === 'insert') return kit.save(id, { kind, memory: newMemory(step, place), sources });
    const known = pick(ids, step.m);
    if (kind === 'corroborate') return kit.save(id, { kind, id: known, sources, promote: step.m % 2 === 0 });
    return kit.save(id, { kind, id: known, memory: newMemory(step, place), sources });
  };
  const change = async ({ by, n: number, m }: Step) => {
    const event = { kind: 'edited', at: NOW, actor: 'u1', detail: null } as const;
    const state = pick(['active', 'rejected'] as const, m);
    const changed = pick([{ text: `jam ${made}` }, { state }, { pinned: m % 2 === 0 }, { importance: 0.9 }], m >> 1);
    await processes[by].store.memories.change(pick(ids, number), changed, event);
  };
  const forget = async ({ by, n: number, m }: Step) => {
    const { id } = await conversationAt(m);
    const redactions = m % 2 === 0 ? [{ conversationId: id, seqs: [1], summaryIds: [] }] : [];
    const plan = { memoryIds: someIds(number), tombstones: [], redactions, sentences: [], actor: 'u1', now: NOW };
    await processes[by].store.memories.forget(plan);
  };
  /** Some of it fails, so the group that shares the transaction is undone and repeated. */
  const refuse = async (step: Step) => {
    const { id, key } = await conversationAt(step.n);
    const memory = newMemory(step, key === THREAD ? HERE : key);
    const twice = { kind: 'insert', memory, sources: [1] } as const;
    const other = { ...twice, memory: { ...memory, fingerprint: 'another' } };
    const kit = kits[step.by];
    const commit = await turn(step);
    const [, , , outcome] = await Promise.all([
      change(step),
      commit(),
      look(processes[step.by]),
      kit.save(id, twice, other).catch(() => 'refused'),
    ]);
    expect(outcome).toBe('refused');
  };
  const turn = async ({ by, n: number, m }: Step) => {
    const conversation = pick(KEYS, number);
    const asked = { conversation, wantsReply: true, claimLeaseMs: 9 };
    const { claim, seq } = await kits[by].say('q', asked, { externalId: `x${++made}` });
    if (claim === null) throw new Error('no claim');
    const given = someIds(m);
    const { conversationId } = claim;
    const fresh = await open();
    const isReadable = await fresh.provenance.areReadable(conversationId, given);
    await fresh.store.close();
    return async () => {
      const { kind } = await kits[by].commitTurn(claim, { given, readUpto: seq });
      expect(kind).toBe(isReadable ? 'committed' : 'stale');
      if (kind === 'committed') await expectNoted(conversationId, given);
    };
  };
  const expectNoted = async (conversationId: number, given: readonly MemoryId[]) => {
    const { provenance, store } = processes[0];
    const readIn = (await provenance.readings(given)).filter((reading) => reading.conversationId === conversationId);
    for (const id of given) {
      const saidIn = (await store.memories.find(id))?.sources.map((source) => source.conversationId);
      expect(saidIn?.includes(conversationId) || readIn.some(({ memoryId }) => memoryId === id)).toBe(true);
    }
  };
  const raw = ({ n: number }: Step) => {
    const other = new Database(join(directory, 'strata.db'));
    other.pragma('foreign_keys = on');
    other.exec(pick(RAW, number));
    other.close();
  };

  const act = async (step: Step): Promise<unknown> => {
    const { kind, by, n: number, m } = step;
    const { store } = processes[by];
    switch (kind) {
      case 'insert':
      case 'corroborate':
      case 'supersede':
        return write(step, kind);
      case 'change':
        return change(step);
      case 'forget':
        return forget(step);
      case 'refused':
        return refuse(step);
      case 'turn':
        return (await turn(step))();
      case 'raw':
        return raw(step);
      case 'say':
        return kits[by].say('said', { conversation: pick(KEYS, number), audience: pick(AUDIENCES, m) });
      default:
    }
    const { id } = await conversationAt(number);
    switch (kind) {
      case 'recalled':
        return store.memories.recalled(someIds(m), { conversationId: id, now: NOW + made });
      case 'redact':
        return store.transcript.redact(id, { externalIds: [`x${m % (made + 1)}`], now: NOW });
      case 'edit':
        return store.transcript.edit(id, {
          externalId: `x${m % (made + 1)}`,
          parts: textParts('edited'),
          tokens: 1,
          now: NOW,
        });
      case 'audience':
        return store.conversations.change(id, { kind, audience: pick(AUDIENCES, m), now: NOW });
      case 'purge':
        return store.conversations.change(id, { kind });
      case 'reset':
        return store.conversations.change(id, { kind, now: NOW });
      case 'expire':
        return store.conversations.change(id, { kind, before: NOW + 1, now: NOW + 1 });
      default:
        return kind satisfies never;
    }
  };

  /** Everything that the caches may answer. */
  const look = async ({ store, search, provenance }: Storage, states: readonly MemoryState[] = ['active']) => {
    const here = AUDIENCES.flatMap((audience) => [HERE, THERE].map((place) => ({ ...READER, place, audience })));
    const others = [{}, { agentId: 'bob' }, { workspace: 'terminal:foreign' }];
    const readers: readonly MemoryReader[] = [
      ...here.flatMap((reader) => [true, false].map((sharePublic) => ({ ...reader, sharePublic }))),
      ...others.map((over) => ({ ...READER, sharePublic: true, ...over })),
    ];
    const recall = { ids: ids.slice(-2), subjectId: 'u1', kinds: ['fact'] } as const;
    const of = { states, offset: 0 };
    const asked = readers.flatMap((reader) => [
      store.memories.list({ reader, ...of, limit: 200 }),
      store.memories.list({ reader, ...of, limit: 2, offset: 1, recall }),
      search.memories({ reader, ...of, text: 'tea jam', limit: 200 }),
    ]);
    const conversations = await Promise.all(KEYS.map((key) => store.conversations.find(key)));
    const checks = conversations.flatMap((conversation) =>
      conversation === null ? [] : ids.map((id) => provenance.areReadable(conversation.id, [id])),
    );
    return [await Promise.all(asked), await Promise.all(checks)];
  };

  return {
    async begin() {
      for (const [index] of KEYS.entries()) await conversationAt(index);
      for (const m of [1, 2, 4]) await write({ kind: 'insert', by: 0, n: m, m }, 'insert');
    },
    /** Between reads that may share its transaction. */
    act: (step: Step) => Promise.all([look(processes[0]), act(step), look(processes[0])]),
    async check() {
      const fresh = await open();
      // Nothing is kept of memories in two states.
      const expected = await look(fresh, ['active', 'active']);
      await fresh.store.close();
      for (const storage of processes) expect(await look(storage)).toEqual(expected);
    },
  };
}
