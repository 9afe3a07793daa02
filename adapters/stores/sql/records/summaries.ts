import {
  type CommitResult,
  type CompactionCommit,
  type CompactionPlan,
  type CondensationCommit,
  canCondense,
  canRecondense,
  type ExtractionCommit,
  type GapOpening,
  type NewSummary,
  placeReady,
  planCompactionCommit,
  type ReadyStack,
  type SummaryId,
  type SummaryStore,
} from '../../../../src/adapter-kit.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction, together } from '../query/engine.ts';
import { writeJson } from '../query/json.ts';
import { dueAt, holdsMaintenance } from '../rows/conversation-rows.ts';
import { toConversation, toSummary } from '../rows/domain-objects.ts';
import { applyWrites } from '../rows/memory-writes.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, SummaryRow } from '../schema/tables.ts';

export function createSummaries(shared: Shared): SummaryStore {
  const { engine, conversations, summaries } = shared;
  const changedSince = prepareChangedSince(engine);
  return {
    live: (conversationId) =>
      engine.read(async (tx) => {
        const row = await conversations.get(tx, conversationId);
        return row === null ? [] : (await summaries.live(tx, row)).map(toSummary);
      }),
    find: (id) =>
      engine.read(async (tx) => {
        const row = await summaries.find(tx, id);
        return row === null ? null : toSummary(row);
      }),
    children: (id) =>
      engine.read(async (tx) => {
        const parent = await latestVersion(shared, tx, id);
        return parent === null || parent.level === 0 ? [] : (await summaries.children(tx, parent)).map(toSummary);
      }),
    async commitCompaction(commit) {
      const result = await engine.write((tx) => commitCompaction({ shared, changedSince, tx }, commit));
      if (result !== 'erased') return result;
      void shared.soon.run();
      return 'committed';
    },
    commitCondensation: (commit) => engine.write((tx) => commitCondensation({ shared, changedSince, tx }, commit)),
    commitExtraction: (commit) => engine.write((tx) => commitExtraction({ shared, changedSince, tx }, commit)),
    publish: (conversationId) => engine.write((tx) => publish({ shared, changedSince, tx }, conversationId)),
    openGap: (gap) => engine.write((tx) => openGap({ shared, changedSince, tx }, gap)),
  };
}

/** The summary itself, or the one of its level that was written in its place and has its sources. */
async function latestVersion({ summaries }: Shared, tx: Transaction, id: SummaryId): Promise<SummaryRow | null> {
  const row = await summaries.find(tx, id);
  if (row === null || row.superseded_by === null) return row;
  const next = await summaries.find(tx, row.superseded_by);
  return next?.level === row.level ? next : row;
}

/** One transaction of a commit. */
interface Work {
  readonly shared: Shared;
  readonly changedSince: ReturnType<typeof prepareChangedSince>;
  readonly tx: Transaction;
}

/** `erased`: committed, and the text of a stale summary was deleted. */
async function commitCompaction(work: Work, commit: CompactionCommit): Promise<CommitResult | 'erased'> {
  const { shared, tx } = work;
  const row = await lockForJob(work, commit);
  if (row === null || !extractionHolds(row, commit.extracted)) return 'stale';
  const base = await readyStack(work, row);
  const state = { ...toConversation(row), compactedUpto: base.compactedUpto };
  const plan = planCompactionCommit(state, base.stack, { ...commit.summary, rewrites: commit.rewrites ?? null });
  // The job has also read the summaries before its range, and its text may repeat them.
  const read = { fromSeq: 1, toSeq: commit.summary.toSeq, seen: commit.seenRevision };
  if (plan.kind === 'stale' || (await wasChanged(work, row, read))) return 'stale';
  const isReady = commit.ready === true;
  if (isReady && plan.kind !== 'append') return 'stale';
  if (isReady) await shared.ready.insert(tx, row.id, commit.summary);
  const isErased = !isReady && (await extendStack(work, { row, base, plan, summary: commit.summary }));
  await applyWrites(shared, tx, { conversationId: row.id, writes: commit.memories, actor: 'model', now: commit.now });
  await shared.conversations.change(tx, row.id, {
    ...(isReady ? {} : { compacted_upto: plan.compactedUpto }),
    revision: row.revision + 1,
    extracted_upto: Math.max(row.extracted_upto, commit.extracted?.upto ?? 0),
  });
  return isErased ? 'erased' : 'committed';
}

