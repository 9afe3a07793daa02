import { dropsOldest } from '../config/known.ts';
import type { AgentSettings } from '../config/schema.ts';
import type { SeqRange } from '../domain/message.ts';
import type { ContextPart, ContextProfile, Measurement, Thresholds } from '../ports/engine.ts';
import type { VolatileSection } from '../ports/sections.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import type { Services } from '../services.ts';
import { viewAtRest } from './cuts/rest.ts';
import { slide } from './engines/sliding.ts';
import { addPassages, withoutPassages } from './fit/add-passages.ts';
import { type LeftOut, leaveOut } from './fit/leave-out.ts';
import { lastReported } from './measure/calibration.ts';
import { partsOf } from './view/breakdown.ts';
import { createFixedPrefixBuilder, type FixedPrefixBuilder } from './view/fixed-prefix.ts';
import { type Fitted, restingView, type ViewRequest } from './view/view.ts';

/** What a model would see now, part by part. */
export interface ContextReport {
  readonly agentId: string;
  readonly modelId: string;
  readonly thresholds: Thresholds;
  /** False if the engine keeps no summaries. */
  readonly compacts: boolean;
  readonly measurement: Measurement;
  /** The provider's last count if the view has not shrunk since; null if unknown. */
  readonly lastInputTokens: number | null;
  readonly parts: readonly ContextPart[];
  /** What the newest message is about; null without one. */
  readonly focus: FocusReport | null;
  readonly summary: ContextJson;
}

export interface FocusReport {
  /** Who speaks or is mentioned. */
  readonly people: readonly { readonly id: string; readonly name: string }[];
  /** Words that are quoted or written like a name, in lower case. */
  readonly names: readonly string[];
  readonly intents: readonly string[];
}

/** The output of `strata context --json`. */
export interface ContextJson {
  readonly conversation: string;
  readonly entries: number;
  readonly contextFrom: number;
  readonly compactedUpto: number;
  readonly stack: readonly {
    readonly id: string;
    readonly kind: 'summary' | 'gap';
    readonly level: number;
    readonly fromSeq: number;
    readonly toSeq: number;
    readonly tokens: number;
  }[];
  /** Summaries that are not in the stack yet, because the provider still has the prefix that they would change. */
  readonly ready: readonly {
    readonly id: string;
    readonly level: number;
    readonly fromSeq: number;
    readonly toSeq: number;
  }[];
  readonly tail: SeqRange & { readonly tokens: number };
  readonly used: number;
  readonly window: number;
  readonly tier: Measurement['tier'];
  readonly estimated: boolean;
}

/** Describes what the model would see now. Changes nothing. */
export function inspectContext(
  services: Pick<Services, 'prompts' | 'agents'>,
  {
    profile,
    snapshot,
    volatile = [],
    focus = null,
    leftOut = null,
  }: {
    readonly profile: ContextProfile;
    readonly snapshot: ContextSnapshot;
    /** Sections for the newest message; empty if nobody is asking. */
    readonly volatile?: readonly VolatileSection[];
    readonly focus?: FocusReport | null;
    /** What the provider's filter refuses. Default: nothing. */
    readonly leftOut?: LeftOut | null;
  },
): ContextReport {
  const { conversation } = snapshot;
  const request = { ...restingView(profile, snapshot), volatile };
  const agent = services.agents.agent(profile.agentId);
  const prefixes = createFixedPrefixBuilder(services);
  const whole = look(prefixes, request, agent);
  const fitted = leftOut === null ? whole : leaveOut(prefixes, whole, leftOut);
  const { calibration, revision } = conversation;
  return {
    agentId: profile.agentId,
    modelId: profile.modelId,
    thresholds: profile.thresholds,
    compacts: !dropsOldest(agent),
    measurement: fitted.measurement,
    lastInputTokens: lastReported(calibration, { model: profile.modelId, revision }),
    parts: fitted === whole ? partsOf(whole) : markLeftOut(partsOf(fitted), partsOf(whole)),
    focus,
    summary: summarise(snapshot, fitted, agent),
  };
}

const LEFT_OUT = "the provider's content filter refuses the rest";

/** Marks the parts that are smaller than in the whole view, with what they would have cost. */
function markLeftOut(parts: readonly ContextPart[], whole: readonly ContextPart[]): readonly ContextPart[] {
  const before = new Map(whole.map((part) => [part.key, part]));
  return parts.map((part) => {
    const full = before.get(part.key) ?? part;
    if (part.text === full.text && part.included === full.included) return part;
    const reason = `${full.reason}; ${part.included ? LEFT_OUT : "the provider's content filter refuses it"}`;
    return { ...part, reason, truncated: true, originalTokens: full.originalTokens };
  });
}

/** What the engine would send, with the room that its gate would make. */
function look(prefixes: FixedPrefixBuilder, request: ViewRequest, agent: AgentSettings | null): Fitted {
  if (dropsOldest(agent)) return slide(prefixes, request, request.profile.windowTokens);
  return addPassages(prefixes, viewAtRest(prefixes, withoutPassages(request)), request);
}

function summarise(
  { conversation, omitted }: ContextSnapshot,
  { request, view, measurement, correction }: Fitted,
  agent: AgentSettings | null,
): ContextJson {
  const first = request.snapshot.tail[0];
  const unread = dropsOldest(agent) ? 0 : omitted.entries;
  return {
    conversation: conversation.key,
    entries: conversation.nextSeq - 1,
    contextFrom: conversation.contextFrom,
    compactedUpto: conversation.compactedUpto,
    stack: view.layers.map(({ item, tokens }) => ({
      id: item.id,
      kind: item.kind,
      level: item.level,
      fromSeq: item.fromSeq,
      toSeq: item.toSeq,
      tokens: Math.ceil(tokens * correction),
    })),
    ready: (request.snapshot.ready ?? []).map(({ id, level, fromSeq, toSeq }) => ({ id, level, fromSeq, toSeq })),
    tail: {
      fromSeq: first === undefined ? conversation.nextSeq : first.seq - unread,
      toSeq: conversation.nextSeq - 1,
      tokens: measurement.tail,
    },
    used: measurement.used,
    window: measurement.window,
    tier: measurement.tier,
    estimated: measurement.estimated,
  };
}
