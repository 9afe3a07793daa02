import { sayOf, whoSaid } from '../commands/format-entry.ts';
import type { CommandServices } from '../commands/services.ts';
import type { ConversationKey, MemoryId } from '../domain/message.ts';
import { readerFor } from '../memory/policy.ts';
import type { Conversation } from '../ports/store.ts';
import { mayRead, type Viewer } from './viewer.ts';

/** The results of a search over everything that the viewer may read. */
export interface Findings {
  readonly conversations: readonly ConversationKey[];
  readonly messages: readonly FoundMessage[];
  readonly memories: readonly FoundMemory[];
  /** Messages and memories were searched in this many conversations, those with the newest activity. */
  readonly searched: number;
}

export interface FoundMessage {
  readonly conversation: ConversationKey;
  readonly seq: number;
  readonly at: number;
  readonly who: string;
  readonly text: string;
}

export interface FoundMemory {
  readonly conversation: ConversationKey;
  readonly id: MemoryId;
  readonly text: string;
}

const MAX_NAMES = 20;
const NAMED_AMONG = 2000;
const SEARCHED = 25;
const PER_CONVERSATION = 4;
const MAX_TEXT_LENGTH = 200;

export async function findEverywhere(parts: CommandServices, viewer: Viewer, text: string): Promise<Findings> {
  const wanted = text.slice(0, MAX_TEXT_LENGTH).trim();
  if (wanted === '') return { conversations: [], messages: [], memories: [], searched: 0 };
  const recent = await parts.store.conversations.list({ order: 'active', limit: NAMED_AMONG, after: null });
  const lower = wanted.toLowerCase();
  const named = recent.filter(({ key }) => key.toLowerCase().includes(lower));
  const readable = recent.filter(({ audience }) => mayRead(viewer, audience)).slice(0, SEARCHED);
  const found = await Promise.all(readable.map((conversation) => findIn(parts, conversation, wanted)));
  const memories = found.flatMap((each) => each.memories);
  return {
    conversations: named.slice(0, MAX_NAMES).map(({ key }) => key),
    messages: found.flatMap((each) => each.messages).toSorted((a, b) => b.at - a.at),
    // Conversations of one place read the same memories.
    memories: [...new Map(memories.map((memory) => [memory.id, memory])).values()],
    searched: readable.length,
  };
}

async function findIn(
  { store, search, memories, agents }: CommandServices,
  conversation: Conversation,
  text: string,
): Promise<Pick<Findings, 'messages' | 'memories'>> {
  const { id, key } = conversation;
  const hits = await search.entries({ conversationId: id, text, limit: PER_CONVERSATION });
  const entries = await store.transcript.pick(
    id,
    hits.map(({ seq }) => seq),
  );
  const reader = readerFor(conversation, agents.agentFor(key));
  const held = await memories.search({ reader, text, limit: PER_CONVERSATION });
  return {
    messages: entries.map((entry) => ({
      ...{ conversation: key, seq: entry.seq, at: entry.at, who: whoSaid(entry), text: sayOf(entry) },
    })),
    memories: held.map((memory) => ({ conversation: key, id: memory.id, text: memory.text })),
  };
}
