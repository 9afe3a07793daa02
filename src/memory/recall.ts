import type { AgentSettings } from '../config/schema.ts';
import { plainName } from '../context/label.ts';
import { type Entry, textOf } from '../domain/message.ts';
import type { SystemSection, VolatileSection } from '../ports/engine.ts';
import type { Memory, MemoryKind, MemoryReader } from '../ports/memory-store.ts';
import type { MemoryHit } from '../ports/search.ts';
import type { ContextSnapshot, Conversation } from '../ports/store.ts';
import type { PromptSource } from '../prompts/variables.ts';
import type { Services } from '../services.ts';
import { createDistinct } from './fingerprint.ts';
import { boostOf, type Focus, focusOf, MAX_BOOST as MAX_FOCUS } from './focus.ts';
import { isRecallable, weightOf } from './lifecycle.ts';
import { readerFor } from './policy.ts';

export interface RecallRequest {
  readonly agent: AgentSettings;
  readonly snapshot: ContextSnapshot;
  /** The newest message that the turn reads. */
  readonly newest: Pick<Entry, 'seq'>;
  /** Default: the agent's `recall_limit`. */
  readonly limit?: number;
}

type Recalling = Pick<Services, 'store' | 'search' | 'prompts' | 'clock'>;

/** Proposed by the index for each one that is shown. */
const PROPOSED = 4;
/** Pinned ones, and those about the speaker, beside the proposed. */
const BESIDES = 20;
/** Messages that wait together are read together, up to so many and so long. */
const READ_MESSAGES = 8;
const READ_CHARACTERS = 2000;
/** A match far below the best one is chance. */
const MIN_MATCH = 0.25;
/** What is known of the speaker stands there unasked only if it says who they are or how they want it. */
const UNASKED = 3;
const UNASKED_KINDS: readonly MemoryKind[] = ['identity', 'preference'];
/** What the newest messages are about, and a pin, together raise a memory by no more. */
const MAX_BOOST = 0.3;

/**
 * The memories that bear on what waits for an answer, as one section beside it, or null. On the reply path: two
 * indexed queries. Only what the engine really put in is counted as recalled.
 */
export async function recallFor(services: Recalling, request: RecallRequest): Promise<VolatileSection | null> {
  const { agent, snapshot } = request;
  const limit = request.limit ?? agent.memory.recall_limit;
  if (limit === 0) return null;
  const reader = readerFor(snapshot.conversation, agent);
  const waiting = waitingMessages(request);
  const proposed = await propose(services, reader, { waiting, limit });
  const foci = waiting.map(focusOf);
  const chosen = choose(proposed, { snapshot, foci, limit, now: services.clock.now() });
  if (chosen.length === 0) return null;
  return {
    key: 'memories',
    text: services.prompts.render('memories', { items: chosen.map(itemOf) }, sourceOf(agent)).text,
    source: 'memory',
    reason: `${chosen.length} ${chosen.length === 1 ? 'memory bears' : 'memories bear'} on the newest message`,
    memoryIds: chosen.map((memory) => memory.id),
  };
}

/** The standing instructions in force at the place, oldest first: in every view, never summarised away. */
export async function instructionsFor(
  services: Pick<Services, 'store' | 'prompts' | 'clock'>,
  place: Pick<Conversation, 'key' | 'audience'>,
  agent: AgentSettings,
): Promise<SystemSection | null> {
  const query = {
    reader: readerFor(place, agent),
    kinds: ['instruction'],
    states: ['active'],
    limit: 50,
    offset: 0,
  } as const;
  const now = services.clock.now();
  const found = (await services.store.memories.list(query)).filter((memory) => isRecallable(memory, now));
  if (found.length === 0) return null;
  const ordered = [...found].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const items = ordered.map(({ id, text, trust, subjectName }) => ({
    id,
    text,
    by: trust === 'operator' ? '<operator>' : plainName(subjectName ?? 'a member'),
  }));
  return {
    key: 'instructions',
    text: services.prompts.render('instructions', { items }, sourceOf(agent)).text,
    priority: 95,
    protected: true,
    source: 'memory',
    reason: `${items.length} standing ${items.length === 1 ? 'instruction' : 'instructions'} given here`,
  };
}

