import type { Entry } from '../../domain/message.ts';
import type { ContextProfile, Tier } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { CUT_FRACTIONS } from '../measure/tiers.ts';
import { type CutLimits, reservedTokens } from '../view/order.ts';
import { type Cut, type CutRequest, planCut } from './plan.ts';

/** Share of the window for new talk that a compaction leaves below the background threshold. */
export const HEADROOM = 0.05;
/** The planned share is larger: a cut falls between messages, and nobody knows the length of a summary in advance. */
const PLANNED_HEADROOM = 0.09;
/** The planned share where the provider caches prefixes: every compaction costs one, so they are fewer and deeper. */
const CACHED_HEADROOM = 0.22;
const LARGE_CACHED_HEADROOM = 0.28;
const LARGE_WINDOW = 20_000;
/** A call's instructions take about 700 tokens, so in a small window a compaction frees more of it at once. */
const MIN_PLANNED_TOKENS = 240;
/** A summary's usual share of what it replaces. */
const SUMMARY_SHARE = 0.3;
/** Minimum share of the window that a cut frees: less is not worth a call and a new prefix. */
export const MIN_GAIN = 0.02;
/** Minimum tokens of messages for a summary, which also has a label: one of a few words can't be shorter than its source. */
const MIN_SOURCE = 120;

export interface Pressure {
  readonly tier: 'background' | 'aggressive' | 'emergency' | 'manual';
  /** Corrected tokens of the view without its sections for the newest message. */
  readonly usedTokens: number;
  /** What estimates are multiplied by. */
  readonly correction: number;
  /** Whether the provider reports cached tokens. Default: no. */
  readonly isCached?: boolean;
}

/**
 * What a compaction takes out of the tail: the tier's share, and more where the next one would follow too soon. Null if
 * nothing that may leave is worth a summary.
 */
export function planCompaction(
  { tail, omitted }: ContextSnapshot,
  limits: CutLimits,
  { profile, pressure }: { readonly profile: ContextProfile; readonly pressure: Pressure },
): Cut | null {
  const { tier, correction } = pressure;
  const minTokens = minSourceTokens({ tail, omitted }, profile, { isAsked: tier === 'manual', correction });
  const kept = { ...limits, reservedTokens: reservedTokens(profile, correction), omitted, minTokens };
  if (tier === 'manual') return planCut(tail, { ...kept, fraction: CUT_FRACTIONS.aggressive });
  const { fraction, atLeastTokens } = depthOf(tier, profile, pressure);
  const counted = isLong({ tail, omitted }, profile) ? oldestTokens({ tail, omitted }, CUT_FRACTIONS[tier]) : 0;
  // A summary takes some of the space that its messages leave.
  const deeper = Math.max(atLeastTokens, headroomFor(profile, pressure)) / (1 - SUMMARY_SHARE);
  return planCut(tail, { ...kept, fraction, atLeastTokens: Math.max(counted, deeper) });
}

/**
 * Minimum tokens of messages for a summary: below it, none is shorter than its source and frees enough. One that a person
 * asks for need not free much, nor one because of the number of messages.
 */
export function minSourceTokens(
  snapshot: Tail,
  profile: ContextProfile,
  { isAsked, correction }: { readonly isAsked: boolean; readonly correction: number },
): number {
  if (isAsked || isLong(snapshot, profile)) return MIN_SOURCE;
  return Math.max(MIN_SOURCE, (MIN_GAIN * profile.windowTokens) / correction);
}

/**
 * What leaves the view at once when there is no time for a model: the oldest half, or what the target asks for. One cut
 * frees enough, if any does: half of a tail with one huge message can be everything but that message.
 */
export function planEmergency(
  { tail, omitted }: Pick<ContextSnapshot, 'tail' | 'omitted'>,
  limits: CutLimits,
  { profile, ...pressure }: EmergencyPressure,
): Cut | null {
  const depth = depthOf('emergency', profile, pressure);
  const reserved = reservedTokens(profile, pressure.correction);
  const request = { ...limits, ...depth, reservedTokens: reserved, omitted };
  const overTokens = pressure.usedTokens - profile.thresholds.emergency * profile.windowTokens;
  const minTokens = Math.max(0, overTokens / pressure.correction);
  return planCut(tail, { ...request, minTokens }) ?? planCut(tail, request);
}

export interface EmergencyPressure extends Pick<Pressure, 'usedTokens' | 'correction'> {
  readonly profile: ContextProfile;
}

/** The tier's share of the tail, or what brings the view down to the tier's target. */
function depthOf(
  tier: Exclude<Tier, 'none'>,
  { targets, windowTokens }: ContextProfile,
  { usedTokens, correction }: Pick<Pressure, 'usedTokens' | 'correction'>,
): Required<Pick<CutRequest, 'fraction' | 'atLeastTokens'>> {
  const target = targets[tier];
  if (target === null) return { fraction: CUT_FRACTIONS[tier], atLeastTokens: 0 };
  return { fraction: 0, atLeastTokens: Math.max(0, usedTokens - target * windowTokens) / correction };
}

/** More leaves where the next compaction would follow too soon. */
function headroomFor(
  { windowTokens, thresholds }: ContextProfile,
  pressure: Pick<Pressure, 'usedTokens' | 'correction' | 'isCached'>,
): number {
  const { usedTokens, correction, isCached = false } = pressure;
  const cachedShare = windowTokens < LARGE_WINDOW ? CACHED_HEADROOM : LARGE_CACHED_HEADROOM;
  const share = isCached ? cachedShare : PLANNED_HEADROOM;
  const headroomTokens = Math.max(share * windowTokens, MIN_PLANNED_TOKENS);
  // A view above the emergency threshold is compacted in several steps.
  const overTokens = Math.min(usedTokens, thresholds.emergency * windowTokens) - thresholds.background * windowTokens;
  return Math.max(0, overTokens + headroomTokens) / correction;
}

/** Estimated tokens of the most that one compaction in the background takes out of a view, if the tail has so much. */
export function deepestCutTokens(profile: ContextProfile, correction: number): number {
  return headroomFor(profile, { usedTokens: Number.POSITIVE_INFINITY, correction }) / (1 - SUMMARY_SHARE);
}

type Tail = Pick<ContextSnapshot, 'tail' | 'omitted'>;

/** Whether the tail has as many messages as its agent allows, however short they are. */
export function isLong(snapshot: Tail, { messageThreshold }: Pick<ContextProfile, 'messageThreshold'>): boolean {
  if (messageThreshold === 0) return false;
  const { tail, omitted } = snapshot;
  const messages = tail.reduce((count, entry) => count + (isMessage(entry) ? 1 : 0), omitted.entries);
  return messages >= messageThreshold;
}

/** The tokens of the oldest messages: so many of them, as a share. */
function oldestTokens({ tail, omitted }: Tail, share: number): number {
  const count = Math.ceil((omitted.entries + tail.length) * share) - omitted.entries;
  return tail.slice(0, Math.max(0, count)).reduce((sum, { tokens }) => sum + tokens, omitted.tokens);
}

function isMessage({ role, parts }: Entry): boolean {
  return role === 'user' || (role === 'assistant' && parts.some(({ kind }) => kind === 'text'));
}
