import { StrataError } from '../../domain/errors.ts';
import type { Author, MemoryId } from '../../domain/message.ts';
import type { Memory, MemoryKind, MemoryState, NewMemory, Trust } from '../../ports/memory-store.ts';
import type { Services } from '../../services.ts';
import { isVisible } from '../../util/text/text.ts';
import { calledIn } from '../people/first-names.ts';
import { createOptOut, type NamingStatement } from '../people/opt-out.ts';
import { isSameName, membersIn, peopleAt, withoutRepetitions } from '../people/people.ts';
import type { Requester } from '../rights/permissions.ts';
import { fingerprintOf } from '../statements/fingerprint.ts';
import { DEFAULT_IMPORTANCE } from '../statements/lifecycle.ts';
import { cleanStatement } from './clean.ts';
import { wordedByHooks } from './hooked.ts';
import { holdsOrder, isOrder } from './orders.ts';
import { type ConcerningStatement, forgottenAmong, rejectedForAll } from './tombstones.ts';

/** What a person asks to remember, in their own words. */
export interface Addition {
  readonly text: string;
  readonly kind?: MemoryKind;
  readonly importance?: number;
  /** Whom it is about; null for nobody in particular. Default: the person named in it, otherwise the one who asks. */
  readonly subject?: Subject;
  /** `global` is only for the operator: readable everywhere. */
  readonly scope?: Memory['scope'];
  readonly by: Requester;
}

type Subject = { readonly id: string | null; readonly name: string } | null;

export type AddResult =
  | { readonly kind: 'added'; readonly memory: Memory }
  /** The existing memory with this statement, which is now active. */
  | { readonly kind: 'known'; readonly memory: Memory }
  /** Forgotten here before, so it is not saved again. */
  | { readonly kind: 'forgotten' };

type AddServices = Pick<Services, 'store' | 'state' | 'random' | 'clock' | 'events' | 'hooks'>;

export async function addMemory(services: AddServices, asked: Addition): Promise<AddResult> {
  const { store, clock } = services;
  const { by } = asked;
  const addition = await hooked(services, asked);
  const others = await othersNamedIn(store, addition.text, by);
  const memory = newMemoryOf(services, { ...addition, subject: subjectFor(addition, others) });
  await assertNobodyPaused(services, { ...memory, isOwn: memory.subjectId === by.author.id }, by);
  const known = await knownAs(services, memory, by);
  if (known !== null) return { kind: 'known', memory: await confirm(services, known, addition) };
  const said = { text: memory.text, people: concernedIn(memory, others, by) };
  if (await isForgotten(services, memory.place, said)) return { kind: 'forgotten' };
  const now = clock.now();
  const saving = {
    conversationId: null,
    writes: [{ kind: 'insert', memory, sources: [] }],
    actor: by.author.id,
    now,
  } as const;
  const [id] = await store.memories.save(saving);
  const saved = id === undefined || id === null ? null : await store.memories.find(id);
  if (saved === null) return { kind: 'forgotten' };
  services.events.emit({ kind: 'memory.saved', conversation: null, ids: [saved.id] });
  return { kind: 'added', memory: saved };
}

async function hooked(services: AddServices, addition: Addition): Promise<Addition> {
  const { kind = null, subject, importance = null } = addition;
  const said = { text: statementOf(addition.text), importance, kind, about: subject?.name ?? null };
  const { text, importance: weight } = await wordedByHooks(services, addition.by, said);
  return { ...addition, text, ...(weight === null ? {} : { importance: weight }) };
}

/** The person present whom the statement names; otherwise the one who asks, or nobody for the operator. */
function subjectFor({ subject, by }: Addition, { named, called }: Named): Subject {
  if (subject !== undefined) return subject;
  const [first] = named;
  if (first !== undefined) {
    const isTwice = named.some(({ id, name }) => id !== first.id && isSameName(name, first.name));
    return { id: isTwice ? null : first.id, name: first.name };
  }
  // Several people may have that first name, but it is not about the person who asks.
  if (called !== null) return { id: null, name: called };
  return by.rights === 'operator' ? null : by.author;
}

/** The people who may have had the statement forgotten earlier. */
export function concernedIn(
  { subjectId }: Pick<Memory, 'subjectId'>,
  { named }: Pick<Named, 'named'>,
  { author }: Requester,
): ConcerningStatement['people'] {
  return [author.id, subjectId, ...named.map(({ id }) => id)];
}

interface Named {
  /** The people present, without the one who asks. */
  readonly named: readonly Author[];
  /** A first name of one of them; null if there is none. */
  readonly called: string | null;
}

/** Whom a text names. */
export async function othersNamedIn(store: AddServices['store'], text: string, by: Requester): Promise<Named> {
  const others = (await concernedPeople(store, by)).filter(({ id }) => id !== by.author.id);
  const isNamed = membersIn(text);
  return { named: others.filter(({ name }) => isNamed(name)), called: calledIn(text, by.author, others) };
}

/** Those whom the person mentions, who may never have spoken there, and those present. */
async function concernedPeople(store: AddServices['store'], { reader, mentions = [] }: Requester) {
  return withoutRepetitions([...mentions, ...(await peopleAt(store, reader.place))]);
}

