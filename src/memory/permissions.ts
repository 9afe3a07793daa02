import { StrataError } from '../domain/errors.ts';
import type { Author } from '../domain/message.ts';
import type { Memory, MemoryReader } from '../ports/memory-store.ts';

/** Who asks for a change, from where, and what they may do there. */
export interface Requester {
  readonly reader: MemoryReader;
  readonly author: Author;
  readonly rights: 'member' | 'moderator' | 'operator';
}

type Target = Pick<Memory, 'scope' | 'place' | 'subjectId' | 'kind'>;

/** Everyone changes what is about them and what lies in their own DM; moderators their place; the operator all. */
function mayChange(memory: Target, by: Requester): boolean {
  if (by.rights === 'operator') return true;
  const isHere = memory.scope === 'place' && memory.place === by.reader.place;
  if (isHere && (by.rights === 'moderator' || by.reader.audience === 'dm')) return true;
  return memory.kind !== 'instruction' && memory.subjectId !== null && memory.subjectId === by.author.id;
}

/** Throws `COMMAND_FORBIDDEN`. */
export function assertMayChange(memory: Target, by: Requester): void {
  if (mayChange(memory, by)) return;
  throw new StrataError('COMMAND_FORBIDDEN', {
    command: 'memory',
    needs: 'the person whom the memory is about, moderators and operators',
  });
}
