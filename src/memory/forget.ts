import { placeOf } from '../domain/key.ts';
import type { Entry } from '../domain/message.ts';
import { type ForgetPlan, MEMORY_STATES, type Memory, type MemoryReader } from '../ports/memory-store.ts';
import type { Conversation } from '../ports/store.ts';
import type { Services } from '../services.ts';
import { pagesOf } from '../util/conversation-pages.ts';
import { isNearDuplicate } from './fingerprint.ts';
import { type Carrier, carries, essenceOf, textOfEverything } from './statement-match.ts';

export interface Forgetting {
  readonly memories: readonly Memory[];
  /** Who reads and forgets: other places are out of reach. */
  readonly reader: MemoryReader;
  readonly actor: string;
}

type Forgetters = Pick<Services, 'store' | 'search' | 'clock'>;

const ECHOES_PER_CONVERSATION = 400;
/** Entries after a source where the bot's own tool calls may repeat it. */
const FOLLOWING = 40;

/**
 * Everything that has to go so that the statements are gone: the memories and their twins, the messages that they came
 * from, and every other entry of the place that carries them. What merely touches the same subject stays.
 */
export async function planForget(services: Forgetters, forgetting: Forgetting): Promise<ForgetPlan> {
  const memories = await withTwins(services, forgetting);
  const redactions: { conversationId: number; seqs: readonly number[] }[] = [];
  for (const conversation of await conversationsOf(services, memories)) {
    const seqs = new Set<number>();
    for (const memory of memories) for (const seq of await carriersIn(services, conversation, memory)) seqs.add(seq);
    if (seqs.size > 0) redactions.push({ conversationId: conversation.id, seqs: [...seqs].sort((a, b) => a - b) });
  }
  return {
    memoryIds: memories.map((memory) => memory.id),
    tombstones: memories.map(({ place, fingerprint }) => ({ place, fingerprint })),
    redactions,
    actor: forgetting.actor,
    now: services.clock.now(),
  };
}

/** The same statements in other words, in any state, in the same places. */
async function withTwins(services: Forgetters, { memories, reader }: Forgetting): Promise<readonly Memory[]> {
  const all = new Map(memories.map((memory) => [memory.id, memory]));
  for (const memory of memories) {
    const hits = await services.search.memories({ reader, text: memory.text, states: MEMORY_STATES, limit: 20 });
    const ids = hits.map((hit) => hit.id).filter((id) => !all.has(id));
    if (ids.length === 0) continue;
    const query = { reader, ids, states: MEMORY_STATES, limit: ids.length, offset: 0 };
    for (const other of await services.store.memories.list(query)) {
      if (other.place === memory.place && isNearDuplicate(other.text, memory.text)) all.set(other.id, other);
    }
  }
  return [...all.values()];
}

/** The conversations of the places that the memories belong to: a channel and its threads. */
async function conversationsOf(services: Forgetters, memories: readonly Memory[]): Promise<readonly Conversation[]> {
  const found: Conversation[] = [];
  for (const place of new Set(memories.map((memory) => memory.place))) {
    if (place === '') continue;
    const here = pagesOf(services.store.conversations, { order: 'key', scope: { place } });
    for await (const conversation of here) found.push(conversation);
  }
  return found;
}

async function carriersIn(
  services: Forgetters,
  conversation: Conversation,
  memory: Memory,
): Promise<readonly number[]> {
  if (placeOf(conversation.key) !== memory.place) return [];
  const own = memory.sources.filter((source) => source.conversationId === conversation.id).map((source) => source.seq);
  const carrier = essenceOf(memory, conversation.audience);
  const sources = sourcesToRedact(await services.store.transcript.pick(conversation.id, own), carrier);
  const echoes = await echoesOf(services, conversation.id, { carrier, sources });
  return [...sources, ...echoes.filter((entry) => carries(entry, carrier)).map((entry) => entry.seq)];
}

/** Those that hold the statement; all of them when none can be told to, as with a memory in another language. */
function sourcesToRedact(sources: readonly Entry[], carrier: Carrier): readonly number[] {
  const holding = sources.filter((entry) => carrier.shareIn(textOfEverything(entry)) >= 0.3);
  return (holding.length > 0 ? holding : sources).map((entry) => entry.seq);
}

/** Entries that share words with the statement, and what the bot did right after it was said. */
async function echoesOf(
  services: Forgetters,
  conversationId: number,
  { carrier, sources }: { readonly carrier: Carrier; readonly sources: readonly number[] },
): Promise<readonly Entry[]> {
  const query = { conversationId, text: carrier.words.join(' '), limit: ECHOES_PER_CONVERSATION };
  const seqs = new Set((await services.search.entries(query)).map((hit) => hit.seq));
  for (const seq of sources) for (let after = 1; after <= FOLLOWING; after++) seqs.add(seq + after);
  for (const seq of sources) seqs.delete(seq);
  return services.store.transcript.pick(conversationId, [...seqs]);
}
