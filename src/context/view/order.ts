import type { Entry } from '../../domain/message.ts';
import type { AssembleRequest, ContextProfile } from '../../ports/engine.ts';
import type { Conversation } from '../../ports/store.ts';
import { estimateText } from '../measure/tokens.ts';
import { labelOf } from './label.ts';

/**
 * The position of an entry in the view: a message of a person at its seq; an entry of the bot right after the last
 * message that its turn had read. So a message that arrives during a turn comes after that turn's reply.
 */
export function viewKey(entry: Pick<Entry, 'role' | 'turn' | 'seq'>): number {
  return entry.role === 'user' || entry.turn === null ? entry.seq : entry.turn + 0.5;
}

/** The entries visible to a turn that reads up to `readUpto`, in view order. Notices are never shown. */
export function viewOrder(tail: readonly Entry[], readUpto: number): readonly Entry[] {
  const seen: Entry[] = [];
  let last = Number.NEGATIVE_INFINITY;
  let sorted = true;
  for (const entry of tail) {
    const key = viewKey(entry);
    if (entry.role === 'notice' || key > readUpto) continue;
    sorted &&= key >= last;
    last = key;
    seen.push(entry);
  }
  // The sort is stable: equal keys keep the order of their seqs.
  return sorted ? seen : seen.sort((a, b) => viewKey(a) - viewKey(b));
}

/** Which messages wait for an answer, and what the running turn has read. */
export interface CutLimits extends Pick<Conversation, 'answeredUpto' | 'replyDueSeq' | 'replyDueFrom'> {
  readonly readUpto?: number;
  /** Estimated tokens of the newest entries, which stay. Default 0. */
  readonly reservedTokens?: number;
}

/** Entries at the head of the tail that are not loaded, as in a snapshot. */
export interface Omitted {
  readonly entries: number;
  readonly tokens: number;
}

/** A position where the tail may be cut: everything up to `toSeq` leaves. */
export interface CutPoint {
  readonly toSeq: number;
  readonly entries: number;
  readonly tokens: number;
  /** Whether the cut is at the end of a turn; otherwise it is between two messages. */
  readonly clean: boolean;
}

/** The first message that waits for an answer, or infinity if none does. */
export function firstWaiting(limits: CutLimits): number {
  if (limits.replyDueSeq <= limits.answeredUpto) return Number.POSITIVE_INFINITY;
  return Math.max(limits.answeredUpto + 1, limits.replyDueFrom);
}

/** Whether a message asked for a reply that is owed. */
export function isWaiting({ seq, role, redactedAt, wantsReply }: Entry, limits: CutLimits): boolean {
  const isAsking = wantsReply || seq === limits.replyDueSeq;
  return role === 'user' && redactedAt === null && seq >= firstWaiting(limits) && isAsking;
}

/**
 * All positions where the tail may be cut, oldest first. A cut never splits a tool group, never removes a message that
 * waits for its answer, and never removes the newest message of a person, its reply, or a reserved entry.
 */
export function cutPoints(
  tail: readonly Entry[],
  limits: CutLimits,
  omitted: Omitted = { entries: 0, tokens: 0 },
): readonly CutPoint[] {
  const end = firstKept(tail, limits);
  const inGroup = toolGroups(tail);
  const earliestTurn = earliestTurnAfter(tail);
  const points: CutPoint[] = [];
  let { entries, tokens } = omitted;
  for (let index = -1; index < tail.length - 1; index += 1) {
    const next = tail[index + 1];
    if (next === undefined || next.seq > end) break;
    entries += index < 0 ? 0 : 1;
    tokens += tail[index]?.tokens ?? 0;
    const clean = (earliestTurn[index + 1] ?? Number.POSITIVE_INFINITY) >= next.seq;
    const legal = entries > 0 && (inGroup[index + 1] ?? 0) === 0 && (clean || isBetweenMessages(tail[index], next));
    if (legal) points.push({ toSeq: next.seq - 1, entries, tokens, clean });
  }
  return points;
}

