import type { MemoryList } from '../../../src/adapter-kit.ts';
import type { MemoryRow } from './tables.ts';

/** Whether a list asks only for active memories, so that it can be filtered from all of them. */
export function asksForActive({ states, ids, fingerprints, restingOn, supersededBy }: MemoryList): boolean {
  const isByKey =
    ids !== undefined || fingerprints !== undefined || restingOn !== undefined || supersededBy !== undefined;
  return !isByKey && states?.length === 1 && states[0] === 'active';
}

/** Filters all active memories of the reader like the query of `memory-list.ts`, in its order. Pure. */
export function pickActive(active: readonly MemoryRow[], list: MemoryList): readonly MemoryRow[] {
  const { kinds, subjectId, recall, limit, offset } = list;
  const wanted = active.filter(
    (row) =>
      (kinds === undefined || kinds.includes(row.kind)) &&
      (subjectId === undefined || row.subject_id === subjectId) &&
      (recall === undefined || isConsidered(row, recall, list.reader.audience)),
  );
  if (offset === 0 && wanted.length <= limit) return wanted.sort(byWeight);
  const first = new Set(recall?.ids);
  wanted.sort((a, b) => Number(first.has(b.id)) - Number(first.has(a.id)) || byWeight(a, b));
  return wanted.slice(offset, offset + limit);
}

function isConsidered(
  { id, subject_id, pinned, kind }: MemoryRow,
  { ids, subjectId, kinds }: NonNullable<MemoryList['recall']>,
  audience: MemoryList['reader']['audience'],
): boolean {
  if (ids.includes(id)) return true;
  const isTheirs = subjectId !== null && subject_id === subjectId;
  if (pinned === 1 && (audience === 'dm' || subject_id === null || isTheirs)) return true;
  return isTheirs && kinds.includes(kind);
}

/** Pinned first, then the most important, then the newest. */
export function byWeight(a: MemoryRow, b: MemoryRow): number {
  const difference = b.pinned - a.pinned || b.importance - a.importance || b.created_at - a.created_at;
  return difference !== 0 ? difference : a.id < b.id ? 1 : -1;
}