/** The stack with what is ready. */
async function readyStack({ shared, tx }: Work, row: ConversationRow): Promise<ReadyStack> {
  const [live, ready] = await together([shared.summaries.live(tx, row), shared.ready.list(tx, row.id)]);
  return placeReady(toConversation(row), live.map(toSummary), ready);
}

/** Whether the text of a stale summary was deleted. */
async function extendStack(
  work: Work,
  {
    row,
    base,
    plan,
    summary,
  }: {
    readonly row: ConversationRow;
    readonly base: ReadyStack;
    readonly plan: Exclude<CompactionPlan, { kind: 'stale' }>;
    readonly summary: NewSummary;
  },
): Promise<boolean> {
  const { shared, tx } = work;
  await place(work, row, base);
  const live = await shared.summaries.live(tx, row);
  const isErased = plan.kind === 'fill' && (await clearPlace(work, { plan, live, id: summary.id }));
  await shared.summaries.insert(tx, newRow(row.id, 'summary', summary));
  return isErased;
}

/** The ready summaries become part of the stack; those without a place are deleted. */
async function place({ shared, tx }: Work, row: ConversationRow, { placed, parents }: ReadyStack): Promise<void> {
  if ((await shared.ready.clear(tx, row.id)) === 0) return;
  for (const summary of placed) await shared.summaries.insert(tx, newRow(row.id, 'summary', summary));
  for (const [id, parent] of parents) {
    const child = await shared.summaries.find(tx, id);
    if (child !== null) await shared.summaries.change(tx, child, { superseded_by: parent });
  }
}

async function publish(work: Work, conversationId: number): Promise<CommitResult> {
  const { shared, tx } = work;
  const row = await shared.conversations.lock(tx, conversationId);
  if (row === null) return 'stale';
  const base = await readyStack(work, row);
  await place(work, row, base);
  if (base.placed.length === 0) return 'stale';
  await shared.conversations.change(tx, row.id, { compacted_upto: base.compactedUpto, revision: row.revision + 1 });
  return 'committed';
}

/** Whether the claim still holds. */
async function lockForJob(
  { shared, tx }: Work,
  commit: { readonly conversationId: number; readonly epoch: number },
): Promise<ConversationRow | null> {
  const row = await shared.conversations.lock(tx, commit.conversationId);
  return row !== null && holdsMaintenance(row, commit.epoch) ? row : null;
}

/** Whether the watermark is where the job found it; otherwise its facts were already extracted. */
function extractionHolds(row: ConversationRow, extracted: CompactionCommit['extracted']): boolean {
  return extracted === null || row.extracted_upto === extracted.from;
}

/** An entry was edited or deleted after the job had read it, so its text may be outdated. */
async function wasChanged(
  { changedSince, tx }: Work,
  row: ConversationRow,
  read: { readonly fromSeq: number; readonly toSeq: number; readonly seen: number | undefined },
): Promise<boolean> {
  const { fromSeq, toSeq, seen = row.maintenance_revision } = read;
  return (await first(tx, changedSince({ id: row.id, fromSeq, toSeq, seen }))) !== null;
}

function prepareChangedSince({ query }: SqlEngine) {
  return prepare((p: Parameter<{ id: number; fromSeq: number; toSeq: number; seen: number }>) =>
    query
      .selectFrom('entry')
      .select('seq')
      .where('conversation_id', '=', p('id'))
      .where('seq', '>=', p('fromSeq'))
      .where('seq', '<=', p('toSeq'))
      .where('changed_revision', '>', p('seen'))
      .limit(1),
  );
}

/**
 * What the new summary replaces leaves the stack; the rest of the range stays open. A stale one may say what its messages
 * no longer say, so its text is deleted. True if there was one.
 */
async function clearPlace(
  { shared, tx }: Work,
  {
    plan,
    live,
    id,
  }: { plan: Extract<CompactionPlan, { kind: 'fill' }>; live: readonly SummaryRow[]; id: NewSummary['id'] },
): Promise<boolean> {
  let isErased = false;
  for (const row of live) {
    if (plan.replaces.includes(row.id)) {
      await shared.summaries.change(tx, row, { ...(row.stale === 1 ? asGap : {}), superseded_by: id });
    } else if (plan.remainder?.id === row.id) {
      await shared.summaries.change(tx, row, { ...asGap, from_seq: plan.remainder.fromSeq });
    } else continue;
    isErased ||= row.stale === 1;
  }
  if (isErased) await shared.engine.noteDeletion(tx);
  return isErased;
}

