import { MIN_GAIN } from '../context/due.ts';
import { type Condensation, planCondense, planCut } from '../context/plan.ts';
import { CUT_FRACTIONS } from '../context/tiers.ts';
import type { ContextProfile, MaintainRequest, Measurement } from '../ports/engine.ts';
import type { MaintenanceRun } from '../ports/journal.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';

/** One job that is due now. */
export type Work = { readonly trigger: MaintenanceRun['trigger']; readonly fromSeq: number; readonly toSeq: number } & (
  | { readonly kind: 'compact' }
  /** Writes the summary of a gap or an edited range. */
  | { readonly kind: 'fill' | 'rewrite'; readonly layer: Summary }
  | { readonly kind: 'condense'; readonly condensation: Condensation }
  | { readonly kind: 'extract' }
);

export interface Look {
  readonly snapshot: ContextSnapshot;
  readonly profile: ContextProfile;
  readonly measurement: Measurement;
  /** Factor for estimates. */
  readonly correction: number;
  /** `manual` only until the requested work is done. */
  readonly trigger: MaintainRequest['trigger'];
  /** A partly finished compaction, which is completed as planned. */
  readonly open: Pick<Work, 'toSeq' | 'trigger'> | null;
  readonly idleMs: number;
  readonly now: number;
}

/** Share of the tail that `/compact` summarises. */
const MANUAL_FRACTION = CUT_FRACTIONS.aggressive;
/** Minimum tokens of messages for a summary. */
const MIN_SOURCE = 120;

/** A stack that exceeds its share by this factor is condensed before anything is added to it. */
const SWOLLEN = 2;

/**
 * The most urgent due work: gaps in the stack, oldest first (while the stack stays bounded), then the tail, then a
 * stack that is too large, then the memories of an idle tail. At shutdown only the memories. Pure.
 */
export function nextWork(look: Look): Work | null {
  const holes = leftBehind(look) ?? openLayer(look);
  if (look.trigger === 'shutdown') return holes ?? extraction(look);
  const { stackShare } = look.profile;
  const swollen = holes === null ? null : condensing(look, SWOLLEN * stackShare);
  return swollen ?? holes ?? compaction(look) ?? condensing(look, restingShare(look)) ?? extraction(look);
}

/** A reset hid messages that were not yet read for memories: they come first, so that the watermark skips none. */
function leftBehind({ snapshot }: Look): Work | null {
  const { extractedUpto, contextFrom } = snapshot.conversation;
  const [fromSeq, toSeq] = [extractedUpto + 1, contextFrom - 1];
  return fromSeq <= toSeq ? { kind: 'extract', trigger: 'idle', fromSeq, toSeq } : null;
}

function openLayer({ snapshot }: Look): Work | null {
  const layer = snapshot.stack.find((item) => item.kind === 'gap' || item.stale);
  if (layer === undefined) return null;
  const { fromSeq, toSeq } = layer;
  return layer.kind === 'gap'
    ? { kind: 'fill', trigger: 'gap', layer, fromSeq, toSeq }
    : { kind: 'rewrite', trigger: 'stale', layer, fromSeq, toSeq };
}

function compaction(look: Look): Work | null {
  const { snapshot, measurement, open, trigger } = look;
  const fromSeq = snapshot.conversation.compactedUpto + 1;
  if (open !== null && isWorthIt(look, tokensUpto(snapshot, open.toSeq))) return { kind: 'compact', ...open, fromSeq };
  const due = trigger === 'manual' ? 'manual' : measurement.tier;
  if (due === 'none') return null;
  const fraction = due === 'manual' ? MANUAL_FRACTION : CUT_FRACTIONS[due];
  const cut = planCut(snapshot.tail, { ...snapshot.conversation, fraction, omitted: snapshot.omitted });
  if (cut === null || !isWorthIt(look, cut.tokens)) return null;
  return { kind: 'compact', trigger: due, fromSeq, toSeq: cut.toSeq };
}

/**
 * A summary also has a label, so a summary of a few words can't be shorter than its source. A person's request need not
 * save tokens otherwise.
 */
function isWorthIt({ trigger, correction, profile }: Look, tokens: number): boolean {
  const gain = trigger === 'manual' ? 0 : MIN_GAIN * profile.windowTokens;
  return tokens >= MIN_SOURCE && tokens * correction >= gain;
}

function tokensUpto({ tail, omitted }: ContextSnapshot, toSeq: number): number {
  return tail.reduce((sum, entry) => sum + (entry.seq <= toSeq ? entry.tokens : 0), omitted.tokens);
}

/** Its configured share; or zero if the window is full and the tail can't shrink further. */
function restingShare({ profile, measurement }: Look): number {
  return measurement.tier === 'none' ? profile.stackShare : 0;
}

function condensing({ snapshot, profile, correction }: Look, share: number): Work | null {
  const budget = { share, windowTokens: profile.windowTokens, correction };
  const condensation = planCondense(snapshot.stack, budget);
  if (condensation === null) return null;
  const { fromSeq, toSeq } = condensation;
  return { kind: 'condense', trigger: 'stack', condensation, fromSeq, toSeq };
}

function extraction(look: Look): Work | null {
  const { snapshot, trigger, now } = look;
  const range = unextracted(snapshot);
  if (range === null) return null;
  if (trigger === 'shutdown') return { kind: 'extract', trigger: 'shutdown', ...range };
  const dueAt = snapshot.conversation.lastActivityAt + look.idleMs;
  return now >= dueAt ? { kind: 'extract', trigger: 'idle', ...range } : null;
}

function unextracted({ conversation }: ContextSnapshot): { fromSeq: number; toSeq: number } | null {
  const [fromSeq, toSeq] = [conversation.extractedUpto + 1, conversation.nextSeq - 1];
  return fromSeq <= toSeq ? { fromSeq, toSeq } : null;
}

/** When to check again without further events: when the tail will have been idle for long enough. */
export function nextLookAt({ snapshot, idleMs }: Pick<Look, 'snapshot' | 'idleMs'>): number | null {
  return unextracted(snapshot) === null ? null : snapshot.conversation.lastActivityAt + idleMs;
}