function sourceOf(agent: AgentSettings): PromptSource {
  return { language: agent.language, folder: agent.prompts };
}

/** What the turn answers: the messages of people since the last answer, the newest ones of many. */
function waitingMessages({ snapshot, newest }: RecallRequest): readonly Entry[] {
  const { tail, conversation } = snapshot;
  const from = Math.min(conversation.answeredUpto, newest.seq - 1);
  // They stand at the end of a tail that may be long.
  const first = tail.findLastIndex((entry) => entry.seq <= from) + 1;
  return tail
    .slice(first)
    .filter((entry) => entry.role === 'user' && entry.seq <= newest.seq)
    .slice(-READ_MESSAGES);
}

interface Proposed {
  readonly memories: readonly Memory[];
  readonly hits: readonly MemoryHit[];
}

async function propose(
  services: Recalling,
  reader: MemoryReader,
  { waiting, limit }: { readonly waiting: readonly Entry[]; readonly limit: number },
): Promise<Proposed> {
  const text = waiting
    .map((entry) => textOf(entry.parts))
    .join('\n')
    .slice(-READ_CHARACTERS);
  const speaker = waiting.at(-1)?.author?.id;
  const hits = await services.search.memories({ reader, text, limit: limit * PROPOSED });
  const recall = { ids: hits.map((hit) => hit.id), subjectId: speaker ?? null, kinds: UNASKED_KINDS };
  const query = { reader, states: ['active'], recall, limit: hits.length + BESIDES, offset: 0 } as const;
  return { memories: await services.store.memories.list(query), hits };
}

interface Choice {
  readonly snapshot: ContextSnapshot;
  readonly foci: readonly Focus[];
  readonly limit: number;
  readonly now: number;
}

/** Pure: best first, each statement once, without what stands in the visible tail anyway. */
function choose({ memories, hits }: Proposed, choice: Choice): readonly Memory[] {
  const best = Math.max(...hits.map((hit) => hit.score), Number.EPSILON);
  const match = new Map(hits.map((hit) => [hit.id, hit.score / best]));
  const ranked = memories
    .filter((memory) => memory.kind !== 'instruction' && isRecallable(memory, choice.now))
    .filter((memory) => memory.pinned || !isVisible(memory, choice))
    .map((memory) => ({ memory, match: match.get(memory.id) ?? 0 }))
    .map((candidate) => ({ ...candidate, score: scoreOf(candidate, choice) }))
    .sort((a, b) => b.score - a.score || (a.memory.id < b.memory.id ? -1 : 1));
  const chosen: Memory[] = [];
  const isNew = createDistinct();
  let unasked = 0;
  for (const { memory, match: matched } of ranked) {
    if (chosen.length >= choice.limit) break;
    if (matched < MIN_MATCH && !memory.pinned) {
      if (!UNASKED_KINDS.includes(memory.kind) || unasked >= UNASKED) continue;
      unasked += 1;
    }
    if (isNew(memory.text)) chosen.push(memory);
  }
  return chosen;
}

function scoreOf({ memory, match }: { readonly memory: Memory; readonly match: number }, choice: Choice): number {
  const asked = Math.max(0, ...choice.foci.map((focus) => boostOf(focus, memory))) / MAX_FOCUS;
  const boost = MAX_BOOST * asked + (memory.pinned ? MAX_BOOST : 0);
  return 0.65 * match + 0.2 * weightOf(memory, choice.now) + Math.min(MAX_BOOST, boost);
}

/** Its own source stands in the view: saying it twice teaches a model to overlook memories. */
function isVisible({ sources }: Memory, { snapshot: { tail, conversation } }: Choice): boolean {
  const first = tail[0]?.seq ?? conversation.nextSeq;
  return sources.some((source) => {
    const entry = source.conversationId === conversation.id ? tail[source.seq - first] : undefined;
    return entry !== undefined && entry.redactedAt === null;
  });
}

function itemOf(memory: Memory) {
  return {
    id: memory.id,
    kind: memory.kind,
    text: memory.text,
    about: memory.subjectName ?? '',
    date: new Date(memory.validFrom).toISOString().slice(0, 10),
  };
}
