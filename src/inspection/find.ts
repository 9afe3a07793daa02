import { shownAuthor, shownText } from '../commands/format-entry.ts';
import type { CommandServices } from '../commands/services.ts';
import type { ConversationKey, MemoryId } from '../domain/message.ts';
import { readerIn } from '../memory/rights/policy.ts';
import type { Conversation } from '../ports/store.ts';
import { mayRead, type Viewer } from './viewer.ts';

/** The results of a search over everything that the viewer may read. */
export interface Findings {
  readonly conversations: readonly ConversationKey[];
  readonly messages: readonly FoundMessage[];
  readonly memories: readonly FoundMemory[];
  /** Messages and memories were searched in this many conversations. */
  readonly searched: number;
  /** Where the search goes on; null at the end. */
  readonly next: FindStart | null;
}

/** Where a search begins. For its first page: `afterId` null, `named` 0. */
export interface FindStart {
  /** Id of the last conversation that was searched; null for the newest activity. */
  readonly afterId: number | null;
  /** How many of the conversations after it were already searched by name. */
  readonly named: number;
}

/** Words to look for in names, messages and memories, and where to begin. */
export interface FindQuery {
  readonly viewer: Viewer;
  readonly text: string;
  readonly start: FindStart;
}

/** A message that contains the words, with the name of its author. */
export interface FoundMessage {
  readonly conversation: ConversationKey;
  readonly seq: number;
  readonly at: number;
  readonly who: string;
  readonly text: string;
}

/** A memory that contains the words, with a conversation in which it can be read. */
export interface FoundMemory {
  readonly conversation: ConversationKey;
  readonly id: MemoryId;
  readonly text: string;
}

const MAX_NAMES = 20;
const NAMED_AMONG = 2000;
/** A page goes on until it has found enough, or has searched so many conversations. */
const ENOUGH = 30;
const MAX_SEARCHED = 100;
const BATCH = 25;
const PER_CONVERSATION = 4;
const MAX_TEXT_LENGTH = 200;

/** One page of results, in the order of the newest activity. */
export async function findEverywhere(services: CommandServices, { viewer, text, start }: FindQuery): Promise<Findings> {
  const wanted = text.slice(0, MAX_TEXT_LENGTH).trim();
  if (wanted === '') return { conversations: [], messages: [], memories: [], searched: 0, next: null };
  const { conversations } = services.store;
  const after = start.afterId === null ? null : await conversations.get(start.afterId);
  const recent = await conversations.list({ order: 'active', limit: NAMED_AMONG, after });
  const lower = wanted.toLowerCase();
  const named = recent.slice(start.named).filter(({ key }) => key.toLowerCase().includes(lower));
  const readable = recent.filter(({ audience }) => mayRead(viewer, audience));
  const { messages, memories, searched } = await findAmong(services, readable, wanted);
  return {
    messages,
    searched,
    next: nextStart(recent, readable, searched),
    conversations: named.slice(0, MAX_NAMES).map(({ key }) => key),
    // Several places may read the same memory.
    memories: [...new Map(memories.map((memory) => [memory.id, memory])).values()],
  };
}

type Found = Pick<Findings, 'messages' | 'memories'>;

async function findAmong(
  services: CommandServices,
  readable: readonly Conversation[],
  text: string,
): Promise<Found & { readonly searched: number }> {
  const found: Found[] = [];
  const findIn = createFinder(services, text);
  let searched = 0;
  let count = 0;
  while (searched < Math.min(readable.length, MAX_SEARCHED) && count < ENOUGH) {
    const batch = readable.slice(searched, searched + BATCH);
    const results = await Promise.all(batch.map(findIn));
    found.push(...results);
    count += results.reduce((sum, { messages, memories }) => sum + messages.length + memories.length, 0);
    searched += batch.length;
  }
  const messages = found.flatMap((each) => each.messages).toSorted((a, b) => b.at - a.at);
  return { searched, messages, memories: found.flatMap((each) => each.memories) };
}

function nextStart(
  recent: readonly Conversation[],
  readable: readonly Conversation[],
  searched: number,
): FindStart | null {
  const last = searched < readable.length ? readable[searched - 1] : recent.at(-1);
  const isEnd = searched === readable.length && recent.length < NAMED_AMONG;
  return isEnd || last === undefined ? null : { afterId: last.id, named: recent.length - 1 - recent.indexOf(last) };
}

function createFinder(services: CommandServices, text: string): (conversation: Conversation) => Promise<Found> {
  const searched = new Set<string>();
  return async (conversation) => {
    const { key } = conversation;
    const reader = readerIn(conversation, services);
    const name = JSON.stringify(reader);
    // Conversations of one place read the same memories: a place may have hundreds of threads.
    const isKnown = searched.has(name);
    searched.add(name);
    const entries = await entriesWith(services, conversation, text);
    const held = isKnown ? [] : await services.memories.search({ reader, text, limit: PER_CONVERSATION });
    return {
      messages: entries.map((entry) => ({
        conversation: key,
        seq: entry.seq,
        at: entry.at,
        who: shownAuthor(entry),
        text: shownText(entry),
      })),
      memories: held.map((memory) => ({ conversation: key, id: memory.id, text: memory.text })),
    };
  };
}

async function entriesWith({ store, search }: CommandServices, { id }: Conversation, text: string) {
  const hits = await search.entries({ conversationId: id, text, limit: PER_CONVERSATION });
  return await store.transcript.pick(
    id,
    hits.map(({ seq }) => seq),
  );
}
