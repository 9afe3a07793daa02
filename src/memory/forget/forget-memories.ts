import { placeOf, workspaceOf } from '../../domain/key.ts';
import type { MemoryId } from '../../domain/message.ts';
import { MEMORY_STATES, type Memory, type MemoryReader } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { pagesAfter } from '../../util/async/pages.ts';
import { mayChange, type Requester } from '../rights/permissions.ts';
import { isNearDuplicate } from '../statements/fingerprint.ts';
import { createNearDuplicates } from '../statements/near-duplicates.ts';

type Reading = Pick<Services, 'store' | 'search'>;

const MAX_TWINS = 20;
/** More are compared with everything in their place, because a search for each would read that again and again. */
const MAX_SEARCHED = 50;
/** A few milliseconds of comparisons. */
const COMPARED_AT_ONCE = 20;
const PAGE = 1000;

/**
 * Which of the memories this person may forget: those about them, those they said themselves, and those of a place they
 * manage.
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

/** Every source is a message of theirs, or there is none and they asked to save it. */
async function isSaidBy(store: Services['store'], memory: Memory, personId: string): Promise<boolean> {
  // A rule that moderators set for the place no longer belongs to one member.
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

/** The memories, the same statements in other words, and the older memories that they replaced. */
export async function withKin(
  services: Reading,
  memories: readonly Memory[],
  by: Requester,
): Promise<readonly Memory[]> {
  const all = new Map(memories.map((memory) => [memory.id, memory]));
  for (const twin of await forgettable(services, await twinsOf(services, memories), by)) all.set(twin.id, twin);
  for (let round = [...all.values()]; round.length > 0; ) {
    const older = await replacedBy(services, round);
    round = [...(await forgettable(services, unknownIn(all, older), by))];
    for (const memory of round) all.set(memory.id, memory);
  }
  return [...all.values()];
}

function unknownIn(known: ReadonlyMap<string, Memory>, found: readonly Memory[]): readonly Memory[] {
  return found.filter((memory) => !known.has(memory.id));
}

/** The same statements in other words, in the same places. */
async function twinsOf(services: Reading, memories: readonly Memory[]): Promise<readonly Memory[]> {
  const found: Memory[] = [];
  for (const ofPlace of byPlace(memories)) found.push(...(await twinsAt(services, ofPlace)));
  return found;
}

async function twinsAt(services: Reading, ofPlace: PlaceMemories): Promise<readonly Memory[]> {
  const isMany = ofPlace.memories.length > MAX_SEARCHED;
  return isMany ? await twinsOfMany(services, ofPlace) : await searchTwins(services, ofPlace);
}

async function twinsOfMany({ store }: Reading, { reader, memories }: PlaceMemories): Promise<readonly Memory[]> {
  const known = new Set(memories.map((memory) => memory.id));
  const isAlike = createNearDuplicates(memories.map(({ text }) => text));
  const found: Memory[] = [];
  const all = { reader, states: MEMORY_STATES, offset: 0 };
  for await (const page of pagesAfter<Memory>(PAGE, (next) => store.memories.list({ ...all, ...next }))) {
    const others = page.filter((memory) => memory.place === reader.place && !known.has(memory.id));
    for (const [index, memory] of others.entries()) {
      if (isAlike(memory.text)) found.push(memory);
      if (index % COMPARED_AT_ONCE === 0) await waitForOwnTurn();
    }
  }
  return found;
}

async function searchTwins(
  { store, search }: Reading,
  { reader, memories }: PlaceMemories,
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

async function replacedBy({ store }: Reading, memories: readonly Memory[]): Promise<readonly Memory[]> {
  const found: Memory[] = [];
  for (const { reader, memories: ofPlace } of byPlace(memories)) {
    for (let from = 0; from < ofPlace.length; from += PAGE) {
      const supersededBy = ofPlace.slice(from, from + PAGE).map((memory) => memory.id);
      const page = { supersededBy, states: MEMORY_STATES, limit: PAGE, offset: 0 };
      found.push(...(await store.memories.list({ reader, ...page })));
    }
  }
  return found.filter((older) => memories.some((memory) => memory.place === older.place));
}

interface PlaceMemories {
  readonly reader: MemoryReader;
  readonly memories: readonly Memory[];
}

/** The memories by place, each with a reader of everything in it. */
function byPlace(memories: readonly Memory[]): readonly PlaceMemories[] {
  return [...Map.groupBy(memories, ({ place }) => place).values()].flatMap((ofPlace) => {
    const [first] = ofPlace;
    return first === undefined ? [] : [{ reader: readerOfAll(first), memories: ofPlace }];
  });
}

/** Permissions decide what is forgotten. Forgetting shows nothing, so it also finds what the person cannot read. */
function readerOfAll({ place, workspace, agentId }: Pick<Memory, 'place' | 'workspace' | 'agentId'>): MemoryReader {
  return { place, workspace, agentId, audience: 'dm', sharePublic: false };
}

/** Other memories of deleted messages that share telling words with what is being forgotten. */
export async function siblingsOf(
  services: Reading,
  { conversation, seqs }: { readonly conversation: Conversation; readonly seqs: readonly number[] },
  by: Requester,
): Promise<readonly Memory[]> {
  if (seqs.length === 0) return [];
  const restingOn = { conversationId: conversation.id, seqs };
  const { key } = conversation;
  const reader = readerOfAll({ place: placeOf(key), workspace: workspaceOf(key), agentId: by.reader.agentId });
  const page = { reader, restingOn, states: MEMORY_STATES, limit: PAGE, offset: 0 };
  return forgettable(services, await services.store.memories.list(page), by);
}