/** Throws `USAGE` if the text is not a statement, and `COMMAND_FORBIDDEN` if the person may not save it. */
function newMemoryOf(
  { random, clock }: Pick<Services, 'random' | 'clock'>,
  addition: Addition & { readonly subject: Subject },
): NewMemory {
  const { by, subject, scope = 'place' } = addition;
  const text = statementOf(addition.text);
  const isOperator = by.rights === 'operator';
  if (scope === 'global' && !isOperator)
    throw new StrataError('COMMAND_FORBIDDEN', { command: 'memory add', needs: 'operators' });
  const kind = addition.kind ?? (isRule(text, by) ? 'instruction' : 'fact');
  const trust = isOperator ? 'operator' : subject?.id === by.author.id ? 'self' : 'other';
  const isGlobal = scope === 'global';
  return {
    id: random.id() as MemoryId,
    agentId: by.reader.agentId,
    kind,
    text,
    importance: addition.importance ?? DEFAULT_IMPORTANCE[kind],
    confidence: trust === 'other' ? 0.6 : 1,
    scope,
    place: isGlobal ? '' : by.reader.place,
    workspace: isGlobal ? '' : by.reader.workspace,
    audience: isGlobal ? 'public' : by.reader.audience,
    subjectId: subject?.id ?? null,
    subjectName: subject?.name ?? null,
    trust,
    state: stateOf(kind, trust, by),
    pinned: false,
    validFrom: clock.now(),
    validUntil: null,
    fingerprint: fingerprintOf(text),
    extractedBy: null,
  };
}

/** Throws `LEARNING_PAUSED` if the statement is about somebody who paused learning, whoever says it. */
export async function assertNobodyPaused(
  { state, store }: Pick<Services, 'state' | 'store'>,
  statement: NamingStatement & Pick<Memory, 'subjectId'>,
  by: Requester,
): Promise<void> {
  const { reader, author } = by;
  const paused = await createOptOut(state).pausedIn(reader.workspace, await concernedPeople(store, by));
  if (paused.holds(statement.subjectId) && statement.subjectId === author.id) {
    throw new StrataError('LEARNING_PAUSED', { whose: 'you', remedy: 'To resume it, use the command privacy resume.' });
  }
  if (paused.holds(statement.subjectId) || paused.isNamedIn(statement)) {
    throw new StrataError('LEARNING_PAUSED', { whose: 'a person it is about', remedy: 'Only they can resume it.' });
  }
}

async function isForgotten(
  services: Pick<Services, 'store'>,
  place: string,
  statement: ConcerningStatement,
): Promise<boolean> {
  return (await forgottenAmong(services, place, [statement])).size > 0;
}

/** Throws `USAGE`: a statement that was forgotten in a place must not return in other words. */
export async function assertNotForgotten(
  services: Pick<Services, 'store'>,
  place: string,
  statement: ConcerningStatement,
): Promise<void> {
  if (!(await isForgotten(services, place, statement))) return;
  throw new StrataError('USAGE', { problem: 'This was forgotten here before, so it is not stored again.' });
}

/** Maximum characters that a person may save, one Discord message. Statements proposed by models are shorter. */
export const MAX_REMEMBERED = 2_000;

/** One clean line. Throws `USAGE` if it is empty or too long. */
export function statementOf(text: string): string {
  const clean = cleanStatement(text, text);
  if (!isVisible(clean)) throw new StrataError('USAGE', { problem: 'There is no text to remember.' });
  const { length } = [...clean];
  if (length <= MAX_REMEMBERED) return clean;
  const problem = `A memory has at most ${MAX_REMEMBERED} characters, and this text has ${length}. Shorten it, or save it in parts.`;
  throw new StrataError('USAGE', { problem });
}

/** Only people who manage a place may have an order stored in it as part of a statement. */
export function isRule(text: string, by: Requester): boolean {
  return isOrder(text) || (!mayInstruct(by) && holdsOrder(text));
}

function mayInstruct({ rights, reader }: Requester): boolean {
  return rights !== 'member' || reader.audience === 'dm';
}

/** Instructions affect everybody in a place, so only people who manage it may give them. */
export function stateOf(kind: MemoryKind, trust: Trust, by: Requester): MemoryState {
  if (mayInstruct(by)) return 'active';
  return kind !== 'instruction' && trust === 'self' ? 'active' : 'candidate';
}

/** Each person of a place may have the same statement remembered. */
const MAX_EQUAL = 100;

/** The same statement about the same person; otherwise one in these words that was rejected for everybody. */
async function knownAs(
  services: Pick<Services, 'store'>,
  memory: NewMemory,
  { reader }: Requester,
): Promise<Memory | null> {
  const { fingerprint, subjectId } = memory;
  const { memories } = services.store;
  const page = { reader, fingerprints: [fingerprint], limit: MAX_EQUAL, offset: 0 };
  const about = await memories.list(subjectId === null ? page : { ...page, subjectId });
  const known = about.find((other) => other.subjectId === subjectId && isPresent(other, memory));
  if (known !== undefined) return known;
  const rejected = await memories.list({ ...page, states: ['rejected'] });
  return await rejectedForAll(
    services,
    rejected.filter((other) => isPresent(other, memory)),
  );
}

function isPresent(other: Memory, memory: NewMemory): boolean {
  return (
    other.scope === memory.scope &&
    other.place === memory.place &&
    other.agentId === memory.agentId &&
    other.state !== 'superseded'
  );
}

/** A candidate becomes active if the person may decide about it. */
async function confirm({ store, clock }: AddServices, known: Memory, { by }: Addition): Promise<Memory> {
  const state = stateOf(known.kind, known.subjectId === by.author.id ? 'self' : 'other', by);
  if (known.state !== 'candidate' || state !== 'active') return known;
  const event = { kind: 'promoted', at: clock.now(), actor: by.author.id, detail: null } as const;
  await store.memories.change(known.id, { state }, event);
  return { ...known, state };
}
