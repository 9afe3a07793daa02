import { placeOf } from '../domain/key.ts';
import type { Entry } from '../domain/message.ts';
import { MEMORY_STATES, type Memory, type MemoryEvent } from '../ports/memory-store.ts';
import type { WithheldMemory } from '../ports/provenance-store.ts';
import type { Conversation, ConversationScope } from '../ports/store.ts';
import type { Services } from '../services.ts';
import { pagesOf } from '../util/async/conversation-pages.ts';
import { waitForOwnTurn } from '../util/async/event-loop.ts';
import { inParallel } from '../util/async/in-parallel.ts';
import { pagesAfter } from '../util/async/pages.ts';
import { isRewording } from './rights/own-wording.ts';
import type { Requester } from './rights/permissions.ts';
import { type WithheldServices, withheldAbout } from './rights/withheld.ts';

/** A copy of the data about one person, as far as the asking place may show it: plain data, ready for JSON. */
export interface PersonExport {
  readonly person: string;
  readonly at: string;
  readonly place: string;
  readonly reach: ExportReach;
  readonly memories: readonly (Memory & { readonly events: readonly MemoryEvent[] })[];
  readonly messages: readonly ExportedMessage[];
  /** Memories about them that cannot be shown, without their text. Empty in a copy for somebody else. */
  readonly withheld: readonly WithheldMemory[];
}

/**
 * The scope of a copy. `place`: the channel and its threads, for a copy about somebody else. `open`: also what the
 * person said in public places of the workspace. `everywhere`: wherever their id identifies them, in their own direct
 * messages.
 */
export type ExportReach = 'place' | 'open' | 'everywhere';

export interface ExportedMessage {
  readonly conversation: string;
  readonly seq: number;
  readonly id: string | null;
  readonly at: string;
  readonly parts: Entry['parts'];
}

export type ExportServices = Pick<Services, 'store' | 'clock'> & WithheldServices;

interface Asked {
  readonly personId: string;
  readonly by: Requester;
}

const PAGE = 500;
/** A store answers many small requests together. */
const READ_AT_ONCE = 32;
/** Number of entries in which one query looks for the person's own. */
const WINDOW = 2000;

/**
 * A person's own messages and the memories about them: those that the asking place may read, those from public places
 * of the time before they last spoke there, and, in their direct messages only, those based on nothing but their own
 * words. Whoever was removed from a place learns nothing that was said there since.
 */
export async function exportPerson(services: ExportServices, asked: Asked): Promise<PersonExport> {
  const { personId, by } = asked;
  const { store, clock } = services;
  const reach = await reachOf(store, asked);
  const { messages, places } = await saidBy(services, asked, reach);
  const hidden = reach === 'place' ? [] : await withheldAbout(services, personId, by.reader);
  const memories: Memory[] = [];
  const about = { reader: by.reader, subjectId: personId, states: MEMORY_STATES, offset: 0 };
  for await (const page of pagesAfter<Memory>(PAGE, (next) => store.memories.list({ ...about, ...next }))) {
    memories.push(...page);
  }
  const withheld: WithheldMemory[] = [];
  const found = await inParallel(hidden, READ_AT_ONCE, async ({ id }) => {
    const memory = await store.memories.find(id);
    return memory !== null && (await isTheirs(store, memory, { personId, reach, places })) ? memory : null;
  });
  for (const [index, about] of hidden.entries()) {
    const memory = found[index] ?? null;
    if (memory !== null) memories.push(memory);
    else withheld.push(about);
  }
  return {
    person: personId,
    at: new Date(clock.now()).toISOString(),
    place: by.reader.place,
    reach,
    memories: await withEvents(store, memories),
    messages,
    withheld,
  };
}

/** The command line reads like the conversation that it names: in a person's direct messages, as that person. */
async function reachOf(store: Services['store'], { personId, by }: Asked): Promise<ExportReach> {
  const { place, audience } = by.reader;
  if (personId === by.author.id) return audience === 'dm' ? 'everywhere' : 'open';
  if (by.rights !== 'operator' || audience !== 'dm') return 'place';
  for await (const conversation of spokenIn(store, { place })) {
    for await (const _entry of entriesOf(store, conversation, personId)) return 'everywhere';
  }
  return 'place';
}

