import type { AgentSettings } from '../../config/schema.ts';
import { placeOf, workspaceOf } from '../../domain/key.ts';
import { type Audience, type Author, type Entry, type MemoryId, textOf, tighter } from '../../domain/message.ts';
import type { Memory, MemoryWrite, NewMemory } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { createOptOut } from '../people/opt-out.ts';
import { peopleAt, withoutRepetitions } from '../people/people.ts';
import { fingerprintOf } from '../statements/fingerprint.ts';
import {
  byImportance,
  importanceOf,
  isOneTooMany,
  MAX_STATEMENT,
  type MemoryCandidate,
  maxConsidered,
} from './candidate.ts';
import { cleanStatement, isIdle } from './clean.ts';
import { throughMemoryHooks } from './hooked.ts';
import { withoutKeptOut } from './kept-out.ts';
import { historyOf, knownLike } from './known.ts';
import { besides, corroboration, outdatedBy, rejectedLike, type Statement, settle, twinOf } from './merge.ts';
import { namesOf, type Provenance, peopleOf, provenanceOf, readCited } from './provenance.ts';
import { concernedBy, forgottenAmong, rejectedForAll } from './tombstones.ts';

export interface AdmissionRequest {
  readonly conversation: Conversation;
  readonly agent: AgentSettings;
  readonly candidates: readonly MemoryCandidate[];
  /** The entries that the model was shown, the only possible sources. */
  readonly entries: readonly Entry[];
  readonly model: string;
  readonly promptHash: string;
  /** The watermark. At least one source must be newer or edited. */
  readonly extractedUpto: number;
}

interface PlacedRequest extends AdmissionRequest {
  /** Who speaks or is mentioned in the entries, or was lately in the place. */
  readonly people: readonly Author[];
}

export interface Admission {
  readonly writes: readonly MemoryWrite[];
  readonly refused: readonly Refusal[];
}

export interface Refusal {
  /** One sentence, without the text. */
  readonly reason: string;
}

/**
 * Decides which of a model's proposals are saved. Trust, audience and state are set here from who said it about whom,
 * never by the model. Reads the store and writes nothing.
 */
export async function admitCandidates(
  services: Pick<Services, 'store' | 'search' | 'state' | 'random' | 'clock' | 'hooks'>,
  proposed: AdmissionRequest,
): Promise<Admission> {
  const ranked = byImportance(proposed.candidates);
  const considered = ranked.slice(0, maxConsidered(proposed.entries));
  const refused: Refusal[] = ranked.slice(considered.length).map(() => TOO_MANY);
  const present = considered.length === 0 ? [] : await peopleAt(services.store, placeOf(proposed.conversation.key));
  const people = withoutRepetitions([...peopleOf(proposed.entries), ...present]);
  const request = {
    ...proposed,
    people,
    candidates: await hooked(services, { ...proposed, candidates: considered }, refused),
  };
  await readCited(request);
  const accepted = await withoutPaused(services, request, {
    accepted: await accept(services, request, refused),
    refused,
  });
  const statements = settle(accepted);
  const forgotten = await forgottenIn(services, request, statements);
  const writes: MemoryWrite[] = [];
  for (const statement of statements) {
    const decision = forgotten.has(statement)
      ? { reason: 'it was forgotten here' }
      : await decide(services, request, statement);
    if ('reason' in decision) refused.push(decision);
    else if (isOneTooMany(request.entries, writes, decision)) refused.push(TOO_MANY);
    else writes.push(...besides(writes, decision));
  }
  return { writes, refused };
}

const TOO_MANY: Refusal = { reason: 'too many statements at once' };

async function forgottenIn(
  services: Pick<Services, 'store'>,
  { conversation: { key }, people }: PlacedRequest,
  statements: readonly Statement[],
): Promise<ReadonlySet<Statement>> {
  const concerning = statements.map((statement) => {
    const { memory, sources } = statement;
    return { statement, text: memory.text, people: concernedBy(memory, sources, people) };
  });
  const found = await forgottenAmong(services, placeOf(key), concerning);
  return new Set([...found].map(({ statement }) => statement));
}

async function hooked(
  services: Pick<Services, 'hooks'>,
  { conversation: { key, audience }, agent, candidates }: AdmissionRequest,
  refused: Refusal[],
): Promise<readonly MemoryCandidate[]> {
  const place = { place: placeOf(key), agentId: agent.id, audience, origin: 'model' } as const;
  const results = await Promise.all(
    candidates.map(async (candidate) => {
      const { kind, about = null, text, importance = null } = candidate;
      const result = await throughMemoryHooks(services, { ...place, kind, about }, { text, importance });
      if (result.kind === 'save') return [{ ...candidate, text: result.text, importance: result.importance }];
      refused.push({ reason: `a hook refused it: ${result.reason}` });
      return [];
    }),
  );
  return results.flat();
}

/** Removes statements about people who have paused learning, or had when it was said, whoever said them. */
async function withoutPaused(
  services: Pick<Services, 'state'>,
  { conversation: { key }, people }: PlacedRequest,
  { accepted, refused }: { readonly accepted: readonly Statement[]; readonly refused: Refusal[] },
): Promise<readonly Statement[]> {
  if (accepted.length === 0) return [];
  const paused = await createOptOut(services.state).pausedIn(workspaceOf(key), people);
  return accepted.filter(({ memory, sources }) => {
    const then = paused.orAt(sources.flatMap(({ at, editedAt }) => (editedAt === null ? [at] : [at, editedAt])));
    const speakers = sources.map((entry) => entry.author?.id ?? null);
    const isOwn = memory.subjectId !== null && speakers.every((id) => id === memory.subjectId);
    const concerns =
      [memory.subjectId, ...speakers].some((id) => then.holds(id)) || then.isNamedIn({ ...memory, isOwn });
    if (concerns) refused.push({ reason: 'the person it is about paused learning' });
    return !concerns;
  });
}

