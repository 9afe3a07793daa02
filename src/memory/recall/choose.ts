import type { Entry } from '../../domain/message.ts';
import type { Memory, MemoryKind } from '../../ports/memory-store.ts';
import type { MemoryHit } from '../../ports/search.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { createDistinct } from '../statements/fingerprint.ts';
import { isRecallable, weightOf } from '../statements/lifecycle.ts';
import { boostOf, type Focus, MAX_BOOST as MAX_FOCUS } from './focus.ts';

/** Which of the proposed memories a request shows. Pure. */

/** A match far below the best one is chance. */
const MIN_MATCH = 0.25;
/** Maximum share of places for the memories of one person while those of others wait. */
export const AUTHOR_SHARE = 0.5;
/**
 * Memories about the speaker are shown without a match only if they say who the speaker is or how they want something.
 */
const UNASKED = 3;
export const UNASKED_KINDS: readonly MemoryKind[] = ['identity', 'preference'];
/** Maximum boost from the topic of the newest messages and a pin together. */
const MAX_BOOST = 0.3;

/** Memories that may bear on the waiting messages. `hits`: those that match by words. */
export interface Proposed {
  readonly memories: readonly Memory[];
  readonly hits: readonly MemoryHit[];
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
 * Matches before pinned memories, best first, each statement once, without what the visible tail already says.
 * Outsiders to the conversation get at most their share as long as others have something to say.
 */
export function choose({ memories, hits }: Proposed, choice: Choice): readonly Memory[] {
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

export function authorOf({ sources, subjectId }: Memory): string | null {
  return sources.find(({ authorId }) => authorId !== null)?.authorId ?? subjectId;
}
