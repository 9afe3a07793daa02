import { shownName } from '../commands/format-entry.ts';
import type { CommandServices } from '../commands/services.ts';
import { plainName } from '../context/view/label.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { placeOf } from '../domain/key.ts';
import type { Audience, ConversationKey } from '../domain/message.ts';
import { readerIn } from '../memory/rights/policy.ts';
import { MEMORY_STATES, type Memory, type MemoryKind, type MemoryState } from '../ports/memory-store.ts';
import type { Conversation } from '../ports/store.ts';
import { DAY_MS } from '../util/time/time.ts';
import { assertMayRead, mayRead, type Viewer } from './viewer.ts';

export interface MemoriesQuery {
  readonly viewer: Viewer;
  /** Null for every place that the viewer may read. */
  readonly key: string | null;
  readonly filter: MemoryFilter;
}

/** Null and empty values match everything. */
export interface MemoryFilter {
  readonly text: string;
  readonly kind: MemoryKind | null;
  readonly state: MemoryState | null;
  readonly audience: Audience | null;
  /** Id of a person whom a memory is about, or who said it. */
  readonly personId: string | null;
  readonly maxAgeDays: number | null;
}

/** Memories that match a filter, and the places and people to filter by. */
export interface MemoriesView {
  /** The chosen place; null for all of them. */
  readonly conversation: Conversation | null;
  /** The readable places with the newest activity, one conversation each. */
  readonly places: readonly ConversationKey[];
  /** There are other places, whose activity is older. */
  readonly hasOlderPlaces: boolean;
  readonly people: readonly Person[];
  readonly memories: readonly PlacedMemory[];
  readonly isMore: boolean;
}

/** A person whom memories are about, or who said them. The name is the id if no other is known. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** A memory with a conversation in which it can be read. */
export interface PlacedMemory extends Memory {
  readonly readableIn: ConversationKey;
}

const MAX_PLACES = 200;
const MAX_READ = 1000;
const MAX_READ_OF_MANY = 100;
const MAX_SHOWN = 200;
const MAX_NAMED = 20;

export async function memoriesView(
  services: CommandServices,
  { viewer, key, filter }: MemoriesQuery,
): Promise<MemoriesView> {
  const { readable, hasOlderPlaces } = await readablePlaces(services, viewer);
  const conversation = key === null ? null : await findConversation(services, key);
  if (conversation !== null) assertMayRead(viewer, conversation.audience, 'The text of memories');
  const read = conversation === null ? readable : [conversation];
  const limit = conversation === null ? MAX_READ_OF_MANY : MAX_READ;
  const found = await Promise.all(read.map((place) => readIn(services, place, { filter, limit })));
  // Places of one workspace may read the same memories.
  const all = [...new Map(found.flat().map((memory) => [memory.id, memory])).values()];
  const fitting = all.filter((memory) => fits(memory, filter, services.clock.now()));
  const sorted = filter.text.trim() === '' && read.length > 1 ? fitting.toSorted(byWeight) : fitting;
  return {
    conversation,
    places: readable.map((place) => place.key),
    hasOlderPlaces,
    people: await peopleIn(services, all),
    memories: sorted.slice(0, MAX_SHOWN),
    isMore: sorted.length > MAX_SHOWN,
  };
}

async function readablePlaces({ store }: CommandServices, viewer: Viewer) {
  const recent = await store.conversations.list({ order: 'active', limit: MAX_PLACES, after: null });
  const readable = recent.filter(({ audience }) => mayRead(viewer, audience));
  // Threads share the memories of their channel.
  const places = new Map(readable.toReversed().map((each) => [placeOf(each.key), each]));
  return { readable: [...places.values()].toReversed(), hasOlderPlaces: recent.length === MAX_PLACES };
}

async function readIn(
  services: CommandServices,
  conversation: Conversation,
  { filter, limit }: { readonly filter: MemoryFilter; readonly limit: number },
): Promise<readonly PlacedMemory[]> {
  const { memories } = services;
  const reader = readerIn(conversation, services);
  const { text } = filter;
  const states = MEMORY_STATES;
  const page = { reader, limit, offset: 0 };
  const chosen = chosenBy(filter);
  const found =
    text.trim() === ''
      ? [
          ...(await memories.list({ ...page, states })),
          ...(chosen === null ? [] : await memories.list({ ...page, ...chosen })),
        ]
      : await memories.search({ reader, text, states, limit: Math.min(limit, MAX_SHOWN) });
  return found.map((memory) => ({ ...memory, readableIn: conversation.key }));
}

/** Others may have had any number remembered that come before those. */
function chosenBy({ kind, state, personId }: MemoryFilter) {
  if (kind === null && state === null && personId === null) return null;
  return {
    states: state === null ? MEMORY_STATES : [state],
    ...(kind === null ? {} : { kinds: [kind] }),
    ...(personId === null ? {} : { subjectId: personId }),
  };
}

function fits(memory: Memory, filter: MemoryFilter, now: number): boolean {
  const { kind, state, audience, personId, maxAgeDays } = filter;
  const isSame = (['kind', 'state', 'audience'] as const).every(
    (name) => ({ kind, state, audience })[name] === null || filter[name] === memory[name],
  );
  const isTheirs = personId === null || peopleOf(memory).includes(personId);
  return isSame && isTheirs && (maxAgeDays === null || memory.createdAt >= now - maxAgeDays * DAY_MS);
}

/** Whom it is about, and who said it. */
function peopleOf({ subjectId, sources }: Memory): readonly string[] {
  return [subjectId, ...sources.map(({ authorId }) => authorId)].filter((id) => id !== null);
}

function byWeight(a: Memory, b: Memory): number {
  return Number(b.pinned) - Number(a.pinned) || b.importance - a.importance || b.createdAt - a.createdAt;
}

/** By name. Memories name only those whom they are about; the others are named by a message of theirs. */
async function peopleIn({ store }: CommandServices, memories: readonly Memory[]): Promise<readonly Person[]> {
  const names = new Map<string, string>();
  for (const { subjectId, subjectName } of memories)
    if (subjectId !== null) names.set(subjectId, plainName(subjectName ?? subjectId));
  const said = memories.flatMap(({ sources }) => sources);
  const unnamed = new Map(
    said.flatMap((source) => (isUnnamed(source.authorId, names) ? [[source.authorId, source]] : [])),
  );
  for (const [id, { conversationId, seq }] of [...unnamed].slice(0, MAX_NAMED)) {
    const [entry] = await store.transcript.pick(conversationId, [seq]);
    names.set(id, entry?.author?.id === id ? shownName(entry.author) : id);
  }
  return [...names].map(([id, name]) => ({ id, name })).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

function isUnnamed(id: string | null, names: ReadonlyMap<string, string>): id is string {
  return id !== null && !names.has(id);
}
