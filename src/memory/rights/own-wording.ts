import { StrataError } from '../../domain/errors.ts';
import type { Memory, MemoryEvent, MemoryStore } from '../../ports/memory-store.ts';
import { assertMayWord, managesPlace, type Requester, type WordingAction } from './permissions.ts';

type Reading = Pick<MemoryStore, 'events'>;

/** Whether the memory says about others what this person has made it say, and nobody has reworded it since. */
export async function isOwnWording(memories: Reading, { id, trust }: Memory, { author }: Requester): Promise<boolean> {
  if (trust !== 'other') return false;
  const edit = (await memories.events(id)).findLast(isRewording);
  return edit?.actor === author.id;
}

/** Whether the event changed the text. Approving or restoring a memory is noted as an edit, too. */
export function isRewording({ detail }: Pick<MemoryEvent, 'detail'>): boolean {
  return typeof detail === 'object' && detail !== null && 'changed' in detail;
}

/**
 * Throws `COMMAND_FORBIDDEN`. Members vouch for what others say about them, but nobody makes their own words about others
 * recalled: somebody who manages the place decides about those.
 */
export async function assertMayRaise(
  memories: Reading,
  memory: Memory,
  { by, action }: { readonly by: Requester; readonly action: WordingAction },
): Promise<void> {
  assertMayWord(memory, by, action);
  if (managesPlace(memory, by) || !(await isOwnWording(memories, memory, by))) return;
  throw new StrataError('COMMAND_FORBIDDEN', {
    command: `memory ${action}`,
    needs: 'the people who manage the place if you have worded the memory and it names others',
  });
}