/** The values that turn a summary's row into a gap. */
export const asGap = {
  kind: 'gap',
  text: '',
  tokens: 0,
  stale: 0,
  model: null,
  prompt_hash: null,
  lost: null,
} as const;

function newRow(conversationId: number, kind: SummaryRow['kind'], summary: NewSummary): SummaryRow {
  return {
    id: summary.id,
    conversation_id: conversationId,
    level: summary.level,
    kind,
    from_seq: summary.fromSeq,
    to_seq: summary.toSeq,
    text: summary.text,
    tokens: summary.tokens,
    model: summary.model,
    prompt_hash: summary.promptHash,
    stale: 0,
    superseded_by: null,
    created_at: summary.createdAt,
    lost: summary.lost === undefined ? null : writeJson(summary.lost),
  };
}

async function commitCondensation(work: Work, commit: CondensationCommit): Promise<CommitResult> {
  const { shared, tx } = work;
  const row = await lockForJob(work, commit);
  if (row === null) return 'stale';
  if (commit.rewrites) return await recondense(work, { row, commit, old: commit.rewrites });
  const base = await readyStack(work, row);
  const children = base.stack.filter((item) => commit.childIds.includes(item.id));
  if (children.length !== commit.childIds.length || !canCondense(children, commit.summary)) return 'stale';
  await shared.ready.insert(tx, row.id, commit.summary);
  const isReady = commit.ready === true;
  const whole = isReady ? base : await readyStack(work, row);
  if (!isReady) await place(work, row, whole);
  await shared.conversations.change(tx, row.id, {
    ...(isReady ? {} : { compacted_upto: whole.compactedUpto }),
    revision: row.revision + 1,
  });
  return 'committed';
}

async function recondense(
  work: Work,
  { row, commit, old }: { readonly row: ConversationRow; readonly commit: CondensationCommit; readonly old: SummaryId },
): Promise<CommitResult> {
  const { shared, tx } = work;
  const { summary } = commit;
  const base = await readyStack(work, row);
  const parts = await shared.summaries.children(tx, { id: old, level: summary.level });
  if (commit.ready === true || !canRecondense(base.stack, parts.map(toSummary), commit)) return 'stale';
  await place(work, row, base);
  await shared.summaries.supersede(tx, { old, by: summary.id });
  await shared.summaries.insert(tx, newRow(row.id, 'summary', summary));
  const revision = row.revision + 1;
  await shared.conversations.change(tx, row.id, { compacted_upto: base.compactedUpto, revision });
  return 'committed';
}

async function commitExtraction(work: Work, commit: ExtractionCommit): Promise<CommitResult> {
  const { shared, tx } = work;
  const { from, upto } = commit.extracted;
  const row = await lockForJob(work, commit);
  if (row === null || !extractionHolds(row, commit.extracted) || upto >= row.next_seq) return 'stale';
  if (await wasChanged(work, row, { fromSeq: from + 1, toSeq: upto, seen: commit.seenRevision })) return 'stale';
  await applyWrites(shared, tx, { conversationId: row.id, writes: commit.memories, actor: 'model', now: commit.now });
  await shared.conversations.change(tx, row.id, { extracted_upto: Math.max(from, upto) });
  return 'committed';
}

async function openGap({ shared, tx }: Work, gap: GapOpening): Promise<CommitResult> {
  const row = await shared.conversations.lock(tx, gap.conversationId);
  const holds = row?.compacted_upto === gap.expectedCompactedUpto;
  if (row === null || !holds || gap.toSeq <= row.compacted_upto || gap.toSeq >= row.next_seq) return 'stale';
  await shared.ready.clear(tx, row.id);
  const fromSeq = row.compacted_upto + 1;
  const empty = { level: 0, text: '', tokens: 0, model: null, promptHash: null };
  const opened = { ...empty, id: gap.id, fromSeq, toSeq: gap.toSeq, createdAt: gap.now };
  await shared.summaries.insert(tx, newRow(row.id, 'gap', opened));
  await shared.conversations.change(tx, row.id, {
    compacted_upto: gap.toSeq,
    revision: row.revision + 1,
    ...dueAt(row, gap.now),
  });
  return 'committed';
}
