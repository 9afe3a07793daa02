import type { Author, Entry } from '../../domain/message.ts';
import type { Memory, MemoryEvent, MemoryWrite, NewMemory, Trust } from '../../ports/memory-store.ts';
import { memoize } from '../../util/async/memoize.ts';
import { isCalled } from '../people/first-names.ts';
import { fingerprintOf, isNearDuplicate, isRewording, meaningOf } from '../statements/fingerprint.ts';
import { dayOf, mayPromote } from '../statements/lifecycle.ts';
import { contradicts } from './attribute.ts';

/** An admitted candidate: the memory to store, and its sources. */
export interface Statement {
  readonly memory: NewMemory;
  readonly sources: readonly Entry[];
  /** Id of the memory that the model called outdated. */
  readonly supersedes: string | null;
}

/**
 * Merges the statements of one answer: equal ones become one, and of two that contradict each other the later stays,
 * unless it is less trusted.
 */
export function settle(statements: readonly Statement[]): readonly Statement[] {
  const merged: Statement[] = [];
  for (const statement of statements) {
    const at = merged.findIndex((other) => isSame(saidIn(statement), saidIn(other)));
    const twin = merged[at];
    if (twin) merged[at] = joined(twin, statement);
    else merged.push(statement);
  }
  return merged.filter((one) => !merged.some((other) => overrules(other, one)));
}

/** One statement, proposed twice. A repetition by the bot is its own echo and no evidence next to a person's words. */
function joined(one: Statement, other: Statement): Statement {
  if (hasPerson(one.sources) && !hasPerson(other.sources)) return one;
  if (hasPerson(other.sources) && !hasPerson(one.sources)) return other;
  return { ...one, sources: [...new Set([...one.sources, ...other.sources])] };
}

function hasPerson(sources: readonly Entry[]): boolean {
  return sources.some((entry) => entry.role === 'user');
}

/**
 * The existing memory with the same statement, whatever its state. A superseded statement may become true again. The
 * same words of or about somebody else are another statement, because that person may change and forget it.
 */
export function twinOf(statement: Statement, known: readonly Memory[]): Memory | null {
  const said = saidIn(statement);
  const alike = known.filter((other) => other.state !== 'superseded' && isSame(said, saidBy(other)));
  return alike.find((other) => other.fingerprint === said.fingerprint) ?? alike[0] ?? null;
}

/** Rejected memories in the same words, about whomever. */
export function rejectedLike({ memory }: Statement, known: readonly Memory[]): readonly Memory[] {
  return known.filter((other) => other.state === 'rejected' && isNearDuplicate(memory.text, other.text));
}

/** The existing memory that the statement makes outdated: named by the model, or found by its attribute. */
export function outdatedBy(statement: Statement, known: readonly Memory[]): Memory | null {
  const open = known.filter((old) => mayReplace(statement.memory, old));
  const named = open.find((old) => old.id === statement.supersedes && isRelated(statement.memory, old));
  return named ?? open.find((old) => contradictsMemory(statement.memory, old)) ?? null;
}

/** One memory changes once per answer. A second statement that outdates it is stored next to the first one. */
export function besides(writes: readonly MemoryWrite[], write: MemoryWrite): readonly MemoryWrite[] {
  if (write.kind === 'insert' || !writes.some((other) => other.kind !== 'insert' && other.id === write.id))
    return [write];
  const { kind, sources } = write;
  return kind === 'supersede' ? [{ kind: 'insert', memory: write.memory, sources }] : [];
}

/**
 * What repeating a known memory adds: the new sources, and whether they make it active. Null if there is no new source.
 * If the bot repeats what it recalled, that does not count: a memory based on it would outlive its original message.
 */
export function corroboration(twin: Memory, statement: Statement, facts: RepetitionFacts): MemoryWrite | null {
  const { conversationId } = facts;
  const isKnown = (seq: number) => twin.sources.some((old) => old.conversationId === conversationId && old.seq === seq);
  const fresh = statement.sources.filter((entry) => !isKnown(entry.seq));
  if (!hasPerson(fresh)) return null;
  const evidence = {
    conversations: new Set([...twin.sources.map((old) => old.conversationId), conversationId]),
    days: new Set([dayOf(twin.validFrom), ...fresh.map((entry) => dayOf(entry.at))]),
    saidBySubject: statement.memory.state === 'active',
    saidByPerson: statement.memory.trust !== 'inferred',
    isHearsay: isAboutMember(statement.memory, facts.people) && !isSaidByMore(twin, facts.speakers, fresh),
    demotedAt: demotedAt(facts.events),
  };
  const promote = mayPromote(twin, evidence, facts.now);
  return { kind: 'corroborate', id: twin.id, sources: fresh.map((entry) => entry.seq), promote };
}

