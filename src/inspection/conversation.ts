import { shownAuthor, shownText } from '../commands/format-entry.ts';
import type { CommandServices } from '../commands/services.ts';
import { type CallBudget, callBudgetOf } from '../compaction/job/call-budget.ts';
import { MAX_RUNS } from '../context/history.ts';
import { parsePrint } from '../context/record/request-print.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { lastFailureOf } from '../conversation/turn/last-failure.ts';
import type { Entry, MemoryId, Role, SeqRange } from '../domain/message.ts';
import { readerIn } from '../memory/rights/policy.ts';
import type { MaintenanceRun } from '../ports/journal.ts';
import { MEMORY_STATES, type MemoryKind, type MemoryState } from '../ports/memory-store.ts';
import type { Conversation } from '../ports/store.ts';
import type { GaugeReading } from './history/gauges.ts';
import {
  growthPerEntry,
  type HistoryInput,
  type Moment,
  momentsOf,
  RECENT,
  sampled,
  within,
} from './history/history.ts';
import { type LayerSpan, layersOf } from './history/layers.ts';
import type { Turn } from './history/turns.ts';
import { turnsUpto, weigh } from './history/turns-upto.ts';
import { type ConversationRow, type OverviewServices, rowOf } from './overview.ts';
import { mayRead, type Viewer } from './viewer.ts';

export interface ConversationViewQuery {
  readonly viewer: Viewer;
  readonly key: string;
  /** The message to look at; null for the newest. */
  readonly atSeq: number | null;
  /** Only moments of this range, and so more of them than otherwise. */
  readonly momentsIn?: SeqRange;
}

/** Everything about one conversation at one moment. */
export interface ConversationView {
  readonly row: ConversationRow;
  readonly mayReadText: boolean;
  /** The range that charts and layers show. */
  readonly shown: SeqRange;
  readonly moments: readonly Moment[];
  /** The view at the chosen message; null without messages. */
  readonly moment: Moment | null;
  readonly isPast: boolean;
  readonly layers: readonly LayerSpan[];
  /** The requests behind the newest replies up to the chosen message, oldest first. */
  readonly turns: readonly Turn[];
  /** Whether the provider has ever reported cached tokens here. */
  readonly reportsCache: boolean;
  /** Without their errors, which may quote what people said, if the viewer may not read it. */
  readonly runs: readonly MaintenanceRun[];
  readonly messages: readonly MessageLine[];
  /** Memories that rest on these messages; empty if the viewer may not read them. */
  readonly memories: readonly MemoryLine[];
  /** Messages until a summary is due at the recent rate; null if the view does not grow. */
  readonly messagesLeft: number | null;
  /** `message` may quote what people said; null if the viewer may not read it. */
  readonly lastFailure: { readonly at: number; readonly message: string | null } | null;
  /** Calls for summaries in this hour. */
  readonly summaryCalls: CallBudget;
}

/** How full the view of a conversation is. Quick to read, and without text. */
export type GaugeView = Pick<ConversationView, 'row' | 'messagesLeft'>;

/** A message in the list of a conversation. */
export interface MessageLine {
  readonly seq: number;
  readonly role: Role;
  /** The name of the author, or only the role if the viewer may not read the text. */
  readonly who: string;
  readonly at: number;
  readonly tokens: number;
  readonly edited: boolean;
  /** Null if the viewer may not read it. */
  readonly text: string | null;
  readonly whereabouts: Whereabouts;
}

/** A memory, with the seqs of its sources in this conversation. */
export interface MemoryLine {
  readonly id: MemoryId;
  readonly kind: MemoryKind;
  readonly state: MemoryState;
  readonly text: string;
  readonly at: number;
  readonly seqs: readonly number[];
}

/** Where the text of a message is now. `since`: when it left the view. */
export type Whereabouts =
  | { readonly kind: 'view' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'deleted'; readonly since: number }
  | { readonly kind: 'summary' | 'gap'; readonly layer: LayerSpan; readonly since: number };

/** Charts look at this many entries; older ones are reached through the address. */
const MAX_ENTRIES = 2000;
const MAX_BARS = 100;
const LINES = 50;
const MAX_MEMORIES = 50;

export async function conversationView(
  services: OverviewServices,
  query: ConversationViewQuery,
): Promise<ConversationView> {
  const conversation = await findConversation(services, query.key);
  const { id, nextSeq } = conversation;
  const newest = nextSeq - 1;
  const atSeq = Math.max(Math.min(1, newest), Math.min(query.atSeq ?? newest, newest));
  const shown = rangeAround(atSeq, newest);
  const runs = await services.store.journal.runs(id, MAX_RUNS);
  const [row, entries, layers, lastFailure, print, summaryCalls] = await Promise.all([
    rowOf(services, conversation, query.viewer),
    services.store.transcript.read(id, { ...shown, limit: MAX_ENTRIES }),
    layersOf(services.store.summaries, { conversationId: id, ...shown, runs }),
    lastFailureOf(services.state, conversation),
    services.store.journal.cache.lastRequest(id).then(parsePrint),
    callBudgetOf(services, conversation),
  ]);
  const mayReadText = mayRead(query.viewer, conversation.audience);
  const lines = linesAround(entries, atSeq);
  const weighed = weigh(entries, services.agents.agentFor(conversation.key).timezone);
  const correction = correctionOf(conversation);
  const moments = historyOf({ row, conversation, entries: weighed, layers });
  const reportsCache = print?.reports === true;
  return {
    row,
    mayReadText,
    shown,
    layers,
    runs: mayReadText ? runs : runs.map((run) => ({ ...run, error: null })),
    lastFailure: lastFailure && { at: lastFailure.at, message: mayReadText ? lastFailure.message : null },
    summaryCalls,
    turns: await turnsUpto(services, { conversation, entries: weighed, layers, atSeq, correction, reportsCache }),
    reportsCache,
    moments: sampled(query.momentsIn === undefined ? moments : within(moments, query.momentsIn), MAX_BARS),
    moment: moments.find(({ seq }) => seq === atSeq) ?? null,
    isPast: atSeq < newest,
    messages: lines.map((entry) => lineOf(entry, { conversation, layers, mayReadText })),
    memories: mayReadText ? await memoriesFrom(services, conversation, lines) : [],
    messagesLeft: messagesLeft(row.reading, growthPerEntry(weighed, correction)),
  };
}

