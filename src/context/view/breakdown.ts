import type { ContextBudget, ContextPart, ContextProfile, Measurement } from '../../ports/engine.ts';
import type { ModelMessage } from '../../ports/model.ts';
import { estimateText, estimateTools } from '../measure/tokens.ts';
import type { CatalogueForm } from './catalogue.ts';
import type { FixedPrefix } from './fixed-prefix.ts';
import type { Layer } from './layers.ts';
import { type FittedSection, uncutTokens } from './sections.ts';
import type { Fitted } from './view.ts';

/** Every part of a view, in order: what it is, where it comes from, why it is there and what it costs. */
export function partsOf({ view, request, measurement, correction }: Fitted): readonly ContextPart[] {
  const corrected = (tokens: number) => Math.ceil(tokens * correction);
  const budgets = budgetsOf(request.profile, measurement);
  const included = new Set(view.volatileKeys);
  const volatile = request.volatile.map((section): ContextPart => {
    const tokens = corrected(estimateText(section.text));
    const { source, reason, key, text } = section;
    const budget = RECALLED.has(key) ? budgets.recall : null;
    const isIncluded = included.has(key);
    return { ...whole(key, text, tokens), source, reason, included: isIncluded, truncated: !isIncluded, budget };
  });
  const { fixed, stack, tail, reserve } = budgets;
  return [
    ...(view.tools.length === 0 ? [] : [{ ...toolsPart(request.profile, view.prefix, corrected), budget: fixed }]),
    ...view.prefix.sections.map((section) => ({ ...sectionPart(section, corrected), budget: fixed })),
    ...view.layers.map((layer) => ({ ...layerPart(layer, corrected), budget: stack })),
    {
      ...whole('tail', transcriptOf(view.messages), measurement.tail),
      source: 'transcript',
      reason: 'messages since the last summary',
      budget: tail,
    },
    ...volatile,
    {
      ...whole('reserve', '', measurement.reserve),
      source: 'configuration',
      reason: 'reserved for the answer',
      budget: reserve,
    },
  ];
}

/** Sections next to a new message that share one budget. */
const RECALLED: ReadonlySet<string> = new Set(['memories', 'passages']);

function budgetsOf(
  { windowTokens, fixedShare, stackShare, recallTokens, reserveTokens, thresholds }: ContextProfile,
  { used, tail }: Measurement,
): { readonly [Of in ContextBudget['of']]: ContextBudget & { readonly of: Of } } {
  const room = windowTokens * thresholds.emergency - (used - tail);
  return {
    fixed: { of: 'fixed', tokens: Math.floor(windowTokens * fixedShare) },
    stack: { of: 'stack', tokens: Math.floor(windowTokens * stackShare) },
    recall: { of: 'recall', tokens: recallTokens },
    // Messages leave at the emergency threshold.
    tail: { of: 'tail', tokens: Math.max(0, Math.floor(room)) },
    reserve: { of: 'reserve', tokens: reserveTokens },
  };
}

type Unbudgeted = Omit<ContextPart, 'budget'>;

function toolsPart(
  { tools }: ContextProfile,
  { catalogue }: FixedPrefix,
  corrected: (tokens: number) => number,
): Unbudgeted {
  const text = catalogue.tools.map((tool) => `${tool.name}: ${tool.description}`).join('\n');
  return {
    ...whole('tools', text, corrected(catalogue.tokens)),
    source: 'configuration',
    reason: CATALOGUE_REASONS[catalogue.form],
    truncated: catalogue.form !== 'whole',
    originalTokens: corrected(estimateTools(tools)),
  };
}

const CATALOGUE_REASONS: Readonly<Record<CatalogueForm, string>> = {
  whole: 'tools that the agent can call',
  short: 'tools that the agent can call, with short schemas to save space',
  names: 'tools that the agent can call, by name to save space; tool_help describes each',
  help: 'tools that the agent can call after tool_help has opened them, to save space',
};

const UNRANKED = { priority: null, protected: false } as const;

function whole(key: string, text: string, tokens: number): Omit<ContextPart, 'source' | 'reason' | 'budget'> {
  return { key, text, tokens, included: true, truncated: false, originalTokens: tokens, ...UNRANKED };
}

function sectionPart(fitted: FittedSection, corrected: (tokens: number) => number): Unbudgeted {
  const { section, text, tokens, included, truncated } = fitted;
  const { key, source, reason, priority } = section;
  const originalTokens = corrected(uncutTokens(section));
  const isCut = truncated || section.originalTokens !== undefined;
  const part = { key, source, reason, text, included, truncated: isCut, priority, protected: section.protected };
  return { ...part, tokens: corrected(tokens), originalTokens };
}

function layerPart({ item, text, tokens, dropped }: Layer, corrected: (tokens: number) => number): Unbudgeted {
  const { fromSeq, toSeq, level } = item;
  const reason =
    item.kind === 'gap'
      ? `replaces messages #${fromSeq} to #${toSeq} until they are summarised`
      : `covers messages #${fromSeq} to #${toSeq}, level ${level}`;
  const key = `${item.kind}:${item.id}`;
  const cost = corrected(tokens);
  const part = { key, source: 'stack', reason, text, included: !dropped, truncated: dropped, ...UNRANKED };
  return { ...part, tokens: cost, originalTokens: cost };
}

/** The messages as readable text. */
function transcriptOf(messages: readonly ModelMessage[]): string {
  return messages.map(messageText).join('\n');
}

export function messageText(message: ModelMessage): string {
  switch (message.role) {
    case 'user':
      return message.content.map((part) => (part.kind === 'text' ? part.text : `(image ${part.mediaType})`)).join('\n');
    case 'assistant':
      return [message.text, ...message.calls.map((call) => `(called ${call.tool} ${JSON.stringify(call.input)})`)]
        .filter((text) => text !== '')
        .map((text) => `assistant: ${text}`)
        .join('\n');
    case 'tool':
      return message.results.map((result) => `(${result.tool} gave: ${result.text})`).join('\n');
    default:
      return message satisfies never;
  }
}
