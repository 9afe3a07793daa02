import type { SummaryId } from '../../domain/message.ts';
import type { ContextSnapshot, Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';

/** A stack with its ready summaries in place. */
export interface ReadyStack {
  readonly stack: readonly Summary[];
  readonly compactedUpto: number;
  /** The ready summaries that still have a place, in the order in which they take it. */
  readonly placed: readonly Summary[];
  /** The new parent of each summary that was condensed. */
  readonly parents: ReadonlyMap<SummaryId, SummaryId>;
}

/** Where the ready summaries belong. One that no longer fits is left out. Pure: stores call it inside a transaction. */
export function placeReady(
  { compactedUpto: end, contextFrom, nextSeq }: Pick<Conversation, 'compactedUpto' | 'contextFrom' | 'nextSeq'>,
  live: readonly Summary[],
  ready: readonly Summary[],
): ReadyStack {
  let stack = live;
  let compactedUpto = end;
  const placed: Summary[] = [];
  const parents = new Map<SummaryId, SummaryId>();
  for (const item of ready.toSorted((a, b) => a.level - b.level || a.fromSeq - b.fromSeq)) {
    if (item.level === 0) {
      if (item.fromSeq !== compactedUpto + 1 || item.fromSeq < contextFrom || item.toSeq >= nextSeq) continue;
      compactedUpto = item.toSeq;
      stack = [...stack, item];
    } else {
      const children = stack.filter(({ fromSeq, toSeq }) => fromSeq >= item.fromSeq && toSeq <= item.toSeq);
      if (!canCondense(children, item)) continue;
      for (const { id } of children) parents.set(id, item.id);
      const at = stack.findIndex(({ id }) => id === children[0]?.id);
      stack = stack.toSpliced(at, children.length, item);
    }
    placed.push(item);
  }
  return { stack, compactedUpto, placed, parents };
}

/** Adjacent current summaries with text that exactly cover the range of the new one. */
export function canCondense(
  children: readonly Summary[],
  summary: Pick<Summary, 'level' | 'fromSeq' | 'toSeq'>,
): boolean {
  const isWhole = children.every(
    (child, index) =>
      child.kind === 'summary' &&
      !child.stale &&
      child.level < summary.level &&
      child.fromSeq === (index === 0 ? summary.fromSeq : (children[index - 1]?.toSeq ?? 0) + 1),
  );
  return isWhole && children.at(-1)?.toSeq === summary.toSeq;
}

const published = new WeakMap<ContextSnapshot, ContextSnapshot>();

/** The view as it will be when its ready summaries are published. */
export function publishedView(snapshot: ContextSnapshot): ContextSnapshot {
  if (!hasReady(snapshot)) return snapshot;
  const known = published.get(snapshot);
  if (known !== undefined) return known;
  const { conversation, tail, omitted } = snapshot;
  const { stack, compactedUpto } = placeReady(conversation, snapshot.stack, snapshot.ready ?? []);
  const first = tail[0]?.seq ?? conversation.nextSeq;
  const entries = Math.max(0, first - 1 - compactedUpto);
  const left = omitted.entries === 0 ? 0 : Math.min(1, entries / omitted.entries);
  const view: ContextSnapshot = {
    conversation: { ...conversation, compactedUpto, calibration: uncounted(conversation) },
    stack,
    tail: tail.filter(({ seq }) => seq > compactedUpto),
    omitted: { entries, tokens: Math.round(omitted.tokens * left) },
    ready: [],
  };
  published.set(snapshot, view);
  return view;
}

export function hasReady({ ready = [] }: Pick<ContextSnapshot, 'ready'>): boolean {
  return ready.length > 0;
}

/** The provider has counted the view without the ready summaries. */
function uncounted({ calibration }: Conversation): Conversation['calibration'] {
  return calibration === null ? null : { ...calibration, revision: -1 };
}
