import { expect } from 'vitest';
import {
  type Append,
  type AppendResult,
  type Claim,
  type CommitResult,
  type CompactionCommit,
  type CondensationCommit,
  type Conversation,
  type ConversationKey,
  type MemoryId,
  type MemoryReader,
  type MemoryWrite,
  makeKey,
  type NewMemory,
  type NewSummary,
  type Part,
  type PostBody,
  type Storage,
  type Store,
  type SummaryId,
  type TurnCommit,
  type UsageRow,
  workspaceOf,
} from '../../src/adapter-kit.ts';

/** Helpers for tests of a store. Ids are numbered, and the time is fixed unless a test sets it. */
export function createKit(storage: Storage) {
  const { store } = storage;
  let made = 0;
  const next = (prefix: string) => `${prefix}${String(++made).padStart(8, '0')}`;

  const append = (over: Partial<Omit<Append, 'message'>> & { message?: Partial<Append['message']> } = {}) =>
    store.transcript.append({
      conversation: HERE,
      audience: 'public',
      wantsReply: false,
      claimLeaseMs: null,
      idleExtractMs: 60_000,
      now: NOW,
      ...over,
      message: { ...message(next('m')), ...over.message },
    });
  const say = async (
    text: string,
    over: Partial<Omit<Append, 'message'>> = {},
    message: Partial<Append['message']> = {},
  ) => stored(await append({ ...over, message: { parts: textParts(text), ...message } }));
  /** A message that is owed a reply. */
  const ask = async () => (await say(`question ${next('t')}`, { wantsReply: true })).conversation;
  const fill = async (count: number, key = HERE) => {
    let conversation: Conversation | null = null;
    for (let i = 0; i < count; i++) ({ conversation } = await say(`message ${next('t')}`, { conversation: key }));
    if (conversation === null) throw new Error('nothing was appended');
    return conversation;
  };
  const tryClaim = (work: 'reply' | 'maintenance', conversationId: number, now = NOW) =>
    store.conversations.claim({ work, conversationId, now, leaseMs: 1_000 });
  const claim = async (work: 'reply' | 'maintenance', conversationId: number, now = NOW) => {
    const claimed = await tryClaim(work, conversationId, now);
    if (claimed === null) throw new Error('the claim was refused');
    return claimed.claim;
  };
  const summary = (fromSeq: number, toSeq: number, over: Partial<NewSummary> = {}): NewSummary => ({
    id: next('s') as SummaryId,
    level: 0,
    fromSeq,
    toSeq,
    text: `summary of ${fromSeq} to ${toSeq}`,
    tokens: 5,
    model: 'offline:demo',
    promptHash: 'abc',
    createdAt: NOW,
    ...over,
  });
  const compact = (held: Claim, made: NewSummary, over: Partial<CompactionCommit> = {}): Promise<CommitResult> =>
    store.summaries.commitCompaction({
      conversationId: held.conversationId,
      epoch: held.epoch,
      summary: made,
      memories: [],
      extracted: null,
      now: NOW,
      ...over,
    });
  const condense = (
    held: Claim,
    made: NewSummary,
    childIds: readonly SummaryId[],
    over: Partial<CondensationCommit> = {},
  ) =>
    store.summaries.commitCondensation({
      conversationId: held.conversationId,
      epoch: held.epoch,
      summary: made,
      childIds,
      now: NOW,
      ...over,
    });
  const openGap = (conversation: Conversation, toSeq: number, expected = conversation.compactedUpto) =>
    store.summaries.openGap({
      id: next('g') as SummaryId,
      conversationId: conversation.id,
      expectedCompactedUpto: expected,
      toSeq,
      now: NOW,
    });
  const commitTurn = (held: Claim, over: Partial<TurnCommit> = {}) =>
    store.transcript.commitTurn({
      claim: held,
      readUpto: 1,
      entries: [{ role: 'assistant', parts: textParts('an answer'), tokens: 2, at: NOW }],
      posts: [],
      usage: [],
      calibration: null,
      maintainAt: NOW + 60_000,
      now: NOW,
      ...over,
    });
  const memory = (text: string, over: Partial<NewMemory> = {}): NewMemory => ({
    id: next('y') as MemoryId,
    agentId: 'ada',
    kind: 'fact',
    text,
    importance: 0.5,
    confidence: 0.9,
    scope: 'place',
    place: HERE,
    workspace: workspaceOf(HERE),
    audience: 'public',
    subjectId: null,
    subjectName: null,
    trust: 'self',
    state: 'active',
    pinned: false,
    validFrom: NOW,
    validUntil: null,
    fingerprint: `print of ${text}`,
    extractedBy: { model: 'offline:demo', promptHash: 'abc' },
    ...over,
  });
  const inserting = (text: string, sources: readonly number[], over: Partial<NewMemory> = {}): MemoryWrite => ({
    kind: 'insert',
    memory: memory(text, over),
    sources,
  });
  const save = (conversationId: number | null, ...writes: readonly MemoryWrite[]) =>
    store.memories.save({ conversationId, writes, actor: 'model', now: NOW });
  const recallable = async (over: Partial<MemoryReader> = {}) =>
    (await store.memories.list({ reader: { ...READER, ...over }, limit: 100, offset: 0 })).map((item) => item.text);
  const get = async (id: number) => {
    const conversation = await store.conversations.get(id);
    if (conversation === null) throw new Error(`there is no conversation ${id}`);
    return conversation;
  };
  /** The stack as it can be read: kind, level, range, `!` for stale. */
  const stack = async (id: number) =>
    (await store.summaries.live(id)).map(
      (item) =>
        `${item.kind === 'gap' ? 'gap' : `L${item.level}`} ${item.fromSeq}-${item.toSeq}${item.stale ? '!' : ''}`,
    );
  /** Tables with a row that names one of the conversations by its number. */
  const tablesNaming = async (ids: readonly number[]) => {
    const found = new Set<string>();
    const isOne = (value: unknown) => ids.some((id) => value === id || value === String(id));
    await storage.upkeep.dump({
      begin: async () => undefined,
      async rows(table, rows) {
        const column = { conversation: 'id', state: 'key' }[table] ?? 'conversation_id';
        if (rows.some((row) => isOne(row[column]))) found.add(table);
      },
    });
    return [...found].toSorted();
  };
  return {
    append,
    say,
    ask,
    fill,
    claim,
    tryClaim,
    summary,
    compact,
    condense,
    openGap,
    commitTurn,
    memory,
    inserting,
    save,
    recallable,
    get,
    stack,
    tablesNaming,
    next,
  };
}
export type Kit = ReturnType<typeof createKit>;