/** The cut points of the view that a turn builds. They keep the share of the window for the newest messages. */
export function cutPointsOf(
  { snapshot, readUpto, profile }: Pick<AssembleRequest, 'snapshot' | 'readUpto' | 'profile'>,
  correction: number,
): readonly CutPoint[] {
  return cutPoints(snapshot.tail, {
    ...snapshot.conversation,
    readUpto,
    reservedTokens: reservedTokens(profile, correction),
  });
}

/** Estimated tokens of the newest messages, which no cut removes. */
export function reservedTokens(
  { tailShare, windowTokens }: Pick<ContextProfile, 'tailShare' | 'windowTokens'>,
  correction: number,
): number {
  return (tailShare * windowTokens) / correction;
}

/** Seq of the first entry that no cut may remove. */
export function firstKept(tail: readonly Entry[], limits: CutLimits): number {
  const reserved = reservedFrom(tail, limits.reservedTokens);
  return Math.min(firstWaiting(limits), newestAsk(tail, limits.readUpto), reserved);
}

/** Whether a cut falls before a message of a person, or between two turns of the bot: a question keeps its answer. */
function isBetweenMessages(previous: Entry | undefined, next: Entry): boolean {
  if (next.role === 'user') return true;
  return previous?.role === 'assistant' && next.role === 'assistant' && previous.turn !== next.turn;
}

/** Seq of the first of the newest entries that fit. */
function reservedFrom(tail: readonly Entry[], tokens = 0): number {
  let left = tokens;
  let from = Number.POSITIVE_INFINITY;
  for (let index = tail.length - 1; index >= 0; index -= 1) {
    const entry = tail[index];
    left -= entry === undefined ? 0 : shownTokens(entry);
    if (entry === undefined || left < 0) break;
    from = entry.seq;
  }
  return from;
}

/** Stored tokens don't include the label of a person's message, which is most of the line of a short one. */
export function shownTokens(entry: Entry): number {
  return entry.tokens + (entry.role === 'user' ? estimateText(labelOf(entry, null)) : 0);
}

/** Seq of the newest message of a person; if there is none, of the bot's last entry. */
function newestAsk(tail: readonly Entry[], readUpto = Number.POSITIVE_INFINITY): number {
  const person = tail.findLast((entry) => entry.role === 'user' && entry.seq <= readUpto);
  if (person !== undefined) return person.seq;
  const last = tail.at(-1);
  return tail.find((entry) => entry.turn === last?.turn)?.seq ?? 0;
}

/** For each index, how many tool groups a cut before it would split. A call without a result does not count. */
function toolGroups(tail: readonly Entry[]): Int32Array {
  const steps = new Int32Array(tail.length + 1);
  const calledAt = new Map<string, number>();
  tail.forEach((entry, index) => {
    let from = index;
    for (const part of entry.parts) {
      if (part.kind === 'tool-call') calledAt.set(part.callId, index);
      if (part.kind === 'tool-result') from = Math.min(from, calledAt.get(part.callId) ?? index);
    }
    if (entry.role === 'tool') from = Math.min(from, Math.max(0, index - 1));
    if (from === index) return;
    steps[from + 1] = (steps[from + 1] ?? 0) + 1;
    steps[index + 1] = (steps[index + 1] ?? 0) - 1;
  });
  for (let index = 1; index < steps.length; index += 1) steps[index] = (steps[index] ?? 0) + (steps[index - 1] ?? 0);
  return steps;
}

/** For each index, the lowest turn of the entries from there on: a turn is over when no later entry belongs to it. */
function earliestTurnAfter(tail: readonly Entry[]): Float64Array {
  const earliest = new Float64Array(tail.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let index = tail.length - 1; index >= 0; index -= 1) {
    const entry = tail[index];
    const turn = entry?.role === 'user' ? null : entry?.turn;
    earliest[index] = Math.min(earliest[index + 1] ?? Number.POSITIVE_INFINITY, turn ?? Number.POSITIVE_INFINITY);
  }
  return earliest;
}
