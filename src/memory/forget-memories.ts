import type { MemoryId } from '../domain/message.ts';
import { MEMORY_STATES, type Memory } from '../ports/memory-store.ts';
import type { Services } from '../services.ts';
import { isNearDuplicate } from './fingerprint.ts';
import { mayChange, type Requester } from './permissions.ts';

type Reading = Pick<Services, 'store' | 'search'>;

const MAX_TWINS = 20;
const PAGE = 1000;

/**
 * Which of the memories this person may have forgotten: what is about them, what they said themselves, and what the place
 * that they manage remembers.
 */
export async function forgettable(
  { store }: Pick<Services, 'store'>,
  memories: readonly Memory[],
  by: Requester,
): Promise<readonly Memory[]> {
  const allowed: Memory[] = [];
  for (const memory of memories) {
    if (mayChange(memory, by) || (await isSaidBy(store, memory, by.author.id))) allowed.push(memory);
  }
  return allowed;
}

/** Every source is a message of theirs; or it has none, and they asked to have it remembered. */
async function isSaidBy(store: Services['store'], memory: Memory, personId: string): Promise<boolean> {
  // What moderators have made a rule of the place is no longer the affair of one member.
  if (memory.kind === 'instruction' && memory.state !== 'candidate') return false;
  if (memory.sources.length === 0) {
    const [first] = await store.memories.events(memory.id);
    return first?.kind === 'added' && first.actor === personId && memory.extractedBy === null;
  }
  for (const { conversationId, seq } of memory.sources) {
    const [entry] = await store.transcript.pick(conversationId, [seq]);
    if (entry?.author?.id !== personId) return false;
  }
  return true;
}

/** The memories, the same statements in other words, and the older ones that they have replaced. */
export async function withKin(
  services: Reading,
  memories: readonly Memory[],
  by: Requester,
): Promise<readonly Memory[]> {
  const all = new Map(memories.map((memory) => [memory.id, memory]));
  for (const twin of await forgettable(services, await twinsOf(services, memories, by), by)) all.set(twin.id, twin);
  for (let round = [...all.values()]; round.length > 0; ) {
    const older = await replacedBy(services, round, by);
    round = [...(await forgettable(services, unknownIn(all, older), by))];
    for (const memory of round) all.set(memory.id, memory);
  }
  return [...all.values()];
}

function unknownIn(known: ReadonlyMap<string, Memory>, found: readonly Memory[]): readonly Memory[] {
  return found.filter((memory) => !known.has(memory.id));
}

/** The same statements in other words, in the same places. */
async function twinsOf(
  { store, search }: Reading,
  memories: readonly Memory[],
  { reader }: Requester,
): Promise<readonly Memory[]> {
  const known = new Set(memories.map((memory) => memory.id));
  const alike = new Map<MemoryId, Memory[]>();
  for (const memory of memories) {
    const query = { reader, text: memory.text, states: MEMORY_STATES, limit: MAX_TWINS };
    for (const { id } of await search.memories(query)) {
      if (!known.has(id)) alike.set(id, [...(alike.get(id) ?? []), memory]);
    }
  }
  const found: Memory[] = [];
  const ids = [...alike.keys()];
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = { ids: ids.slice(from, from + PAGE), states: MEMORY_STATES, limit: PAGE, offset: 0 };
    found.push(...(await store.memories.list({ reader, ...page })));
  }
  return found.filter((twin) =>
    alike.get(twin.id)?.some((memory) => twin.place === memory.place && isNearDuplicate(twin.text, memory.text)),
  );
}

async function replacedBy(
  { store }: Reading,
  memories: readonly Memory[],
  { reader }: Requester,
): Promise<readonly Memory[]> {
  const found: Memory[] = [];
  for (let from = 0; from < memories.length; from += PAGE) {
    const supersededBy = memories.slice(from, from + PAGE).map((memory) => memory.id);
    found.push(...(await store.memories.list({ reader, supersededBy, states: MEMORY_STATES, limit: PAGE, offset: 0 })));
  }
  return found.filter((older) => memories.some((memory) => memory.place === older.place));
}

/** Other memories of deleted messages, as far as they share telling words with what is being forgotten. */
export async function siblingsOf(
  services: Reading,
  { conversationId, seqs }: { readonly conversationId: number; readonly seqs: readonly number[] },
  by: Requester,
): Promise<readonly Memory[]> {
  if (seqs.length === 0) return [];
  const restingOn = { conversationId, seqs };
  const page = { reader: by.reader, restingOn, states: MEMORY_STATES, limit: PAGE, offset: 0 };
  return forgettable(services, await services.store.memories.list(page), by);
}
