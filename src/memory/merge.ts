import type { Entry } from '../domain/message.ts';
import type { Memory, MemoryEvent, MemoryWrite, NewMemory, Trust } from '../ports/memory-store.ts';
import { contradicts } from './attribute.ts';
import { fingerprintOf, isNearDuplicate, meaningOf } from './fingerprint.ts';
import { dayOf, mayPromote } from './lifecycle.ts';

/** An admitted candidate: the memory to store, and its sources. */
export interface Statement {
  readonly memory: NewMemory;
  readonly sources: readonly Entry[];
  /** Id of the memory that the model called outdated. */
  readonly supersedes: string | null;
}

/**
 * Merges the statements of one answer: equal ones become one, and of two that contradict each other the later stays.
 */
export function settle(statements: readonly Statement[]): readonly Statement[] {
  const merged: Statement[] = [];
  for (const statement of statements) {
    const at = merged.findIndex((other) => isSame(statement.memory, other.memory));
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

/** The existing memory with the same statement, whatever its state. A superseded statement may become true again. */
export function twinOf(memory: NewMemory, known: readonly Memory[]): Memory | null {
  const living = known.filter((other) => other.state !== 'superseded');
  return (
    living.find((other) => other.fingerprint === memory.fingerprint) ??
    living.find((other) => isSame(memory, other)) ??
    null
  );
}

/** The existing memory that the statement makes outdated: named by the model, or found by its attribute. */
export function outdatedBy(statement: Statement, known: readonly Memory[]): Memory | null {
  const open = known.filter((old) => mayReplace(statement.memory, old));
  const named = open.find((old) => old.id === statement.supersedes && isRelated(statement.memory, old));
  return named ?? open.find((old) => contradictsMemory(statement.memory, old)) ?? null;
}

/**
 * What repeating a known memory adds: the new sources, and whether they make it active. Null if there is no new source.
 * If the bot repeats what it recalled, that does not count: a memory based on it would outlive its original message.
 */
export function corroboration(
  twin: Memory,
  statement: Statement,
  facts: { readonly conversationId: number; readonly events: readonly MemoryEvent[]; readonly now: number },
): MemoryWrite | null {
  const { conversationId } = facts;
  const isKnown = (seq: number) => twin.sources.some((old) => old.conversationId === conversationId && old.seq === seq);
  const fresh = statement.sources.filter((entry) => !isKnown(entry.seq));
  if (!hasPerson(fresh)) return null;
  const evidence = {
    conversations: new Set([...twin.sources.map((old) => old.conversationId), conversationId]),
    days: new Set([dayOf(twin.validFrom), ...fresh.map((entry) => dayOf(entry.at))]),
    saidBySubject: statement.memory.state === 'active',
    saidByPerson: statement.memory.trust !== 'inferred',
    demotedAt: demotedAt(facts.events),
  };
  const promote = mayPromote(twin, evidence, facts.now);
  return { kind: 'corroborate', id: twin.id, sources: fresh.map((entry) => entry.seq), promote };
}

/** A demotion is recorded as an edit that says so: see `service.ts`. */
function demotedAt(events: readonly MemoryEvent[]): number | null {
  const times = events.flatMap(({ at, detail }) => {
    const isDemotion = typeof detail === 'object' && detail !== null && 'transition' in detail;
    return isDemotion && detail.transition === 'demote' ? [at] : [];
  });
  return times.length === 0 ? null : Math.max(...times);
}

type Said = Pick<Memory, 'text' | 'fingerprint' | 'subjectId' | 'subjectName' | 'kind'>;

function isSame(a: Said, b: Said): boolean {
  if (a.fingerprint === b.fingerprint) return true;
  return sameSubject(a, b) && isNearDuplicate(a.text, b.text);
}

function sameSubject(a: Said, b: Said): boolean {
  if (a.subjectId !== null && b.subjectId !== null) return a.subjectId === b.subjectId;
  return fingerprintOf(a.subjectName ?? '') === fingerprintOf(b.subjectName ?? '');
}

function overrules(later: Statement, earlier: Statement): boolean {
  if (later === earlier || later.memory.validFrom <= earlier.memory.validFrom) return false;
  return sameSubject(later.memory, earlier.memory) && contradicts(later.memory.text, earlier.memory.text);
}

const RANK: Readonly<Record<Trust, number>> = { inferred: 0, other: 1, self: 2, operator: 2 };

/** A statement that is less trusted, older or not yet active replaces nothing, and nothing replaces a pinned memory. */
function mayReplace(memory: NewMemory, old: Memory): boolean {
  const isLive = old.state === 'active' || old.state === 'candidate';
  const isStronger = RANK[memory.trust] >= RANK[old.trust] && (memory.state === 'active' || old.state === 'candidate');
  return isLive && isStronger && !old.pinned && memory.validFrom >= old.validFrom && old.scope === memory.scope;
}

function isRelated(memory: NewMemory, old: Memory): boolean {
  return sameSubject(memory, old) && meaningOf(memory.text).intersection(meaningOf(old.text)).size > 0;
}

function contradictsMemory(memory: NewMemory, old: Memory): boolean {
  return sameSubject(memory, old) && contradicts(memory.text, old.text);
}
