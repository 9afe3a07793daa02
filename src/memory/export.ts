import type { Entry } from '../domain/message.ts';
import { MEMORY_STATES, type Memory, type MemoryEvent } from '../ports/memory-store.ts';
import type { WithheldMemory } from '../ports/provenance-store.ts';
import type { Services } from '../services.ts';
import { pagesOf } from '../util/conversation-pages.ts';
import type { Requester } from './permissions.ts';
import { type WithheldServices, withheldAbout } from './withheld.ts';

/** Everything kept about one person within reach of the place: plain data, ready for JSON. */
export interface PersonExport {
  readonly person: string;
  readonly at: string;
  readonly place: string;
  readonly memories: readonly (Memory & { readonly events: readonly MemoryEvent[] })[];
  readonly messages: readonly ExportedMessage[];
  /** What is remembered of them in places that can't be read from here, without its text. Empty in a copy for somebody else. */
  readonly withheld: readonly WithheldMemory[];
}

export interface ExportedMessage {
  readonly conversation: string;
  readonly seq: number;
  readonly id: string | null;
  readonly at: string;
  readonly parts: Entry['parts'];
}

const PAGE = 500;

/** What is known about the person here, and what they said in this place: the channel and its threads. */
export async function exportPerson(
  services: Pick<Services, 'store' | 'clock'> & WithheldServices,
  { personId, by }: { readonly personId: string; readonly by: Requester },
): Promise<PersonExport> {
  const { store, clock } = services;
  const { reader } = by;
  const memories: PersonExport['memories'][number][] = [];
  for await (const memory of pages((offset) =>
    store.memories.list({ reader, subjectId: personId, states: MEMORY_STATES, limit: PAGE, offset }),
  )) {
    memories.push({ ...memory, events: await store.memories.events(memory.id) });
  }
  const messages: ExportedMessage[] = [];
  const here = { order: 'key', scope: { place: reader.place } } as const;
  for await (const conversation of pagesOf(store.conversations, here)) {
    for await (const entry of entriesOf(store, conversation.id)) {
      if (entry.author?.id === personId && entry.redactedAt === null) messages.push(messageOf(conversation.key, entry));
    }
  }
  const withheld = personId === by.author.id ? await withheldAbout(services, personId, reader) : [];
  return {
    person: personId,
    at: new Date(clock.now()).toISOString(),
    place: reader.place,
    memories,
    messages,
    withheld,
  };
}

async function* entriesOf(store: Services['store'], conversationId: number): AsyncGenerator<Entry> {
  for (let fromSeq = 1; ; ) {
    const page = await store.transcript.read(conversationId, { fromSeq, toSeq: Number.MAX_SAFE_INTEGER, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    fromSeq = last.seq + 1;
  }
}

async function* pages<Item>(read: (offset: number) => Promise<readonly Item[]>): AsyncGenerator<Item> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await read(offset);
    yield* page;
    if (page.length < PAGE) return;
  }
}

function messageOf(conversation: string, entry: Entry): ExportedMessage {
  const { seq, externalId: id, at, parts } = entry;
  return { conversation, seq, id, at: new Date(at).toISOString(), parts };
}
