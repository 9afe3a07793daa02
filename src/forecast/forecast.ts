import { type BuiltInEngine, dropsOldest } from '../config/known.ts';
import { imaginedGap, MAX_GAPS } from '../context/cuts/rest.ts';
import { firstKept, reservedTokens } from '../context/view/order.ts';
import type { Entry } from '../domain/message.ts';
import type { TokenCounts } from '../ports/model.ts';
import { yieldToEventLoop } from '../util/async/event-loop.ts';
import { createEvidenceCounter, type EvidenceContext, type EvidenceCount } from './evidence.ts';
import { type MaintainContext, type MaintenanceTotals, maintain } from './maintain.ts';
import { createRequestCount, type RequestContext, type Requests } from './requests.ts';
import { type Moment, measureAt, snapshotAt } from './view.ts';

export interface ForecastContext extends MaintainContext, RequestContext, EvidenceContext {
  readonly engine: BuiltInEngine;
  /** Tokens that the summarising model counts for each estimated one. */
  readonly summaryRatio: number;
  /** As `costOfReply`, of a call that summarises. */
  costOfSummary(tokens: TokenCounts, at: number): number | null;
  /** Default: 60. */
  readonly points?: number | undefined;
}

/** What a recorded conversation would have been like under some settings. */
export interface Forecast extends Requests {
  readonly engine: ForecastContext['engine'];
  readonly windowTokens: number;
  readonly messages: number;
  /** Summaries of messages, and summaries of summaries. */
  readonly compactions: number;
  readonly condensations: number;
  /** Cuts without a model. */
  readonly emergencies: number;
  readonly summariserTokens: { readonly input: number; readonly output: number };
  /** Null if a price is unknown. */
  readonly costUsd: number | null;
  /** Of what was asked about the past. */
  readonly evidence: EvidenceCount;
  readonly peakTokens: number;
  readonly meanTokens: number;
  /** The largest views in the order of the messages, one for each of at most `points` equal parts. */
  readonly view: readonly ViewPoint[];
}

export interface ViewPoint {
  readonly seq: number;
  readonly usedTokens: number;
  /** Summaries since the point before, of messages or of summaries, and cuts without a model. */
  readonly summaries: number;
  readonly emergencies: number;
}

const MAX_POINTS = 60;

/** Entries that are played in one go. */
const SLICE = 200;

/** Plays a recorded conversation under the settings, without a model. The bot gets a turn every now and then. */
export async function forecast(context: ForecastContext): Promise<Forecast> {
  const { recording, profile, engine } = context;
  const drops = dropsOldest(context);
  const { entries } = recording;
  const upkeep: MaintenanceTotals = { compactions: 0, condensations: 0, inputTokens: 0, outputTokens: 0 };
  const requests = createRequestCount(context);
  const evidence = createEvidenceCounter(context);
  const seen: ViewPoint[] = [];
  let emergencies = 0;
  let moment: Moment = { start: 0, end: 0, stack: [] };
  const look = (): void => {
    const usedTokens = Math.min(measureAt(context, moment).used, profile.windowTokens);
    const summaries = upkeep.compactions + upkeep.condensations;
    seen.push({ seq: entries[moment.end - 1]?.seq ?? 0, usedTokens, summaries, emergencies });
  };
  for (const [index, entry] of entries.entries()) {
    if (index % SLICE === 0) await yieldToEventLoop();
    if (entry.role === 'assistant') {
      const fitted = drops ? { moment: slid(context, moment), gaps: 0 } : withRoom(context, moment);
      moment = fitted.moment;
      emergencies += fitted.gaps;
      requests.add(entry, moment);
      look();
    }
    evidence.add(entry, moment);
    moment = { ...moment, end: index + 1 };
    if (!isSettled(entry, entries[index + 1])) continue;
    moment = drops ? slid(context, moment) : maintain(context, moment, upkeep);
    look();
  }
  const { compactions, condensations } = upkeep;
  const input = Math.round(upkeep.inputTokens * context.summaryRatio);
  const output = Math.round(upkeep.outputTokens * context.summaryRatio);
  const at = entries.at(-1)?.at ?? 0;
  const cost = context.costOfSummary({ ...NO_TOKENS, inputTokens: input, outputTokens: output }, at);
  const replies = requests.result();
  return {
    ...replies,
    engine,
    windowTokens: profile.windowTokens,
    messages: entries.length,
    compactions,
    condensations,
    emergencies,
    summariserTokens: { input, output },
    costUsd: replies.costUsd === null || cost === null ? null : replies.costUsd + cost,
    evidence: evidence.result(),
    peakTokens: seen.reduce((most, { usedTokens }) => Math.max(most, usedTokens), 0),
    meanTokens: Math.round(seen.reduce((sum, { usedTokens }) => sum + usedTokens, 0) / Math.max(1, seen.length)),
    view: largestOf(seen, context.points ?? MAX_POINTS),
  };
}

