import { StrataError } from '../../domain/errors.ts';
import { placeOf } from '../../domain/key.ts';
import type { Author, Entry } from '../../domain/message.ts';
import type { Rights } from '../../ports/channel.ts';
import type { Memory, MemoryReader } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';

/** Who asks for a change, from where, and with which role. */
export interface Requester {
  readonly reader: MemoryReader;
  readonly author: Author;
  readonly rights: Rights;
  /** Whom they mention in it. */
  readonly mentions?: readonly Author[];
}

type Target = Pick<Memory, 'scope' | 'place' | 'subjectId' | 'kind'>;

/** Operators manage everything, moderators their place, everyone their own DM. */
export function managesPlace({ place }: Pick<Memory, 'place'>, by: Requester): boolean {
  if (by.rights === 'operator') return true;
  return place === by.reader.place && (by.rights === 'moderator' || by.reader.audience === 'dm');
}

/** The same person with the rights that they have where the memory is: whoever manages one place is a member of others. */
export function inPlaceOf({ scope, place, audience }: Target & Pick<Memory, 'audience'>, by: Requester): Requester {
  if (scope === 'global' || place === by.reader.place) return by;
  const rights = by.rights === 'operator' ? 'operator' : 'member';
  return { ...by, rights, reader: { ...by.reader, place, audience } };
}

/** Everyone may change what is about them; whoever manages a place may change everything remembered in it. */
export function mayChange(memory: Target, by: Requester): boolean {
  if (memory.scope === 'place' ? managesPlace(memory, by) : by.rights === 'operator') return true;
  return memory.kind !== 'instruction' && memory.subjectId !== null && memory.subjectId === by.author.id;
}

/** Throws `COMMAND_FORBIDDEN`. */
export function assertMayChange(memory: Target, by: Requester): void {
  if (mayChange(memory, by)) return;
  throw new StrataError('COMMAND_FORBIDDEN', {
    command: 'memory',
    needs: 'the person the memory is about, moderators and operators',
  });
}

/** What gives a memory its words or a higher rank, as the command is called. */
export type WordingAction = 'edit' | 'pin' | 'approve' | 'restore';

/**
 * Throws `COMMAND_FORBIDDEN`. A memory for everywhere is read in places that the person it is about has never seen, so
 * only operators give it its words and its rank.
 */
export function assertMayWord(memory: Target, by: Requester, action: WordingAction): void {
  assertMayChange(memory, by);
  if (memory.scope === 'place' || by.rights === 'operator') return;
  throw new StrataError('COMMAND_FORBIDDEN', {
    command: `memory ${action}`,
    needs: 'operators if the memory is for everywhere',
  });
}

/** Throws `COMMAND_FORBIDDEN` if the person does not manage the place they ask from. */
export function assertManages(by: Requester): void {
  if (managesPlace(by.reader, by)) return;
  throw new StrataError('COMMAND_FORBIDDEN', { command: 'memory held', needs: 'the people who manage this place' });
}

/**
 * A person's message may be deleted by its author and by whoever manages the place; a message of the bot only by the
 * latter.
 */
export function mayDelete(
  entry: Pick<Entry, 'role' | 'author'>,
  conversation: Pick<Conversation, 'key'>,
  by: Requester,
): boolean {
  if (managesPlace({ place: placeOf(conversation.key) }, by)) return true;
  return entry.role === 'user' && entry.author?.id === by.author.id;
}
