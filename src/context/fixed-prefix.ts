import type { ContextProfile } from '../ports/engine.ts';
import type { EventOf } from '../ports/events.ts';
import type { SystemBlock } from '../ports/model.ts';
import type { SystemSection } from '../ports/sections.ts';
import type { Summary } from '../ports/summary-store.ts';
import type { PromptSource } from '../prompts/variables.ts';
import type { Services } from '../services.ts';
import { indentAll } from '../util/foreign-text.ts';
import { type Catalogue, fitCatalogue } from './catalogue.ts';
import { droppedSummariesText, gapText } from './reduce.ts';
import { type FittedSection, fitSections } from './sections.ts';
import { estimateBlock, estimateRequest, estimateTools } from './tokens.ts';

/** The part of the view that depends only on configuration. Every cached prefix starts with it. */
export interface FixedPrefix {
  readonly sections: readonly FittedSection[];
  readonly blocks: readonly SystemBlock[];
  readonly catalogue: Catalogue;
  readonly tokens: number;
  /** Maximum tokens of tools and sections together. */
  readonly budgetTokens: number;
}

/** One item of the stack as the model sees it. */
export interface Layer {
  readonly item: Summary;
  /** Empty if the line of a neighbour covers it. */
  readonly text: string;
  readonly tokens: number;
  readonly dropped: boolean;
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
  const rendered = new WeakMap<ContextProfile, WeakMap<Summary, Layer>>();
  const sourceOf = (profile: ContextProfile): PromptSource => {
    const agent = services.agents.agent(profile.agentId);
    return { language: agent?.language ?? 'en', folder: agent?.prompts ?? '' };
  };
  const layerOf = (profile: ContextProfile, item: Summary): Layer => {
    const layers = rendered.get(profile) ?? new WeakMap<Summary, Layer>();
    rendered.set(profile, layers);
    const known = layers.get(item);
    if (known !== undefined) return known;
    const layer = makeLayer(item, item.kind === 'gap' ? gapOf(item) : renderSummary(services, item, sourceOf(profile)));
    layers.set(item, layer);
    return layer;
  };
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
    layers: (profile, stack, dropped) => layersOf(stack, dropped, (item) => layerOf(profile, item)),
  };
}

/** The stack, oldest first. One line replaces the oldest `dropped` items, and one each run of gaps. */
export function layersOf(
  stack: readonly Summary[],
  dropped: number,
  layerOf: (item: Summary) => Layer,
): readonly Layer[] {
  const runs = gapRuns(stack.slice(dropped));
  return [...dropLayers(stack.slice(0, dropped)), ...runs.flatMap((run) => joinGaps(run, layerOf))];
}

/** Neighbouring gaps together, everything else alone. */
function gapRuns(stack: readonly Summary[]): readonly (readonly [Summary, ...Summary[]])[] {
  const runs: [Summary, ...Summary[]][] = [];
  for (const item of stack) {
    const run = runs.at(-1);
    if (run !== undefined && isGap(run[0]) && isGap(item)) run.push(item);
    else runs.push([item]);
  }
  return runs;
}

/** A rebuilt request has the marker of a deleted summary in its place, with a text of its own. */
function isGap({ kind, text }: Summary): boolean {
  return kind === 'gap' && text === '';
}

const joinedGaps = new WeakMap<Summary, Layer>();

/** While no summary is written, each emergency adds a gap: a line for each would fill a small window. */
function joinGaps(run: readonly [Summary, ...Summary[]], layerOf: (item: Summary) => Layer): readonly Layer[] {
  const [first, ...others] = run;
  if (others.length === 0) return [layerOf(first)];
  const text = gapText(run.reduce((count, { fromSeq, toSeq }) => count + toSeq - fromSeq + 1, 0));
  const known = joinedGaps.get(first);
  const line = known?.text === text ? known : makeLayer(first, text);
  joinedGaps.set(first, line);
  return [line, ...others.map((item) => ({ item, text: '', tokens: 0, dropped: false }))];
}

/** The stack as the provider gets it. */
export function stackBlocks(layers: readonly Layer[]): readonly SystemBlock[] {
  const shown = layers.filter(({ text }) => text !== '');
  return shown.map((layer, index) => blockOf(layer, index === shown.length - 1));
}

const blocks = { inner: new WeakMap<Layer, SystemBlock>(), last: new WeakMap<Layer, SystemBlock>() };

/** One object for each layer, so that it is hashed once. */
function blockOf(layer: Layer, cacheBreak: boolean): SystemBlock {
  const known = blocks[cacheBreak ? 'last' : 'inner'];
  const block = known.get(layer) ?? { text: layer.text, cacheBreak };
  known.set(layer, block);
  return block;
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
  const wholeTokens = sections.reduce((sum, { section }) => sum + sizeOf(section), estimateTools(tools));
  return { agent: agentId, parts: parts.join(', '), wholeTokens, leftTokens: tokens };
}

function sizeOf(section: SystemSection): number {
  return section.originalTokens ?? estimateBlock(section);
}

/**
 * A summary as it appears in the view. Its text is indented, so no line of it can imitate a heading or an instruction
 * of Strata.
 */
export function renderSummary(
  services: Pick<Services, 'prompts'>,
  item: Pick<Summary, 'id' | 'fromSeq' | 'toSeq' | 'level' | 'text'>,
  from: PromptSource,
): string {
  return services.prompts.render('summary', summaryVariables(item), from).text;
}

export function summaryVariables({
  id,
  fromSeq,
  toSeq,
  level,
  text,
}: Pick<Summary, 'id' | 'fromSeq' | 'toSeq' | 'level' | 'text'>) {
  return { id, fromSeq, toSeq, level, text: indentAll(text) };
}

export function gapOf(item: Summary): string {
  return gapText(item.toSeq - item.fromSeq + 1);
}

/** One line for all of them, in the position of the first. */
function dropLayers(items: readonly Summary[]): readonly Layer[] {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return [];
  const line = makeLayer(first, droppedSummariesText(first.fromSeq, last.toSeq));
  return [{ ...line, dropped: true }, ...items.slice(1).map((item) => ({ item, text: '', tokens: 0, dropped: true }))];
}

export function makeLayer(item: Summary, text: string): Layer {
  return { item, text, tokens: estimateBlock({ text }), dropped: false };
}
