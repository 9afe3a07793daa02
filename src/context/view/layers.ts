import type { SeqRange, SummaryId } from '../../domain/message.ts';
import type { SystemBlock } from '../../ports/model.ts';
import type { Summary } from '../../ports/summary-store.ts';
import type { PromptSource } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { indentAll } from '../../util/text/foreign-text.ts';
import { estimateBlock } from '../measure/tokens.ts';
import { droppedSummariesText, gapText } from './reduce.ts';

/** One item of the stack as the model sees it. */
export interface Layer {
  readonly item: Summary;
  /** Empty if the line of a neighbour covers it. */
  readonly text: string;
  readonly tokens: number;
  readonly dropped: boolean;
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

/** Groups neighbouring gaps; everything else stays alone. */
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

/** A gap that is not stored: where one would be opened, or in place of a summary that is gone. */
export function unstoredGap(
  { fromSeq, toSeq }: SeqRange,
  facts: Pick<Summary, 'conversationId' | 'text' | 'createdAt'>,
): Summary {
  return {
    ...facts,
    id: `gap-${fromSeq}` as SummaryId,
    kind: 'gap',
    level: 0,
    fromSeq,
    toSeq,
    tokens: 0,
    model: null,
    promptHash: null,
    stale: false,
    supersededBy: null,
    lost: {},
  };
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
