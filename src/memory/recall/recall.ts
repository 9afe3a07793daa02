import type { AgentSettings } from '../../config/schema.ts';
import { estimateText } from '../../context/measure/tokens.ts';
import { plainName } from '../../context/view/label.ts';
import { type Entry, textOf } from '../../domain/message.ts';
import type { Memory, MemoryReader } from '../../ports/memory-store.ts';
import type { SectionLine, SystemSection, VolatileSection } from '../../ports/sections.ts';
import type { ContextSnapshot, Conversation } from '../../ports/store.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { localDate } from '../../util/time/local-time.ts';
import { sentencesOf } from '../people/about-person.ts';
import { readerFor } from '../rights/policy.ts';
import { isRecallable } from '../statements/lifecycle.ts';
import { AUTHOR_SHARE, authorOf, choose, type Proposed, UNASKED_KINDS } from './choose.ts';
import { focusOf } from './focus.ts';

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
/** How much further to search the index if one person's memories fill its answer. */
const LOOK_FURTHER = 4;

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

async function propose(
  services: Recalling,
  reader: MemoryReader,
  { waiting, limit }: { readonly waiting: readonly Entry[]; readonly limit: number },
): Promise<Proposed> {
  const text = searchText(waiting.map((entry) => textOf(entry.parts)));
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

const ASKING = /[?？؟⸮՞]/u;

/** The index looks up the first words only, so the newest message comes first, and of each the questions. */
function searchText(texts: readonly string[]): string {
  const sentences = texts.toReversed().flatMap((whole) => {
    const text = whole.slice(-READ_CHARACTERS);
    if (!ASKING.test(text)) return [text];
    const said = sentencesOf(text);
    const asked = said.filter((sentence) => ASKING.test(sentence));
    return [...asked, ...said.filter((sentence) => !ASKING.test(sentence))];
  });
  return sentences.join('\n').slice(0, READ_CHARACTERS);
}

/** One person's memories fill more of the index's answer than they may take in the view. */
function isFlooded({ memories, hits }: Proposed): boolean {
  const counts = new Map<string | null, number>();
  for (const memory of memories) counts.set(authorOf(memory), (counts.get(authorOf(memory)) ?? 0) + 1);
  return [...counts].some(([author, count]) => author !== null && count > hits.length * AUTHOR_SHARE);
}

/** Why recalled memories are in a request. */
export function recallReason(count: number): string {
  return `${count} ${count === 1 ? 'memory relates' : 'memories relate'} to the newest message`;
}

/** The name of the person as a model reads it; null for a memory about nobody in particular. */
export function aboutOf({ subjectName }: Memory): string | null {
  return subjectName === null ? null : plainName(subjectName);
}

/** A memory as the prompt `memories` shows it. */
export function memoryItem(memory: Memory, timeZone: string) {
  return {
    id: memory.id,
    kind: memory.kind,
    text: memory.text,
    about: aboutOf(memory) ?? '',
    date: localDate(memory.validFrom, timeZone),
  };
}