const NO_TOKENS: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** A reply follows, or the turn goes on: only then is the view not checked. */
function isSettled({ role }: Entry, next: Entry | undefined): boolean {
  if (next === undefined || next.role === 'user' || next.role === 'notice') return true;
  return role === 'assistant' && next.role === 'assistant';
}

/** The moment with gaps where the view would reach the emergency threshold. */
function withRoom(context: ForecastContext, before: Moment): { readonly moment: Moment; readonly gaps: number } {
  const { profile, correction, recording } = context;
  let moment = before;
  for (let gaps = 0; gaps < MAX_GAPS; gaps += 1) {
    const usedTokens = measureAt(context, moment).used;
    if (usedTokens < profile.thresholds.emergency * profile.windowTokens) return { moment, gaps };
    const snapshot = snapshotAt(context, moment);
    const readUpto = snapshot.conversation.nextSeq - 1;
    const after = imaginedGap({ snapshot, readUpto, now: 0, profile, usedTokens, correction });
    if (after === null) return { moment, gaps };
    moment = { ...moment, start: after.conversation.compactedUpto + 1 - recording.firstSeq, stack: after.stack };
  }
  return { moment, gaps: MAX_GAPS };
}

/** The view of a sliding window starts at the first position that keeps it below the first threshold. */
function slid(context: ForecastContext, moment: Moment): Moment {
  const { profile, correction, recording } = context;
  const isFitting = (of: Moment) => measureAt(context, of).used < profile.thresholds.background * profile.windowTokens;
  if (isFitting(moment)) return moment;
  const { conversation, tail } = snapshotAt(context, moment);
  const limits = { ...conversation, reservedTokens: reservedTokens(profile, correction) };
  const end = firstKept(tail, limits) - recording.firstSeq;
  let fitted = moment;
  for (let at = indexAfter(recording.starts, moment.start); at < recording.starts.length; at += 1) {
    const start = recording.starts[at] ?? end + 1;
    if (start > end) break;
    fitted = { ...moment, start };
    if (isFitting(fitted)) break;
  }
  return fitted;
}

/** Index of the first of the ascending numbers that is above the value. */
function indexAfter(numbers: readonly number[], value: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((numbers[middle] ?? 0) > value) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The counts of `seen` are totals; those of a point are the differences to the one before. */
function largestOf(seen: readonly ViewPoint[], points: number): readonly ViewPoint[] {
  const count = Math.min(points, seen.length);
  let done = { summaries: 0, emergencies: 0 };
  return Array.from({ length: count }, (_, index) => {
    const from = Math.ceil((index * seen.length) / count);
    const part = seen.slice(from, Math.max(from + 1, Math.ceil(((index + 1) * seen.length) / count)));
    const largest = part.reduce((most, look) => (look.usedTokens > most.usedTokens ? look : most));
    const last = part.at(-1) ?? largest;
    const since = { summaries: last.summaries - done.summaries, emergencies: last.emergencies - done.emergencies };
    done = last;
    return { seq: largest.seq, usedTokens: largest.usedTokens, ...since };
  });
}