/** Gives a part of the contract the empty store of the running test. */
export type Lab = () => { readonly storage: Storage; readonly store: Store; readonly kit: Kit };

export const NOW = 1_700_000_000_000;
/** One model call as it is recorded. */
export const CALL: UsageRow = {
  purpose: 'reply',
  model: 'm',
  agentId: 'ada',
  person: 'discord:1',
  costUsd: 0.25,
  at: NOW,
  inputTokens: 10,
  outputTokens: 2,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  reasoningTokens: 1,
};
export const HERE: ConversationKey = makeKey({ platform: 'terminal', workspace: 'local', channel: 'main' });
export const THREAD: ConversationKey = makeKey({
  platform: 'terminal',
  workspace: 'local',
  channel: 'main',
  thread: 't',
});
export const THERE: ConversationKey = makeKey({ platform: 'terminal', workspace: 'local', channel: 'other' });
export const ABROAD: ConversationKey = makeKey({ platform: 'terminal', workspace: 'foreign', channel: 'main' });
export const READER: MemoryReader = {
  agentId: 'ada',
  place: HERE,
  workspace: workspaceOf(HERE),
  audience: 'public',
  sharePublic: false,
};

export function textParts(text: string): readonly Part[] {
  return [{ kind: 'text', text }];
}

export function post(text: string, chunk = 0): { nonce: string; chunk: number; body: PostBody; replyTo: null } {
  return { nonce: `nonce ${text} ${chunk}`, chunk, body: { kind: 'text', text }, replyTo: null };
}

export function stored(result: AppendResult): Extract<AppendResult, { kind: 'stored' }> {
  if (result.kind !== 'stored') throw new Error('expected a new message, it was a redelivery');
  return result;
}

function message(externalId: string): Append['message'] {
  return {
    externalId,
    role: 'user',
    author: { id: 'u1', name: 'Ada', kind: 'person' },
    parts: textParts('hello'),
    replyTo: null,
    mentions: [],
    tokens: 3,
    at: NOW,
  };
}

/** Four parts, condensed twice: a level 2 over all of them. The message `x3` is in the second part. */
export async function condensed(kit: Kit) {
  const { id } = await kit.fill(2);
  await kit.say('secret', {}, { externalId: 'x3' });
  await kit.fill(7);
  const held = await kit.claim('maintenance', id);
  const parts = [kit.summary(1, 2), kit.summary(3, 4), kit.summary(5, 6), kit.summary(7, 8)];
  for (const part of parts) await kit.compact(held, part);
  const [a, b, c, d] = parts.map((part) => part.id);
  if (!a || !b || !c || !d) throw new Error('four');
  const left = kit.summary(1, 4, { level: 1 });
  const right = kit.summary(5, 8, { level: 1 });
  await kit.condense(held, left, [a, b]);
  await kit.condense(held, right, [c, d]);
  const upper = kit.summary(1, 8, { level: 2 });
  expect(await kit.condense(held, upper, [left.id, right.id])).toBe('committed');
  expect(await kit.stack(id)).toEqual(['L2 1-8']);
  return { id, held, parts: [a, b, c, d], upper: upper.id };
}
