import type { AgentSettings } from '../config/schema.ts';
import { plainName } from '../context/label.ts';
import { estimateText } from '../context/tokens.ts';
import { type Entry, textOf } from '../domain/message.ts';
import type { Memory, MemoryKind, MemoryReader } from '../ports/memory-store.ts';
import type { MemoryHit } from '../ports/search.ts';
import type { SectionLine, SystemSection, VolatileSection } from '../ports/sections.ts';
import type { ContextSnapshot, Conversation } from '../ports/store.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import type { Services } from '../services.ts';
import { localDate } from '../util/local-time.ts';
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
  /** Most tokens of the section; less important memories are left out. Called once they are found. Default: no limit. */
  maxTokens?(): Promise<number>;
}

type Recalling = Pick<Services, 'store' | 'search' | 'prompts' | 'clock'>;

/** Number of proposals from the index for each shown memory. */
const PROPOSED = 4;
/** Pinned memories, and those about the speaker, in addition to the proposals. */
const BESIDES = 20;
/** Waiting messages are read together, up to this number and length. */
const READ_MESSAGES = 8;
const READ_CHARACTERS = 2000;
/** A match far below the best one is chance. */
const MIN_MATCH = 0.25;
/** How much further to search the index if one person's memories fill its answer. */
const LOOK_FURTHER = 4;
/** Maximum share of places for the memories of one person while those of others wait. */
const AUTHOR_SHARE = 0.5;
/**
 * Memories about the speaker are shown without a match only if they say who the speaker is or how they want something.
 */
const UNASKED = 3;
const UNASKED_KINDS: readonly MemoryKind[] = ['identity', 'preference'];
/** Maximum boost from the topic of the newest messages and a pin together. */
const MAX_BOOST = 0.3;

/**
 * The memories that bear on the waiting messages, as one section, or null. On the reply path: two indexed queries. Only
 * memories that the engine really included count as recalled.
 */
export async function recallFor(services: Recalling, request: RecallRequest): Promise<VolatileSection | null> {
  const { agent, snapshot } = request;
  const limit = agent.recall.tokens === 0 ? 0 : (request.limit ?? agent.memory.recall_limit);
  if (limit === 0) return null;
  const reader = readerFor(snapshot.conversation, agent);
  const waiting = waitingMessages(request);
  const proposed = await propose(services, reader, { waiting, limit });
  const foci = waiting.map(focusOf);
  const chosen = choose(proposed, { snapshot, waiting, foci, limit, now: services.clock.now() });
  const render = (memories: readonly Memory[]) =>
    services.prompts.render(
      'memories',
      { items: memories.map((memory) => memoryItem(memory, agent.timezone)) },
      promptSourceOf(agent),
    ).text;
  const shown = firstWithin(chosen, { render, maxTokens: (await request.maxTokens?.()) ?? Number.POSITIVE_INFINITY });
  if (shown.memories.length === 0) return null;
  return {
    key: 'memories',
    text: shown.text,
    source: 'memory',
    reason: recallReason(shown.memories.length),
    memoryIds: shown.memories.map((memory) => memory.id),
  };
}

/**
 * The standing instructions of the place, oldest first. They are part of every view and are never summarised. Those of
 * other places don't apply, even where their memories are shared: whoever manages one place does not manage the others.
 */
export async function instructionsFor(
  services: Pick<Services, 'store' | 'prompts' | 'clock'>,
  place: Pick<Conversation, 'key' | 'audience'>,
  agent: AgentSettings,
): Promise<SystemSection | null> {
  const query = {
    reader: { ...readerFor(place, agent), sharePublic: false },
    kinds: ['instruction'],
    states: ['active'],
    limit: 50,
    offset: 0,
  } as const;
  const now = services.clock.now();
  const found = (await services.store.memories.list(query)).filter((memory) => isRecallable(memory, now));
  if (found.length === 0) return null;
  const ordered = [...found].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const items = ordered.map(instructionItem);
  const { text } = services.prompts.render('instructions', { items }, promptSourceOf(agent));
  return {
    key: 'instructions',
    text,
    lines: linesOf(text, ordered),
    priority: 95,
    protected: true,
    source: 'memory',
    reason: `${items.length} standing ${items.length === 1 ? 'instruction' : 'instructions'} given here`,
    memoryIds: ordered.map(({ id }) => id),
  };
}

