import type { Memory, MemoryKind, MemoryState } from '../../ports/memory-store.ts';
import { DAY_MS } from '../../util/time/time.ts';

/** Importance of a statement without one. */
export const DEFAULT_IMPORTANCE: Readonly<Record<MemoryKind, number>> = {
  identity: 1,
  instruction: 0.9,
  decision: 0.8,
  todo: 0.8,
  preference: 0.7,
  fact: 0.6,
  event: 0.4,
  observation: 0.3,
};

/** Half-life in days; null never fades. */
export const HALF_LIFE_DAYS: Readonly<Record<MemoryKind, number | null>> = {
  identity: null,
  instruction: null,
  decision: 365,
  preference: 365,
  fact: 365,
  todo: 60,
  observation: 60,
  event: 30,
};

/** A candidate leaves the lists after this long without being repeated or recalled. */
const IDLE_DAYS = 90;
/** For this long after a demotion, repetition does not promote a memory. */
export const COOLDOWN_DAYS = 3;
const GRACE_DAYS = 7;

type Aging = Pick<Memory, 'kind' | 'importance' | 'pinned' | 'updatedAt' | 'createdAt' | 'lastRecalledAt'>;

/**
 * The current weight of a memory: its stored importance, faded by the time since it was last said or used. Computed
 * when reading and never stored, so time alone can only lower it.
 */
export function weightOf(memory: Aging, now: number): number {
  const halfLife = HALF_LIFE_DAYS[memory.kind];
  if (memory.pinned || halfLife === null) return memory.importance;
  const idleDays = Math.max(0, idleDaysOf(memory, now) - GRACE_DAYS);
  return memory.importance * 0.5 ** (idleDays / halfLife);
}

/** A candidate that nobody repeated, used or approved is no longer listed. It is not deleted. */
export function isFaded(memory: Aging & Pick<Memory, 'state'>, now: number): boolean {
  return memory.state === 'candidate' && !memory.pinned && idleDaysOf(memory, now) > IDLE_DAYS;
}

/** Only these are shown to a model. */
export function isRecallable(memory: Pick<Memory, 'state' | 'validUntil'>, now: number): boolean {
  return memory.state === 'active' && (memory.validUntil === null || memory.validUntil > now);
}

function idleDaysOf(memory: Aging, now: number): number {
  return (now - Math.max(memory.createdAt, memory.updatedAt, memory.lastRecalledAt ?? 0)) / DAY_MS;
}

export type Transition = 'promote' | 'demote' | 'supersede' | 'reject' | 'restore';

/** The next state by state and transition; combinations not listed are impossible. `rejected` is final. */
const TRANSITIONS: Readonly<Record<MemoryState, Partial<Record<Transition, MemoryState>>>> = {
  candidate: { promote: 'active', reject: 'rejected', supersede: 'superseded' },
  active: { demote: 'candidate', reject: 'rejected', supersede: 'superseded' },
  superseded: { restore: 'active', reject: 'rejected' },
  rejected: {},
};

/** The state after the transition, or null if it is impossible. */
export function transition(state: MemoryState, step: Transition): MemoryState | null {
  return TRANSITIONS[state][step] ?? null;
}

/** The commands that make a memory recalled. */
export const RAISING: Readonly<Partial<Record<Transition, 'approve' | 'restore'>>> = {
  promote: 'approve',
  restore: 'restore',
};

export interface Evidence {
  /** Conversations and days (UTC) in which it was said, including now. */
  readonly conversations: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  /** The person it is about said it. */
  readonly saidBySubject: boolean;
  /** At least one new source is a person's message: repetitions by the bot alone prove nothing. */
  readonly saidByPerson: boolean;
  /** It is about another person, and one person alone says it. */
  readonly isHearsay: boolean;
  readonly demotedAt: number | null;
}

/** Whether repeating it makes a candidate active. Every condition must hold. */
export function mayPromote(memory: Pick<Memory, 'state' | 'kind'>, evidence: Evidence, now: number): boolean {
  if (memory.state !== 'candidate' || memory.kind === 'instruction' || !evidence.saidByPerson) return false;
  if (evidence.demotedAt !== null && now - evidence.demotedAt < COOLDOWN_DAYS * DAY_MS) return false;
  if (evidence.saidBySubject) return true;
  return !evidence.isHearsay && (evidence.conversations.size >= 2 || evidence.days.size >= 2);
}

/** The number of the day (UTC), for "said on two days". */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}
