import type { Memory, MemoryList, MemoryPosition } from '../../../../src/adapter-kit.ts';

/** Whether a list asks only for active memories, so that it can be filtered from all of them. */
export function asksForActive(list: MemoryList): boolean {
  const { states, idBeginning } = list;
  return !isByKey(list) && idBeginning === undefined && states?.length === 1 && states[0] === 'active';
}

/** Whether an index other than that of the place finds the few memories of the list. */
export function isByKey({ ids, fingerprints, restingOn, supersededBy }: MemoryList): boolean {
  return [ids, fingerprints, restingOn, supersededBy].some((key) => key !== undefined);
}

/** Filters all active memories of the reader like the query of `memory-list.ts`, in its order. Pure. */
export function pickActive(active: readonly Memory[], list: MemoryList): readonly Memory[] {
  const { kinds, subjectId, recall, after, limit, offset } = list;
  const wanted = active.filter(
    (memory) =>
      (kinds === undefined || kinds.includes(memory.kind)) &&
      (subjectId === undefined || memory.subjectId === subjectId) &&
      (after == null || byWeight(memory, after) > 0) &&
      (recall === undefined || isConsidered(memory, recall, list.reader.audience)),
  );
  if (offset === 0 && wanted.length <= limit) return wanted.sort(byWeight);
  const first = new Set(recall?.ids);
  wanted.sort((a, b) => Number(first.has(b.id)) - Number(first.has(a.id)) || byWeight(a, b));
  return wanted.slice(offset, offset + limit);
}

function isConsidered(
  memory: Memory,
  { ids, subjectId, kinds }: NonNullable<MemoryList['recall']>,
  audience: MemoryList['reader']['audience'],
): boolean {
  if (ids.includes(memory.id)) return true;
  const isTheirs = subjectId !== null && memory.subjectId === subjectId;
  if (memory.pinned && (audience === 'dm' || memory.subjectId === null || isTheirs)) return true;
  return isTheirs && kinds.includes(memory.kind);
}

/** Pinned first, then the most important, then the newest. */
export function byWeight(a: MemoryPosition, b: MemoryPosition): number {
  const difference = Number(b.pinned) - Number(a.pinned) || b.importance - a.importance || b.createdAt - a.createdAt;
  return difference !== 0 ? difference : a.id < b.id ? 1 : a.id === b.id ? 0 : -1;
}