/** The line of each instruction, as far as the prompt writes it into one. An operator's or a pinned one is cut last. */
function linesOf(text: string, memories: readonly Memory[]): readonly SectionLine[] {
  const rows = text.split('\n');
  return memories.flatMap(({ id, importance, pinned, trust }) => {
    const row = rows.find((one) => one.includes(id));
    return row === undefined
      ? []
      : { text: row, importance: importance + Number(pinned) + Number(trust === 'operator') };
  });
}

/** A memory as the prompt `instructions` shows it. */
export function instructionItem({ id, text, trust, subjectName }: Memory) {
  return { id, text, by: trust === 'operator' ? '<operator>' : plainName(subjectName ?? 'a member') };
}

/** What the turn answers: people's messages since the last answer, or the newest of them. */
export function waitingMessages({ snapshot, newest }: Pick<RecallRequest, 'snapshot' | 'newest'>): readonly Entry[] {
  const { tail, conversation } = snapshot;
  const from = Math.min(conversation.answeredUpto, newest.seq - 1);
  // These are at the end of a tail that may be long.
  const first = tail.findLastIndex((entry) => entry.seq <= from) + 1;
  return tail
    .slice(first)
    .filter((entry) => entry.role === 'user' && entry.seq <= newest.seq)
    .slice(-READ_MESSAGES);
}

interface Room {
  readonly maxTokens: number;
  render(memories: readonly Memory[]): string;
}

/** The best memories whose section keeps to the limit. */
function firstWithin(memories: readonly Memory[], { maxTokens, render }: Room) {
  for (let count = memories.length; count > 0; count -= 1) {
    const shown = memories.slice(0, count);
    const text = render(shown);
    if (estimateText(text) <= maxTokens) return { memories: shown, text };
  }
  return { memories: [], text: '' };
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
  const proposal = async (count: number): Promise<Proposed> => {
    const hits = await services.search.memories({ reader, text, limit: count });
    const recall = { ids: hits.map((hit) => hit.id), subjectId: speaker ?? null, kinds: UNASKED_KINDS };
    const query = { reader, states: ['active'], recall, limit: hits.length + BESIDES, offset: 0 } as const;
    return { memories: await services.store.memories.list(query), hits };
  };
  const proposed = await proposal(limit * PROPOSED);
  const isFull = reader.audience !== 'dm' && proposed.hits.length === limit * PROPOSED;
  return isFull && isFlooded(proposed) ? proposal(limit * PROPOSED * LOOK_FURTHER) : proposed;
}

/** One person's memories fill more of the index's answer than they may take in the view. */
function isFlooded({ memories, hits }: Proposed): boolean {
  const counts = new Map<string | null, number>();
  for (const memory of memories) counts.set(authorOf(memory), (counts.get(authorOf(memory)) ?? 0) + 1);
  return [...counts].some(([author, count]) => author !== null && count > hits.length * AUTHOR_SHARE);
}

function authorOf({ sources, subjectId }: Memory): string | null {
  return sources.find(({ authorId }) => authorId !== null)?.authorId ?? subjectId;
}

interface Choice {
  readonly snapshot: ContextSnapshot;
  readonly waiting: readonly Entry[];
  readonly foci: readonly Focus[];
  readonly limit: number;
  readonly now: number;
}

interface Candidate {
  readonly memory: Memory;
  /** By the best hit's score, 0..1. */
  readonly match: number;
  readonly isPinned: boolean;
  readonly score: number;
}

/**
 * Pure: matches before pinned memories, best first, each statement once, without what the visible tail already says.
 * Outsiders to the conversation get at most their share as long as others have something to say.
 */