interface RepetitionFacts {
  readonly conversationId: number;
  readonly events: readonly MemoryEvent[];
  /** The ids of the people who said it so far. */
  readonly speakers: readonly string[];
  /** Everybody who is known in the place. */
  readonly people: readonly Author[];
  readonly now: number;
}

/** With two people of one name, or only a first name, a statement is stored about nobody. */
function isAboutMember({ subjectId, subjectName }: About, people: readonly Author[]): boolean {
  if (subjectId !== null || subjectName === null) return subjectId !== null;
  return people.some(({ name }) => isCalled(name, subjectName));
}

/** By at least two people, or by the person it is about. */
function isSaidByMore({ subjectId }: Memory, before: readonly string[], fresh: readonly Entry[]): boolean {
  const now = peopleAmong(fresh);
  return new Set([...before, ...now]).size > 1 || (subjectId !== null && now.includes(subjectId));
}

/** The ids of the people among the authors: anybody may have a webhook repeat what they say. */
export function peopleAmong(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(({ role, author }) => (role === 'user' && author?.kind === 'person' ? [author.id] : []));
}

/** A demotion is recorded as an edit that says so: see `memory/service.ts`. */
function demotedAt(events: readonly MemoryEvent[]): number | null {
  const times = events.flatMap(({ at, detail }) => {
    const isDemotion = typeof detail === 'object' && detail !== null && 'transition' in detail;
    return isDemotion && detail.transition === 'demote' ? [at] : [];
  });
  return times.length === 0 ? null : Math.max(...times);
}

type About = Pick<Memory, 'subjectId' | 'subjectName'>;

interface Said extends About, Pick<Memory, 'text' | 'fingerprint'> {
  /** The person it is about; without one, the person who alone said it. */
  readonly ownerId: string | null;
  /** Only the bot said it. */
  readonly isEcho: boolean;
}

/** All statements of an answer are compared with each other, and each may have hundreds of sources. */
const saidIn = memoize(({ memory, sources }: Statement): Said => {
  const people = sources.flatMap(({ role, author }) => (role === 'user' && author !== null ? [author.id] : []));
  return { ...memory, ownerId: memory.subjectId ?? onlyOf(people), isEcho: people.length === 0 };
}, new WeakMap());

function saidBy(memory: Memory): Said {
  const people = memory.sources.flatMap(({ authorId }) => authorId ?? []);
  const isEcho = people.length === 0 && (memory.sources.length > 0 || memory.subjectId === null);
  return { ...memory, ownerId: memory.subjectId ?? onlyOf(people), isEcho };
}

function onlyOf(ids: readonly string[]): string | null {
  const [first = null, ...others] = new Set(ids);
  return others.length === 0 ? first : null;
}

function isSame(a: Said, b: Said): boolean {
  const isEqual = a.fingerprint === b.fingerprint;
  if (sameSubject(a, b)) return isEqual || isRewording(a.text, b.text);
  return isEqual && (a.isEcho || b.isEcho || (a.ownerId !== null && a.ownerId === b.ownerId));
}

function sameSubject(a: About, b: About): boolean {
  if (a.subjectId !== null && b.subjectId !== null) return a.subjectId === b.subjectId;
  return fingerprintOf(a.subjectName ?? '') === fingerprintOf(b.subjectName ?? '');
}

function overrules(later: Statement, earlier: Statement): boolean {
  if (later === earlier || later.memory.validFrom <= earlier.memory.validFrom) return false;
  if (!isStrongEnough(later.memory, earlier.memory)) return false;
  return sameSubject(later.memory, earlier.memory) && contradicts(later.memory.text, earlier.memory.text);
}

const RANK: Readonly<Record<Trust, number>> = { inferred: 0, other: 1, self: 2, operator: 2 };

/** A statement that is less trusted, older or not yet active replaces nothing, and nothing replaces a pinned memory. */
function mayReplace(memory: NewMemory, old: Memory): boolean {
  const isLive = old.state === 'active' || old.state === 'candidate';
  const isLater = memory.validFrom >= old.validFrom;
  return isLive && isStrongEnough(memory, old) && !old.pinned && isLater && old.scope === memory.scope;
}

/** Hearsay does not supersede what people say about themselves, nor a candidate a memory that is recalled. */
function isStrongEnough(memory: Standing, old: Standing): boolean {
  return RANK[memory.trust] >= RANK[old.trust] && (memory.state === 'active' || old.state === 'candidate');
}

type Standing = Pick<Memory, 'trust' | 'state'>;

function isRelated(memory: NewMemory, old: Memory): boolean {
  return sameSubject(memory, old) && meaningOf(memory.text).intersection(meaningOf(old.text)).size > 0;
}

function contradictsMemory(memory: NewMemory, old: Memory): boolean {
  return sameSubject(memory, old) && contradicts(memory.text, old.text);
}
