import type { SummaryId } from '../../domain/message.ts';
import type {
  AssembleRequest,
  CompactRequest,
  CompactResult,
  ContextEngine,
  FinishedTurn,
  Ingest,
  MaintainRequest,
  MaintainResult,
} from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { planEmergency } from '../cuts/depth.ts';
import { MAX_TAIL_ENTRIES } from '../cuts/plan.ts';
import { isWorkDue, publishesBefore, publishReady, restingTokens } from '../cuts/publish.ts';
import { hasReady, publishedView } from '../cuts/ready.ts';
import { type GapRequest, imaginedGap, MAX_GAPS } from '../cuts/rest.ts';
import { addPassages, withoutPassages } from '../fit/add-passages.ts';
import { HUGE_ASK_SHARE, lighten, reduceIfDue, reduceToFit, shortenAsk, shortenTexts, toAssembly } from '../fit/fit.ts';
import { correctionFor } from '../measure/calibration.ts';
import { tierOf } from '../measure/tiers.ts';
import { spokenTokens } from '../view/cached-head.ts';
import { announceCuts, createFixedPrefixBuilder, type FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { type Fitted, restingView } from '../view/view.ts';
import { createIntake } from './intake.ts';
import { createReducedWindows, type ReducedWindows } from './reduced-windows.ts';
import { statelessMethods } from './stateless-methods.ts';

/** Raw messages, summaries of them, summaries of summaries: the default engine. */
export function createStackedEngine({
  services,
  maintenance,
}: {
  readonly services: Services;
  readonly maintenance: { run(request: MaintainRequest): Promise<MaintainResult> };
}): ContextEngine {
  const gate: Gate = {
    services,
    prefixes: createFixedPrefixBuilder(services, announceCuts(services)),
    reducedWindows: createReducedWindows(),
    openGap: (request, reason) => openGap(services, request, reason),
    publish: (snapshot) => publishReady(services, snapshot),
  };
  const intake = createIntake();
  return {
    ...statelessMethods(intake, gate.reducedWindows),
    info: { id: 'stacked', name: 'Stacked summaries', version: '1', ownsCompaction: true },
    async bootstrap({ conversation }) {
      const bootstrapped = intake.begin(conversation.id, conversation.compactedUpto);
      return { bootstrapped, reason: bootstrapped ? null : 'the conversation is already active' };
    },
    async ingest(ingest) {
      const ingested = intake.take(ingest.snapshot.conversation.id, ingest.seq);
      return { ingested, due: ingested && assess(gate.prefixes, ingest) };
    },
    async assemble(request) {
      const spacious = await withSpace(gate, request);
      return toAssembly(addPassages(gate.prefixes, spacious, request), spacious.request.snapshot);
    },
    afterTurn(turn) {
      const { profile, snapshot, messages } = turn;
      const resting = restingView(profile, snapshot);
      const tokens = messages.reduce((sum, message) => sum + message.tokens, 0);
      const addedTokens = Math.ceil(tokens * correctionFor(snapshot.conversation, profile.modelId));
      // With steps, the request may have been shortened to make room for them.
      const usedTokens = messages.length > 1 ? restingTokens(gate.prefixes, resting) + addedTokens : usedAfter(turn);
      const tier = tierOf(usedTokens / profile.windowTokens, profile.thresholds);
      return { tier, due: isWorkDue(gate.prefixes, resting, { usedTokens, addedTokens }) };
    },
    compact: (request) => compact(gate, request),
    maintain: (work) => maintenance.run(work),
  };
}

/** How a request gets the space that it needs. The engine changes the stored view; a preview only imagines that. */
interface Gate {
  readonly services: Pick<Services, 'store' | 'prices'>;
  readonly prefixes: FixedPrefixBuilder;
  readonly reducedWindows: ReducedWindows;
  /** Removes the oldest half of the tail. Returns the new view, or null if nothing may leave. */
  openGap(request: GapRequest, reason: 'emergency' | 'overflow'): Promise<ContextSnapshot | null>;
  /** Puts the ready summaries into the stack. Null if none has a place. */
  publish(snapshot: ContextSnapshot): Promise<ContextSnapshot | null>;
}

/** What `assemble` would return for the request. Stores nothing: gaps exist only in the result. */
export async function previewStacked(services: Services, request: AssembleRequest): Promise<Fitted> {
  const gate: Gate = {
    services,
    prefixes: createFixedPrefixBuilder(services),
    reducedWindows: createReducedWindows(),
    openGap: async (gap) => imaginedGap(gap),
    publish: async (snapshot) => publishedView(snapshot),
  };
  return addPassages(gate.prefixes, await withSpace(gate, request), request);
}

/** No message leaves the conversation's view for passages, only single requests. */
async function withSpace(gate: Gate, request: AssembleRequest): Promise<Fitted> {
  return await makeRoom(gate, await published(gate, withoutPassages(request)));
}

async function published(gate: Gate, request: AssembleRequest): Promise<AssembleRequest> {
  if (!(await publishesBefore(gate, request))) return request;
  return { ...request, snapshot: (await gate.publish(request.snapshot)) ?? request.snapshot };
}

/** The view after a turn that called no tools. */
function usedAfter({ profile, snapshot, measurement, addedTokens }: FinishedTurn): number {
  const added = Math.ceil(addedTokens * correctionFor(snapshot.conversation, profile.modelId));
  return measurement.used - measurement.volatile + added;
}

function assess(prefixes: FixedPrefixBuilder, { profile, snapshot }: Ingest): boolean {
  const resting = restingView(profile, snapshot);
  const { used } = reduceIfDue(prefixes, resting).measurement;
  return isWorkDue(prefixes, resting, { usedTokens: used, addedTokens: 0 });
}

/**
 * The first reduction; then long texts are shortened, or a newest message that no gap makes fit, if that is enough; then
 * the oldest half of the tail leaves, as often as needed; then the rest is reduced to fit.
 */
async function makeRoom(gate: Gate, request: AssembleRequest): Promise<Fitted> {
  const { windowTokens, thresholds } = request.profile;
  const limitTokens = windowTokens * gate.reducedWindows.shareOf(request);
  const fullTokens = thresholds.emergency * limitTokens;
  let { work, gaps } = await dropHopeless(gate, request, fullTokens);
  let fitted = reduceIfDue(gate.prefixes, work);
  const unseen = () => work.snapshot.omitted.tokens * fitted.correction;
  const isTooMuch = () => fitted.measurement.used + unseen() >= fullTokens;
  const drop = async (full: Fitted) => {
    gaps += 1;
    return gaps > MAX_GAPS ? null : await gate.openGap({ ...work, ...pressureOf(full) }, 'emergency');
  };
  while (isTooMuch() || work.snapshot.omitted.entries > 0) {
    const smaller = isTooMuch() ? shortened(gate, fitted, { limitTokens, fullTokens, unseenTokens: unseen() }) : null;
    if (smaller !== null) return smaller;
    const snapshot = isTooMuch() ? await drop(fitted) : await readOmitted(gate.services, work.snapshot);
    if (snapshot === null) break;
    // What was left out may take more than its estimate: then more has to leave.
    work = { ...work, snapshot };
    fitted = reduceIfDue(gate.prefixes, work);
  }
  return fitted.measurement.used < fullTokens ? fitted : reduceToFit(gate.prefixes, work, limitTokens);
}

/** The view with less next to its newest message, or with shorter texts, if no message has to leave then. */
function shortened(
  { prefixes }: Gate,
  fitted: Fitted,
  { limitTokens, fullTokens, unseenTokens }: Record<'limitTokens' | 'fullTokens' | 'unseenTokens', number>,
): Fitted | null {
  const seenTokens = fullTokens - unseenTokens;
  const shorter =
    lighten(prefixes, fitted, seenTokens) ?? shortenTexts(prefixes, fitted, { limitTokens, fullTokens: seenTokens });
  return shorter ?? (unseenTokens > 0 ? null : shortenAsk(prefixes, fitted, fullTokens));
}

/**
 * Opens the gaps that the stored token counts already prove necessary, so that a history of many megabytes is not
 * rendered repeatedly only to be cut.
 */
async function dropHopeless(gate: Gate, request: AssembleRequest, fullTokens: number) {
  const correction = correctionFor(request.snapshot.conversation, request.profile.modelId);
  let work = request;
  let gaps = 0;
  const newest = request.snapshot.tail.findLast(({ role, seq }) => role === 'user' && seq <= request.readUpto);
  // Of a message that is too large for any view, only so much has to fit.
  const excess = Math.max(0, (newest?.tokens ?? 0) * correction - fullTokens * HUGE_ASK_SHARE);
  const spoken = () => spokenTokens(work.snapshot.tail) * correction - excess;
  while (gaps < MAX_GAPS && spoken() >= fullTokens) {
    const snapshot = await gate.openGap({ ...work, usedTokens: spoken(), correction }, 'emergency');
    if (snapshot === null) break;
    work = { ...work, snapshot };
    gaps += 1;
  }
  return { work, gaps };
}

function pressureOf({ measurement, correction, request }: Fitted): Pick<GapRequest, 'usedTokens' | 'correction'> {
  return { usedTokens: measurement.used + request.snapshot.omitted.tokens * correction, correction };
}

/**
 * Removes the oldest half of the tail from the view without a model. Returns the new view, whoever changed it; null if
 * nothing may leave.
 */
async function openGap(
  services: Services,
  { snapshot, readUpto, now, ...pressure }: GapRequest,
  reason: 'emergency' | 'overflow',
): Promise<ContextSnapshot | null> {
  const published = hasReady(snapshot) ? await publishReady(services, snapshot) : null;
  if (published !== null) return published;
  const { conversation } = snapshot;
  const cut = planEmergency(snapshot, { ...conversation, readUpto }, pressure);
  if (cut === null) return null;
  const outcome = await services.store.summaries.openGap({
    id: services.random.id() as SummaryId,
    conversationId: conversation.id,
    expectedCompactedUpto: conversation.compactedUpto,
    toSeq: cut.toSeq,
    now,
  });
  if (outcome === 'committed') {
    const { fromSeq, toSeq } = cut;
    services.events.emit({ kind: 'gap.opened', conversation: conversation.key, fromSeq, toSeq, reason });
    services.queue.kick(conversation.id);
  }
  return await services.store.transcript.context(conversation.id, { maxEntries: MAX_TAIL_ENTRIES });
}

/** Adds the head of the tail that the snapshot left out: short messages in a large window. */
async function readOmitted({ store }: Pick<Services, 'store'>, snapshot: ContextSnapshot): Promise<ContextSnapshot> {
  const { entries: limit } = snapshot.omitted;
  const firstSeq = snapshot.tail[0]?.seq ?? snapshot.conversation.nextSeq;
  const range = { fromSeq: firstSeq - limit, toSeq: firstSeq - 1, limit };
  const head = await store.transcript.read(snapshot.conversation.id, range);
  return { ...snapshot, tail: [...head, ...snapshot.tail], omitted: { entries: 0, tokens: 0 } };
}

async function compact(gate: Gate, request: CompactRequest): Promise<CompactResult> {
  const { profile, reason } = request;
  const fittedOf = (snapshot: ContextSnapshot) => reduceIfDue(gate.prefixes, restingView(profile, snapshot));
  const used = (snapshot: ContextSnapshot) => fittedOf(snapshot).measurement.used;
  const before = fittedOf(request.snapshot);
  const tokensBefore = before.measurement.used;
  // The provider rejected the size, whatever was estimated: the tier's share leaves.
  const halving = { ...profile, targets: { ...profile.targets, emergency: null } };
  const snapshot = await gate.openGap({ ...request, ...pressureOf(before), profile: halving }, 'overflow');
  const tokensAfter = snapshot === null ? tokensBefore : used(snapshot);
  const result = { ok: true, tokensBefore, tokensAfter, snapshot: snapshot ?? request.snapshot };
  if (tokensAfter < tokensBefore)
    return { ...result, compacted: true, reason: 'the oldest messages were removed from the view' };
  if (reason === 'manual') return { ...result, compacted: false, reason: 'nothing can be removed from the view' };
  return { ...result, ...shortenTurn(gate.reducedWindows, request, tokensBefore) };
}

/** Nothing may leave, but the provider still rejects the size: the turn continues once with half of the window. */
function shortenTurn(reducedWindows: ReducedWindows, request: CompactRequest, tokensBefore: number) {
  if (reducedWindows.shareOf(request) < 1)
    return { compacted: false, reason: 'the running turn cannot be shortened further' };
  const share = reducedWindows.reduce(request);
  const tokensAfter = Math.min(tokensBefore, request.profile.windowTokens * share);
  return { compacted: true, tokensAfter, reason: 'the running turn was shortened internally' };
}
