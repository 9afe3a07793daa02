import { deepestCutTokens, HEADROOM, isLong, minSourceTokens, planCompaction } from '../../context/cuts/depth.ts';
import { stackShareAt } from '../../context/cuts/due.ts';
import { type Condensation, planCondense } from '../../context/cuts/plan.ts';
import { tierOf } from '../../context/measure/tiers.ts';
import { depthOf } from '../../domain/key.ts';
import type { Entry, SeqRange } from '../../domain/message.ts';
import type { ContextProfile, MaintainRequest, Measurement, Tier } from '../../ports/engine.ts';
import type { MaintenanceTrigger } from '../../ports/journal.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { canRewrite } from './commit.ts';
import type { RewriteRequest } from './rewrite-request.ts';

/** What is due now. */
export type Work = { readonly trigger: MaintenanceTrigger } & SeqRange &
  (
    | { readonly kind: 'compact' }
    /** Writes one summary of neighbouring gaps, or of as many of them as a compaction would take. */
    | { readonly kind: 'fill'; readonly gaps: readonly Summary[] }
    /** Writes the summary of an edited range. */
    | { readonly kind: 'rewrite'; readonly layer: Summary }
    | { readonly kind: 'condense'; readonly condensation: Condensation }
    | { readonly kind: 'extract' }
  );

/** What a round sees of the conversation. */
export interface Look {
  readonly snapshot: ContextSnapshot;
  readonly profile: ContextProfile;
  readonly measurement: Measurement;
  /** Factor for estimates. */
  readonly correction: number;
  /** Tokens of the view for people to read, at most the window. */
  readonly shownTokens: number;
  /** `manual` only until the requested work is done. */
  readonly trigger: MaintainRequest['trigger'];
  /** A partly finished compaction, which is completed as planned. */
  readonly open: Pick<Work, 'toSeq' | 'trigger'> | null;
  /** This maintenance has changed the view already: it goes on until the view is clearly below the background threshold. */
  readonly settling: boolean;
  readonly idleMs: number;
  readonly now: number;
  /** The summary that somebody wants rewritten; null if there is none. */
  readonly asked: Pick<RewriteRequest, 'summaryId'> | null;
  /** Whether the provider reports cached tokens. */
  readonly isCached: boolean;
  /** Whether a summary may wait for a cheap moment to be published. */
  readonly canWait: boolean;
}

/** The work that a round found due, and the look that shows it. */
export interface Due {
  readonly look: Look;
  readonly work: Work;
}

/** A stack that exceeds its share by this factor is condensed before anything is added to it. */
const SWOLLEN = 2;

/**
 * The most urgent due work: what somebody asked for, then gaps in the stack, oldest first (while the stack stays
 * bounded), then the tail, then a stack that is too large, then the memories of an idle tail. At shutdown only the
 * memories. Pure.
 */
export function nextWork(look: Look): Work | null {
  const holes = leftBehind(look) ?? openLayer(look);
  if (look.trigger === 'shutdown') return holes ?? extraction(look);
  const asked = requestedRewrite(look);
  if (asked !== null) return asked;
  const { profile, snapshot, measurement, correction } = look;
  const swollen = holes === null ? null : condensing(look, SWOLLEN * profile.stackShare);
  const share = stackShareAt(profile, snapshot, { usedTokens: usedIn(measurement), correction });
  return swollen ?? holes ?? compaction(look) ?? condensing(look, share) ?? extraction(look);
}

/** A reset hid messages that were not yet read for memories: they come first, so that the watermark skips none. */
function leftBehind({ snapshot }: Look): Work | null {
  const { extractedUpto, contextFrom } = snapshot.conversation;
  const [fromSeq, toSeq] = [extractedUpto + 1, contextFrom - 1];
  return fromSeq <= toSeq ? { kind: 'extract', trigger: 'idle', fromSeq, toSeq } : null;
}

/** The rewrite that somebody requested, if the summary is still in the stack. */
export function requestedRewrite({ asked, snapshot }: Pick<Look, 'asked' | 'snapshot'>): Work | null {
  const layer = snapshot.stack.find(({ id }) => id === asked?.summaryId);
  if (layer === undefined || !canRewrite(layer)) return null;
  return { kind: 'rewrite', trigger: 'manual', layer, fromSeq: layer.fromSeq, toSeq: layer.toSeq };
}