interface Said {
  readonly messages: readonly ExportedMessage[];
  /** Public places in which the person has spoken, and when last. */
  readonly places: ReadonlyMap<string, number>;
}

async function saidBy(
  { store, personScope }: ExportServices,
  { personId, by: { reader } }: Asked,
  reach: ExportReach,
): Promise<Said> {
  const within = reach === 'everywhere' ? personScope(reader.workspace) : reader.workspace;
  const scope = reach === 'place' ? { place: reader.place } : { within };
  const messages: ExportedMessage[] = [];
  const places = new Map<string, number>();
  const isInReach = (conversation: Conversation) =>
    reach !== 'open' || placeOf(conversation.key) === reader.place || isOpen(conversation);
  for await (const some of batchesOf(spokenIn(store, scope))) {
    const inReach = some.filter(isInReach);
    const found = await inParallel(inReach, READ_AT_ONCE, async (conversation) => {
      const said: Entry[] = [];
      for await (const entry of entriesOf(store, conversation, personId)) said.push(entry);
      return said;
    });
    for (const [index, conversation] of inReach.entries()) {
      const place = placeOf(conversation.key);
      for (const entry of found[index] ?? []) {
        messages.push(messageOf(conversation.key, entry));
        if (isOpen(conversation)) places.set(place, Math.max(entry.at, places.get(place) ?? entry.at));
      }
    }
  }
  return { messages, places };
}

/** As many conversations as are read at once. */
async function* batchesOf(conversations: AsyncIterable<Conversation>): AsyncGenerator<readonly Conversation[]> {
  let batch: Conversation[] = [];
  for await (const conversation of conversations) {
    batch.push(conversation);
    if (batch.length < READ_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

function spokenIn({ conversations }: Services['store'], scope: ConversationScope) {
  return pagesOf(conversations, { order: 'key', scope });
}

function isOpen({ audience, tightestAudience }: Conversation): boolean {
  return audience === 'public' && tightestAudience === 'public';
}

async function isTheirs(
  store: Services['store'],
  memory: Memory,
  {
    personId,
    reach,
    places,
  }: Pick<Asked, 'personId'> & { readonly reach: ExportReach; readonly places: Said['places'] },
): Promise<boolean> {
  const { audience, place, sources, trust } = memory;
  const spokeAt = places.get(place);
  if (audience === 'public' && spokeAt !== undefined && (await wordedAt(store, memory)) <= spokeAt) return true;
  if (reach !== 'everywhere') return false;
  // Memories saved by command have no sources.
  return sources.length === 0 ? trust === 'self' : sources.every(({ authorId }) => authorId === personId);
}

/** When somebody said it, or has last worded it. */
async function wordedAt({ memories }: Services['store'], { id, validFrom }: Memory): Promise<number> {
  const rewordings = (await memories.events(id)).filter(isRewording);
  return Math.max(validFrom, ...rewordings.map(({ at }) => at));
}

async function withEvents(store: Services['store'], memories: readonly Memory[]): Promise<PersonExport['memories']> {
  const events = await inParallel(memories, READ_AT_ONCE, ({ id }) => store.memories.events(id));
  return memories.map((memory, index) => ({ ...memory, events: events[index] ?? [] }));
}

/** The person's messages in a conversation that were not deleted. Other work may run between the windows. */
async function* entriesOf(
  store: Services['store'],
  { id, nextSeq }: Pick<Conversation, 'id' | 'nextSeq'>,
  authorId: string,
): AsyncGenerator<Entry> {
  for (let fromSeq = 1; fromSeq < nextSeq; fromSeq += WINDOW) {
    const window = { fromSeq, toSeq: fromSeq + WINDOW - 1, limit: WINDOW, authorId };
    const said = await store.transcript.read(id, window);
    yield* said.filter(({ redactedAt }) => redactedAt === null);
    if (fromSeq > 1) await waitForOwnTurn();
  }
}

function messageOf(conversation: string, entry: Entry): ExportedMessage {
  const { seq, externalId: id, at, parts } = entry;
  return { conversation, seq, id, at: new Date(at).toISOString(), parts };
}