function choose({ memories, hits }: Proposed, choice: Choice): readonly Memory[] {
  const isNew = createDistinct();
  const share = Math.ceil(choice.limit * AUTHOR_SHARE);
  const counts = new Map<string, number>();
  const [first, rest]: [Candidate[], Candidate[]] = [[], []];
  for (const candidate of rank(memories, hits, choice)) {
    if (first.length >= choice.limit) break;
    if (!isNew(candidate.memory.text)) continue;
    const author = limitedAuthor(candidate.memory, choice);
    const count = author === null ? 0 : (counts.get(author) ?? 0);
    if (author !== null) counts.set(author, count + 1);
    (count < share ? first : rest).push(candidate);
  }
  return [...first, ...rest].slice(0, choice.limit).map(({ memory }) => memory);
}

function rank(memories: readonly Memory[], hits: readonly MemoryHit[], choice: Choice): readonly Candidate[] {
  const best = Math.max(...hits.map((hit) => hit.score), Number.EPSILON);
  const match = new Map(hits.map((hit) => [hit.id, hit.score / best]));
  const ranked = memories
    .filter((memory) => memory.kind !== 'instruction' && isRecallable(memory, choice.now))
    .map((memory) => ({ memory, match: match.get(memory.id) ?? 0, isPinned: isPinnedFor(memory, choice) }))
    .filter(({ memory, isPinned }) => isPinned || !isVisible(memory, choice))
    .map((candidate) => ({ ...candidate, score: scoreOf(candidate, choice) }))
    .sort(
      (a, b) => Number(matches(b)) - Number(matches(a)) || b.score - a.score || (a.memory.id < b.memory.id ? -1 : 1),
    );
  const unasked = ranked.filter((candidate) => isUnasked(candidate)).slice(0, UNASKED);
  return ranked.filter((candidate) => matches(candidate) || candidate.isPinned || unasked.includes(candidate));
}

function matches({ match }: Pick<Candidate, 'match'>): boolean {
  return match >= MIN_MATCH;
}

function isUnasked({ memory, match, isPinned }: Candidate): boolean {
  return match < MIN_MATCH && !isPinned && UNASKED_KINDS.includes(memory.kind);
}

/** A pin on a memory about a person counts where that person speaks; in a DM every pin is the person's own. */
function isPinnedFor({ pinned, subjectId }: Memory, { snapshot, waiting }: Choice): boolean {
  if (!pinned || subjectId === null || snapshot.conversation.audience === 'dm') return pinned;
  return waiting.some((entry) => entry.author?.id === subjectId);
}

/** The author if they may only have their share: not in a DM, and not for people who speak or are asked about. */
function limitedAuthor(memory: Memory, { snapshot, foci }: Choice): string | null {
  const author = authorOf(memory);
  if (author === null || snapshot.conversation.audience === 'dm') return null;
  return foci.some(({ people }) => people.has(author)) ? null : author;
}

function scoreOf({ memory, match, isPinned }: Omit<Candidate, 'score'>, choice: Choice): number {
  const asked = Math.max(0, ...choice.foci.map((focus) => boostOf(focus, memory))) / MAX_FOCUS;
  const boost = MAX_BOOST * asked + (isPinned ? MAX_BOOST : 0);
  return 0.65 * match + 0.2 * weightOf(memory, choice.now) + Math.min(MAX_BOOST, boost);
}

/** Its source is in the view: repeating it would teach a model to ignore memories. */
function isVisible({ sources }: Memory, { snapshot: { tail, conversation } }: Choice): boolean {
  const first = tail[0]?.seq ?? conversation.nextSeq;
  return sources.some((source) => {
    const entry = source.conversationId === conversation.id ? tail[source.seq - first] : undefined;
    return entry !== undefined && entry.redactedAt === null;
  });
}

/** Why recalled memories are in a request. */
export function recallReason(count: number): string {
  return `${count} ${count === 1 ? 'memory bears' : 'memories bear'} on the newest message`;
}

/** A memory as the prompt `memories` shows it. */
export function memoryItem(memory: Memory, timeZone: string) {
  return {
    id: memory.id,
    kind: memory.kind,
    text: memory.text,
    about: memory.subjectName ?? '',
    date: localDate(memory.validFrom, timeZone),
  };
}
