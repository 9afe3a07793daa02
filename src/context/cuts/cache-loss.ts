import type { CacheLoss, CacheLossCause } from '../../ports/journal.ts';
import { MINUTE_MS } from '../../util/time/time.ts';
import { commonParts, countParts, type LayerPrint, type RequestPrint } from '../record/request-print.ts';

/** How long providers keep a prefix after its last use if they do not say. */
export const DEFAULT_CACHE_MS = 5 * MINUTE_MS;
/** Providers do not cache shorter prefixes. */
const MIN_CACHED_TOKENS = 4096;
/** A provider that reads a smaller share of a prefix from its cache has lost it. */
const MIN_READ_SHARE = 0.5;

/** The engine whose views change only for the reasons known here. */
const STACKED_ENGINE = 'stacked';

export interface CacheFacts {
  /** Whether both requests belong to one turn: the later one then repeats all of the earlier one. */
  readonly sameTurn: boolean;
  /** What the provider read from its cache. */
  readonly readTokens: number;
  /** How long the provider keeps a prefix. */
  readonly cacheMs: number;
  /** Estimated tokens of the first parts of the later request. */
  readonly tokensUpto: (parts: number) => number;
}

/**
 * Why a request could not use the whole prefix that the previous one left in the provider's cache. Null if it could.
 * Pure.
 */
export function cacheLossOf(before: RequestPrint, now: RequestPrint, facts: CacheFacts): CacheLoss | null {
  const expectedTokens = facts.sameTurn ? before.totalTokens : before.stableTokens;
  const expectedParts = facts.sameTurn ? countParts(before) : before.stableParts;
  const isMissed =
    before.reports && expectedTokens >= MIN_CACHED_TOKENS && facts.readTokens < expectedTokens * MIN_READ_SHARE;
  const missed = (cause: CacheLossCause) => ({ cause, tokens: rounded(expectedTokens - facts.readTokens) });
  if (isMissed && now.at - before.at > facts.cacheMs) return missed('expired');
  const common = before.model === now.model ? commonParts(before, now) : 0;
  if (common >= expectedParts) return isMissed ? missed('unknown') : null;
  return { cause: causeOf(before, now, common), tokens: rounded(expectedTokens - facts.tokensUpto(common)) };
}

function rounded(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}

/** `common` is the number of parts before the first one that differs. */
function causeOf(before: RequestPrint, now: RequestPrint, common: number): CacheLossCause {
  if (before.model !== now.model) return 'model';
  if (before.engine !== now.engine) return 'engine';
  if (before.hooked || now.hooked) return 'hook';
  if (common === 0) return 'tools';
  const changed = changedSection(before, now);
  const isInSections = common <= Math.max(before.sections.length, now.sections.length);
  if (isInSections && changed !== null) return changed === 'instructions' ? 'instructions' : 'prompt';
  if (before.contextFrom !== now.contextFrom) return 'reset';
  const at = firstOtherLayer(before.layers, now.layers);
  return at === null ? causeInTail(before, now, isInSections) : causeInStack(before.layers, now.layers, at);
}

/** The key of the first section that differs; null if all are the same. */
function changedSection(before: RequestPrint, now: RequestPrint): string | null {
  const last = Math.max(before.sections.length, now.sections.length);
  for (let index = 0; index < last; index += 1) {
    const [was, is] = [before.sections[index], now.sections[index]];
    // A section that came or went shifts those after it.
    if (was?.[0] !== is?.[0]) return [was, is].some((section) => section?.[0] === 'instructions') ? 'instructions' : '';
    if (was?.[1] !== is?.[1]) return is?.[0] ?? '';
  }
  return null;
}

type Layers = readonly LayerPrint[];

/** The index of the first layer that differs. Null if both stacks consist of the same layers. */
export function firstOtherLayer(before: Layers, now: Layers): number | null {
  const isSame = (layer: LayerPrint | undefined, other: LayerPrint | undefined) =>
    layer?.id === other?.id && layer?.kind === other?.kind && layer?.from === other?.from;
  const length = Math.max(before.length, now.length);
  const at = Array.from({ length }).findIndex((_, index) => !isSame(before[index], now[index]));
  return at < 0 ? null : at;
}

/** Why the layer at this index differs. */
export function causeInStack(before: Layers, now: Layers, at: number): CacheLossCause {
  const [was, is] = [before[at], now[at]];
  if (is === undefined) return 'edit';
  // A gap among the earlier layers replaces one whose messages were edited or deleted.
  if (is.kind === 'gap') return is.from > (before.at(-1)?.to ?? 0) ? 'gap' : 'edit';
  if (was !== undefined && is.level > was.level) return 'condensing';
  return was === undefined || was.kind === 'gap' ? 'compaction' : 'edit';
}

/** If sections changed and their texts did not, another part of them fits the window. */
function causeInTail(before: RequestPrint, now: RequestPrint, isInSections: boolean): CacheLossCause {
  if (before.touched !== now.touched) return 'edit';
  if (before.reduced || now.reduced || isInSections) return 'shortened';
  return now.engine === STACKED_ENGINE ? 'unknown' : 'engine';
}