/** How full the view is now, without the rest of the conversation. Figures only. */
export async function gaugeView(
  services: OverviewServices,
  { viewer, key }: Pick<ConversationViewQuery, 'viewer' | 'key'>,
): Promise<GaugeView> {
  const conversation = await findConversation(services, key);
  const { id, nextSeq } = conversation;
  const range = { fromSeq: Math.max(1, nextSeq - RECENT), toSeq: nextSeq - 1, limit: RECENT };
  const [row, entries] = await Promise.all([
    rowOf(services, conversation, viewer),
    services.store.transcript.read(id, range),
  ]);
  const weighed = weigh(entries, services.agents.agentFor(conversation.key).timezone);
  return { row, messagesLeft: messagesLeft(row.reading, growthPerEntry(weighed, correctionOf(conversation))) };
}

function rangeAround(atSeq: number, newest: number): SeqRange {
  const toSeq = Math.min(newest, Math.max(atSeq + MAX_ENTRIES / 4, MAX_ENTRIES));
  return { fromSeq: Math.max(1, toSeq - MAX_ENTRIES + 1), toSeq };
}

function historyOf({
  row,
  conversation,
  entries,
  layers,
}: {
  readonly row: ConversationRow;
  readonly conversation: Conversation;
  readonly entries: HistoryInput['entries'];
  readonly layers: readonly LayerSpan[];
}): readonly Moment[] {
  const { gauge } = row.reading;
  if (gauge === null) return [];
  const { measurement } = gauge;
  const { contextFrom } = conversation;
  return momentsOf({ entries, layers, measurement, contextFrom, correction: correctionOf(conversation) });
}

function correctionOf({ calibration }: Conversation): number {
  return calibration?.ratio ?? 1;
}

function messagesLeft({ gauge }: GaugeReading, growth: number): number | null {
  if (gauge === null || growth <= 0) return null;
  const { window, used, volatile } = gauge.measurement;
  return Math.max(0, Math.floor((window * gauge.thresholds.background - (used - volatile)) / growth));
}

/** The chosen message with those before it, like the end of a chat. */
function linesAround(entries: readonly Entry[], atSeq: number): readonly Entry[] {
  const until = entries.findIndex(({ seq }) => seq === atSeq) + 1;
  return entries.slice(Math.max(0, until - LINES), until);
}

async function memoriesFrom(
  services: CommandServices,
  conversation: Conversation,
  lines: readonly Entry[],
): Promise<readonly MemoryLine[]> {
  const { id } = conversation;
  const seqs = lines.map(({ seq }) => seq);
  if (seqs.length === 0) return [];
  const reader = readerIn(conversation, services);
  const restingOn = { conversationId: id, seqs };
  const found = await services.store.memories.list({
    reader,
    restingOn,
    states: MEMORY_STATES,
    limit: MAX_MEMORIES,
    offset: 0,
  });
  return found.map((memory) => ({
    id: memory.id,
    kind: memory.kind,
    state: memory.state,
    text: memory.text,
    at: memory.createdAt,
    seqs: memory.sources.filter(({ conversationId }) => conversationId === id).map(({ seq }) => seq),
  }));
}

interface LineContext {
  readonly conversation: Conversation;
  readonly layers: readonly LayerSpan[];
  readonly mayReadText: boolean;
}

function lineOf(entry: Entry, { conversation, layers, mayReadText }: LineContext): MessageLine {
  const { seq, role, at, tokens, editedAt } = entry;
  return {
    seq,
    role,
    at,
    tokens,
    edited: editedAt !== null,
    who: mayReadText ? shownAuthor(entry) : role,
    text: mayReadText ? shownText(entry) : null,
    whereabouts: whereaboutsOf(entry, { conversation, layers }),
  };
}

function whereaboutsOf(
  { seq, redactedAt }: Entry,
  { conversation, layers }: Pick<LineContext, 'conversation' | 'layers'>,
): Whereabouts {
  if (redactedAt !== null) return { kind: 'deleted', since: redactedAt };
  if (seq < conversation.contextFrom) return { kind: 'reset' };
  const covering = layers.filter((layer) => layer.fromSeq <= seq && seq <= layer.toSeq);
  const live = covering.find(({ leftAt }) => leftAt === null);
  if (live === undefined) return { kind: 'view' };
  const since = covering.reduce((first, layer) => Math.min(first, layer.since), live.since);
  return { kind: live.kind, layer: live, since };
}
