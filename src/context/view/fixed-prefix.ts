import type { ContextProfile } from '../../ports/engine.ts';
import type { EventOf } from '../../ports/events.ts';
import type { SystemBlock } from '../../ports/model.ts';
import type { Summary } from '../../ports/summary-store.ts';
import type { PromptSource } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { memoize } from '../../util/async/memoize.ts';
import { estimateBlock, estimateRequest, estimateTools } from '../measure/tokens.ts';
import { type Catalogue, fitCatalogue } from './catalogue.ts';
import { gapOf, type Layer, layersOf, makeLayer, renderSummary } from './layers.ts';
import { type FittedSection, fitSections, uncutTokens } from './sections.ts';

/** The part of the view that depends only on configuration. Every cached prefix starts with it. */
export interface FixedPrefix {
  readonly sections: readonly FittedSection[];
  readonly blocks: readonly SystemBlock[];
  readonly catalogue: Catalogue;
  readonly tokens: number;
  /** Maximum tokens of tools and sections together. */
  readonly budgetTokens: number;
}

export interface FixedRoom {
  /** Factor for estimates. */
  readonly correction: number;
  /** The share of its usual space that the fixed part may take. */
  readonly share: number;
}

export interface FixedPrefixBuilder {
  prefix(profile: ContextProfile, room: FixedRoom): FixedPrefix;
  /** The stack, oldest first. One line replaces the oldest `dropped` items, and one each run of gaps. */
  layers(profile: ContextProfile, stack: readonly Summary[], dropped: number): readonly Layer[];
}

/** System sections get at least this share of the fixed part, however large the tools are. */
const MIN_SECTIONS = 0.4;
/** Corrections are rounded up to a multiple of one in this many, so that a drifting ratio rarely changes the cached prefix. */
const CORRECTION_STEPS = 10;

/** Tools and system sections that exceed their share of the window. */
export type FixedCut = Pick<EventOf<'context.cut'>, 'agent' | 'parts' | 'wholeTokens' | 'leftTokens'>;

export function createFixedPrefixBuilder(
  services: Pick<Services, 'prompts'> & { readonly agents: Pick<Services['agents'], 'agent'> },
  onCut: (cut: FixedCut) => void = () => undefined,
): FixedPrefixBuilder {
  const prefixes = new WeakMap<ContextProfile, Map<number, FixedPrefix>>();
  const sourceOf = (profile: ContextProfile): PromptSource => {
    const agent = services.agents.agent(profile.agentId);
    return { language: agent?.language ?? 'en', folder: agent?.prompts ?? '' };
  };
  const layerOf = memoize((profile: ContextProfile) => {
    const textOf = (item: Summary) =>
      item.kind === 'gap' ? gapOf(item) : renderSummary(services, item, sourceOf(profile));
    return memoize((item: Summary) => makeLayer(item, textOf(item)), new WeakMap());
  }, new WeakMap());
  return {
    prefix(profile, room) {
      const known = prefixes.get(profile) ?? new Map<number, FixedPrefix>();
      prefixes.set(profile, known);
      const budget = fixedBudget(profile, room);
      const built = known.get(budget);
      if (built !== undefined) return built;
      const prefix = buildPrefix(profile, budget);
      known.set(budget, prefix);
      const cut = cutFrom(profile, prefix);
      if (cut !== null) onCut(cut);
      return prefix;
    },
    layers: (profile, stack, dropped) => layersOf(stack, dropped, layerOf(profile)),
  };
}

/** Maximum estimated tokens of tools and system sections together. */
function fixedBudget({ windowTokens, fixedShare }: ContextProfile, { correction, share }: FixedRoom): number {
  const step = Math.ceil(correction * CORRECTION_STEPS - 1e-9) / CORRECTION_STEPS;
  return Math.floor((windowTokens * fixedShare * share) / step);
}

/** Tools become shorter before any section does. */
export function buildPrefix(profile: ContextProfile, budgetTokens: number): FixedPrefix {
  const sectionTokens = profile.sections.reduce((sum, section) => sum + estimateBlock(section), 0);
  const catalogue = fitCatalogue(profile.tools, {
    wantedTokens: budgetTokens - sectionTokens,
    maxTokens: budgetTokens * (1 - MIN_SECTIONS),
  });
  const sections = fitSections(
    profile.sections,
    Math.max(budgetTokens - catalogue.tokens, budgetTokens * MIN_SECTIONS),
  );
  const texts = sections.flatMap(({ text }) => (text === '' ? [] : [text]));
  const blocks = texts.map((text, index) => ({ text, cacheBreak: index === texts.length - 1 }));
  const tokens = estimateRequest({ system: blocks, messages: [], tools: catalogue.tools });
  return { sections, blocks, catalogue, tokens, budgetTokens };
}

/** Reports each cut once per agent, and again only when it changes. */
export function announceCuts({ events }: Pick<Services, 'events'>): (cut: FixedCut) => void {
  const announced = new Map<string, string>();
  return (cut) => {
    if (announced.get(cut.agent) !== cut.parts) events.emit({ kind: 'context.cut', conversation: null, ...cut });
    announced.set(cut.agent, cut.parts);
  };
}

function cutFrom({ agentId, tools }: ContextProfile, { catalogue, sections, tokens }: FixedPrefix): FixedCut | null {
  const cut = sections.filter(({ truncated }) => truncated).map(({ section }) => section.key);
  const parts = [...(catalogue.form === 'whole' ? [] : ['tools']), ...cut];
  if (parts.length === 0) return null;
  const wholeTokens = sections.reduce((sum, { section }) => sum + uncutTokens(section), estimateTools(tools));
  return { agent: agentId, parts: parts.join(', '), wholeTokens, leftTokens: tokens };
}