/** Whether a person requested it, rather than an edit of a message. */
export function isRequestedRewrite({ kind, trigger }: Pick<Work, 'kind' | 'trigger'>): boolean {
  return kind === 'rewrite' && trigger === 'manual';
}

function openLayer({ snapshot }: Look): Work | null {
  const at = snapshot.stack.findIndex((item) => item.kind === 'gap' || item.stale);
  const layer = snapshot.stack[at];
  if (layer === undefined) return null;
  const { fromSeq, toSeq } = layer;
  if (layer.kind !== 'gap') return { kind: 'rewrite', trigger: 'stale', layer, fromSeq, toSeq };
  const next = snapshot.stack.findIndex(({ kind }, index) => index > at && kind !== 'gap');
  const gaps = snapshot.stack.slice(at, next < 0 ? undefined : next);
  return { kind: 'fill', trigger: 'gap', gaps, fromSeq, toSeq: gaps.at(-1)?.toSeq ?? toSeq };
}

/**
 * Where the summary of neighbouring gaps ends: after as many of them as a compaction would take, at least the first. More
 * would leave little of each message, one summary for each would cost a call and a label.
 */
export function fillUpto(
  gaps: readonly Summary[],
  entries: readonly Entry[],
  { profile, correction }: Pick<Look, 'profile' | 'correction'>,
): number {
  const maxTokens = deepestCutTokens(profile, correction);
  let [end, at, tokens] = [gaps[0]?.toSeq ?? 0, 0, 0];
  for (const { toSeq } of gaps) {
    for (let entry = entries[at]; entry !== undefined && entry.seq <= toSeq; entry = entries[at]) {
      tokens += entry.tokens;
      at += 1;
    }
    if (tokens > maxTokens) break;
    end = toSeq;
  }
  return end;
}

function compaction(look: Look): Work | null {
  const { snapshot, profile, correction, open, trigger } = look;
  const fromSeq = snapshot.conversation.compactedUpto + 1;
  if (open !== null && isEnough(look, open.toSeq)) return { kind: 'compact', ...open, fromSeq };
  const tier = tierIn(look);
  const counted = tier === 'none' && isLong(snapshot, profile) ? 'background' : tier;
  const due = trigger === 'manual' ? 'manual' : counted;
  if (due === 'none') return null;
  const usedTokens = usedIn(look.measurement);
  const cut = planCompaction(snapshot, snapshot.conversation, {
    profile,
    pressure: { tier: due, usedTokens, correction, isCached: look.isCached },
  });
  return cut === null ? null : { kind: 'compact', trigger: due, fromSeq, toSeq: cut.toSeq };
}

/** Whether what is left up to `toSeq` is worth a summary of its own. */
function isEnough({ trigger, correction, profile, snapshot }: Look, toSeq: number): boolean {
  const { tail, omitted } = snapshot;
  const tokens = tail.reduce((sum, entry) => sum + (entry.seq <= toSeq ? entry.tokens : 0), omitted.tokens);
  return tokens >= minSourceTokens(snapshot, profile, { isAsked: trigger === 'manual', correction });
}

/** The tier of the view; for a maintenance that has changed it, with the room that new talk needs on top. */
function tierIn({ measurement, profile, settling }: Look): Tier {
  if (!settling) return measurement.tier;
  return tierOf(usedIn(measurement) / measurement.window + HEADROOM, profile.thresholds);
}

/** Without the sections for the newest message, which the next turn does not have. */
function usedIn({ used, volatile }: Look['measurement']): number {
  return used - volatile;
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

/** A child has no memories of its own. */
function unextracted({ conversation }: ContextSnapshot): SeqRange | null {
  if (depthOf(conversation.key) > 0) return null;
  const [fromSeq, toSeq] = [conversation.extractedUpto + 1, conversation.nextSeq - 1];
  return fromSeq <= toSeq ? { fromSeq, toSeq } : null;
}

/** When to check again without further events: when the tail will have been idle for long enough. */
export function nextLookAt({ snapshot, idleMs }: Pick<Look, 'snapshot' | 'idleMs'>): number | null {
  return unextracted(snapshot) === null ? null : snapshot.conversation.lastActivityAt + idleMs;
}