/** The write for one statement: insert, confirm or supersede. */
async function decide(
  services: Pick<Services, 'store' | 'search' | 'clock'>,
  request: PlacedRequest,
  statement: Statement,
): Promise<MemoryWrite | Refusal> {
  const known = await knownLike(services, request, statement);
  const { memory } = statement;
  const twin = twinOf(statement, known);
  if (twin?.state === 'rejected' || (await rejectedForAll(services, rejectedLike(statement, known))) !== null) {
    return { reason: 'a person marked it as wrong' };
  }
  if (twin) {
    const { conversation, people } = request;
    const history = await historyOf(services.store, twin);
    const facts = { ...history, conversationId: conversation.id, people, now: services.clock.now() };
    return corroboration(twin, statement, facts) ?? { reason: 'it is already known from the same messages' };
  }
  const sources = statement.sources.map((entry) => entry.seq);
  const outdated = outdatedBy(statement, known);
  return outdated ? { kind: 'supersede', id: outdated.id, memory, sources } : { kind: 'insert', memory, sources };
}

/** Each statement may cite hundreds of messages, and is compared with them in its own turn of the event loop. */
async function accept(
  services: Pick<Services, 'random'>,
  request: PlacedRequest,
  refused: Refusal[],
): Promise<readonly Statement[]> {
  const accepted: Statement[] = [];
  for (const candidate of byImportance(request.candidates)) {
    await yieldToEventLoop();
    const result = acceptOne(services, request, candidate);
    if ('reason' in result) refused.push(result);
    else accepted.push(result);
  }
  return accepted;
}

function acceptOne(
  services: Pick<Services, 'random'>,
  request: PlacedRequest,
  candidate: MemoryCandidate,
): Statement | Refusal {
  const sources = sourcesOf(candidate, request.entries);
  if (sources === null) return { reason: 'a source is not a message of its transcript' };
  if (sources.length === 0) return { reason: 'it has no source' };
  if (!sources.some((entry) => entry.seq > request.extractedUpto || entry.editedAt !== null)) {
    return { reason: 'its sources were already extracted' };
  }
  const text = cleanStatement(candidate.text, sources.map((entry) => textOf(entry.parts)).join('\n'));
  if ([...text].length > MAX_STATEMENT) return { reason: 'it is too long for one statement' };
  if (isIdle(text)) return { reason: 'it is small talk or a passing state' };
  const open = withoutKeptOut(text, { sources, entries: request.entries, names: namesOf(request.people) });
  if (open.length === 0) return { reason: 'a person asked not to remember it' };
  const provenance = provenanceOf(candidate, { text, sources: open }, request);
  if ('reason' in provenance) return provenance;
  const memory = memoryOf(services, request, { candidate, text, provenance });
  return { memory, sources: provenance.sources, supersedes: candidate.supersedes ?? null };
}

/** Null if one of the numbers cannot be a source: made up, a tool result, a notice, or deleted. */
function sourcesOf(candidate: MemoryCandidate, entries: readonly Entry[]): readonly Entry[] | null {
  const seqs = [...new Set(candidate.sources)].sort((a, b) => a - b);
  const sources = seqs.flatMap((seq) => entries.filter((entry) => entry.seq === seq && isRawText(entry)));
  return sources.length === seqs.length ? sources : null;
}

function isRawText(entry: Entry): boolean {
  const spoken = entry.role === 'user' || entry.role === 'assistant';
  return spoken && entry.redactedAt === null && textOf(entry.parts).trim() !== '';
}

function memoryOf(
  services: Pick<Services, 'random'>,
  request: AdmissionRequest,
  accepted: { readonly candidate: MemoryCandidate; readonly text: string; readonly provenance: Provenance },
): NewMemory {
  const { candidate, text, provenance } = accepted;
  return {
    id: services.random.id() as MemoryId,
    agentId: request.agent.id,
    kind: candidate.kind,
    text,
    importance: importanceOf(candidate),
    confidence: CONFIDENCE[provenance.trust],
    scope: 'place',
    place: placeOf(request.conversation.key),
    workspace: workspaceOf(request.conversation.key),
    audience: capturedAudience(request.conversation, provenance.sources),
    subjectId: provenance.subject?.id ?? null,
    subjectName: provenance.subject?.name ?? null,
    trust: provenance.trust,
    state: provenance.state,
    pinned: false,
    validFrom: Math.max(...provenance.sources.map((entry) => entry.at)),
    validUntil: null,
    fingerprint: fingerprintOf(text),
    extractedBy: { model: request.model, promptHash: request.promptHash },
  };
}

/** A source from before the place had its present audience keeps the narrowest audience so far. */
function capturedAudience(
  { audience, tightestAudience, audienceFrom }: Conversation,
  sources: readonly Entry[],
): Audience {
  return sources.every(({ seq }) => seq >= audienceFrom) ? audience : tighter(audience, tightestAudience);
}

const CONFIDENCE: Readonly<Record<Memory['trust'], number>> = { operator: 1, self: 0.9, other: 0.6, inferred: 0.4 };
