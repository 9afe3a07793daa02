import type { SystemSection } from '../../ports/sections.ts';
import { estimateBlock, estimateText } from '../measure/tokens.ts';
import { type Marker, shorten } from '../measure/truncate.ts';

/** A section with fewer tokens is left out. */
const MIN_TOKENS = 16;
const BLOCK_TOKENS = estimateBlock({ text: '' });

export interface FittedSection {
  readonly section: SystemSection;
  /** Empty if it was left out. */
  readonly text: string;
  readonly tokens: number;
  readonly included: boolean;
  readonly truncated: boolean;
}

const truncated: Marker = (omitted) => `\n[... ${omitted} characters of this section left out ...]\n`;

/**
 * The sections in their order, cut to the budget. The lowest priority is cut first, and of equal ones the last;
 * protected sections are cut only if nothing else is left. Blank sections are left out.
 */
export function fitSections(sections: readonly SystemSection[], budgetTokens: number): readonly FittedSection[] {
  const fitted = sections.filter(saysSomething).map(whole);
  let over = fitted.reduce((sum, { tokens }) => sum + tokens, 0) - budgetTokens;
  for (const index of yieldingOrder(fitted)) {
    const candidate = fitted[index];
    if (over <= 0) break;
    if (candidate === undefined) continue;
    const cut = cutTo(candidate.section, candidate.tokens - over);
    over -= candidate.tokens - cut.tokens;
    fitted[index] = cut;
  }
  return fitted;
}

/** The tokens of the section before any cut. */
export function uncutTokens(section: SystemSection): number {
  return section.originalTokens ?? estimateBlock(section);
}

/** A section whose own maximum left nothing is still listed. */
export function saysSomething({ text, originalTokens }: SystemSection): boolean {
  return text.trim() !== '' || originalTokens !== undefined;
}

function whole(section: SystemSection): FittedSection {
  if (section.text.trim() === '') return { section, text: '', tokens: 0, included: false, truncated: true };
  return { section, text: section.text, tokens: estimateBlock(section), included: true, truncated: false };
}

/** Indices of the sections in the order in which they are cut. */
function yieldingOrder(fitted: readonly FittedSection[]): readonly number[] {
  const rank = ({ section }: FittedSection) => section.priority + (section.protected ? 1000 : 0);
  return fitted
    .map((candidate, index) => ({ index, rank: rank(candidate) }))
    .sort((a, b) => a.rank - b.rank || b.index - a.index)
    .map(({ index }) => index);
}

function cutTo(section: SystemSection, tokens: number): FittedSection {
  const room = tokens - BLOCK_TOKENS;
  if (room < (section.protected ? 1 : MIN_TOKENS)) {
    return { section, text: '', tokens: 0, included: false, truncated: true };
  }
  const text = section.lines === undefined ? shorten(section.text, room, truncated) : withoutLines(section, room);
  return { section, text, tokens: estimateBlock({ text }), included: true, truncated: true };
}

/**
 * Leaves out whole lines, the least important first and of equal ones the last. The most important one stays, shortened
 * if need be.
 */
function withoutLines({ text, lines = [] }: SystemSection, tokens: number): string {
  const order = lines.map((line, index) => ({ ...line, index }));
  order.sort((a, b) => a.importance - b.importance || b.index - a.index);
  let over = estimateText(text) - tokens + estimateText(missingLines(order.length, order.length));
  const gone = new Set<string>();
  for (const line of order.slice(0, -1)) {
    if (over <= 0) break;
    over -= estimateText(`${line.text}\n`);
    gone.add(line.text);
  }
  const left = text.split('\n').filter((line) => !gone.has(line));
  const note = gone.size === 0 ? [] : [missingLines(gone.size, order.length)];
  return shorten([...left, ...note].join('\n'), tokens, truncated);
}

function missingLines(count: number, total: number): string {
  return `[... ${count} of ${total} lines left out to save space ...]`;
}
